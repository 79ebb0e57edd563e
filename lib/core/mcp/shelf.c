/* Files that were handed out. */
#include "core/mcp/shelf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/fd.h"
#include "base/str.h"
#include "rule/reason.h"

static void drop_oldest(struct kz_mcp_shelf *s)
{
	struct kz_mcp_file *f = &s->files[0];

	close(f->fd);
	free(f->uri);
	free(f->name);
	s->bytes -= f->bytes;
	s->count--;
	memmove(s->files, s->files + 1, s->count * sizeof(*s->files));
}

const struct kz_mcp_file *kz_mcp_shelf_add(struct kz_mcp_shelf *s, const char *uri,
					   const char *name, const char *type, int fd,
					   int64_t bytes)
{
	struct kz_mcp_file f = {
		.uri = kz_str_dup(uri), .name = kz_str_dup(name), .bytes = bytes, .fd = fd
	};

	if (!f.uri || !f.name) {
		free(f.uri);
		free(f.name);
		close(fd);
		return NULL;
	}
	(void)kz_str_copy(f.type, sizeof(f.type), type ? type : "", NULL);
	while (s->count &&
	       (s->count == KZ_MCP_SHELF_FILES || s->bytes + bytes > KZ_MCP_SHELF_BYTES))
		drop_oldest(s);
	s->bytes += bytes;
	s->files[s->count] = f;
	return &s->files[s->count++];
}

struct kz_json *kz_mcp_file_words(const struct kz_mcp_file *f)
{
	struct kz_json *o = kz_json_object();

	kz_json_set_str(o, "uri", f->uri);
	kz_json_set_str(o, "name", f->name);
	if (f->type[0])
		kz_json_set_str(o, "mimeType", f->type);
	kz_json_set_int(o, "size", f->bytes);
	return o;
}

struct kz_json *kz_mcp_shelf_list(const struct kz_mcp_shelf *s)
{
	struct kz_json *list = kz_json_array();

	for (size_t i = 0; i < s->count; i++)
		kz_json_append(list, kz_mcp_file_words(&s->files[i]));
	return list;
}

const struct kz_mcp_file *kz_mcp_shelf_find(const struct kz_mcp_shelf *s, const char *uri)
{
	for (size_t i = 0; i < s->count; i++)
		if (kz_str_eq(s->files[i].uri, uri))
			return &s->files[i];
	return NULL;
}

/* The whole file. out: b, of at most KZ_MCP_READ_MAX */
static enum kz_rc read_all(const struct kz_mcp_file *f, struct kz_buf *b, struct kz_err *err)
{
	char part[65536];
	ssize_t n;

	if (f->bytes > KZ_MCP_READ_MAX)
		return kz_refuse(err, KZ_R_OUTPUT_TOO_LARGE,
				 "%.200s has %lld bytes, and an answer at most %d", f->name,
				 (long long)f->bytes, KZ_MCP_READ_MAX);
	while ((n = pread(f->fd, part, sizeof(part), (off_t)b->len)) > 0)
		if (kz_buf_add(b, part, (size_t)n, err))
			return kz_err_reason(err, kz_reason_code(KZ_R_OUTPUT_TOO_LARGE));
	if (n < 0)
		return kz_refuse(err, KZ_R_IO_FAILED, "cannot read %.200s: %s", f->name,
				 strerror(errno));
	return KZ_OK;
}

static char *encode(const struct kz_buf *b, struct kz_err *err)
{
	char *text = malloc(KZ_BASE64_TEXT(b->len) + 1);

	if (text)
		kz_base64_encode(kz_buf_str(b), b->len, text);
	else
		(void)kz_refuse(err, KZ_R_SYSTEM_FAILED, "memory is out");
	return text;
}

char *kz_mcp_file_base64(const struct kz_mcp_file *f, struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(KZ_MCP_READ_MAX);

	return read_all(f, &b, err) ? NULL : encode(&b, err);
}

enum kz_rc kz_mcp_file_contents(const struct kz_mcp_file *f, struct kz_json **out,
				struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(KZ_MCP_READ_MAX);
	kz_auto_free char *blob = NULL;
	bool is_text;
	enum kz_rc rc = read_all(f, &b, err);

	if (rc)
		return rc;
	is_text = !memchr(kz_buf_str(&b), 0, b.len) && kz_utf8_valid(kz_buf_str(&b), b.len);
	if (!is_text && !(blob = encode(&b, err)))
		return err->rc;
	*out = kz_json_object();
	kz_json_set_str(*out, "uri", f->uri);
	if (f->type[0])
		kz_json_set_str(*out, "mimeType", f->type);
	kz_json_set_str(*out, is_text ? "text" : "blob", is_text ? kz_buf_str(&b) : blob);
	return KZ_OK;
}

void kz_mcp_shelf_release(struct kz_mcp_shelf *s)
{
	while (s->count)
		drop_oldest(s);
}
