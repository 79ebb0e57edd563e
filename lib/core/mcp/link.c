/* Files of a run as links. */
#include <ctype.h>
#include <string.h>

#include "core/mcp/answer.h"

#define URI_MAX 16384

/* The bytes of a path that a URI may have as they are. */
static void add_path(struct kz_buf *uri, const char *p)
{
	for (; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < 128 && (isalnum(c) || strchr("-._~/", c)))
			(void)kz_buf_add(uri, p, 1, NULL);
		else
			(void)kz_buf_printf(uri, NULL, "%%%02X", c);
	}
}

void kz_mcp_answer_links(struct kz_json *result, const struct kz_json *outputs, const char *dir)
{
	struct kz_json *content = kz_json_get(result, "content");

	for (size_t i = 0; i < kz_json_count(outputs); i++) {
		const struct kz_json *o = kz_json_at(outputs, i);
		const char *name = kz_json_str(o, "name", "");
		kz_auto_buf struct kz_buf uri = KZ_BUF_INIT(URI_MAX);
		struct kz_json *l = kz_json_object();

		(void)kz_buf_puts(&uri, "file://", NULL);
		add_path(&uri, dir);
		add_path(&uri, "/");
		add_path(&uri, name);
		kz_json_set_str(l, "type", "resource_link");
		kz_json_set_str(l, "uri", kz_buf_str(&uri));
		kz_json_set_str(l, "name", name);
		if (kz_json_str(o, "media_type", NULL))
			kz_json_set_str(l, "mimeType", kz_json_str(o, "media_type", NULL));
		kz_json_set_int(l, "size", kz_json_num(o, "bytes", 0));
		kz_json_append(content, l);
	}
}
