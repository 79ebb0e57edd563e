/* Answers that are no records, as text for the model. */
#include "core/mcp/answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/base64.h"
#include "base/escape.h"
#include "base/str.h"

static void add_rows(struct kz_buf *b, const struct kz_json *rows)
{
	for (size_t i = 0; i < kz_json_count(rows); i++)
		(void)kz_buf_printf(b, NULL, "%s\n", kz_json_str_value(kz_json_at(rows, i)));
}

/* Who wants to edit such a line would read it again and again. */
static void add_altered(struct kz_buf *b, const struct kz_json *list)
{
	for (size_t i = 0; i < kz_json_count(list); i++)
		(void)kz_buf_printf(
			b, NULL,
			"... lines %lld to %lld are not shown exactly (\\xNN, or cut), so edit_file cannot name them\n",
			(long long)kz_json_num(kz_json_at(list, i), "from", 0),
			(long long)kz_json_num(kz_json_at(list, i), "to", 0));
}

static void read_text(struct kz_buf *b, const struct kz_json *o)
{
	const struct kz_json *left = kz_json_get(o, "left");

	(void)kz_buf_printf(b, NULL, "[%s#%s]\n", kz_json_str(o, "path", ""),
			    kz_json_str(o, "tag", ""));
	add_rows(b, kz_json_get(o, "rows"));
	for (size_t i = 0; i < kz_json_count(left); i++)
		(void)kz_buf_printf(b, NULL, "... lines %lld to %lld are not shown\n",
				    (long long)kz_json_num(kz_json_at(left, i), "from", 0),
				    (long long)kz_json_num(kz_json_at(left, i), "to", 0));
	add_altered(b, kz_json_get(o, "altered"));
	if (!kz_json_flag(o, "final_newline", true) && kz_json_num(o, "lines", 0))
		(void)kz_buf_puts(b, "... the last line has no line end\n", NULL);
}

static void edit_text(struct kz_buf *b, const struct kz_json *o)
{
	const struct kz_json *list = kz_json_get(o, "sections");

	for (size_t i = 0; i < kz_json_count(list); i++) {
		const struct kz_json *x = kz_json_at(list, i);
		const char *tag = kz_json_str(x, "tag", NULL);

		if (tag)
			(void)kz_buf_printf(b, NULL, "[%s#%s]\n",
					    kz_json_str(x, "to", kz_json_str(x, "path", "")), tag);
		else
			(void)kz_buf_printf(b, NULL, "... %s is removed\n",
					    kz_json_str(x, "path", ""));
		add_rows(b, kz_json_get(x, "context"));
		for (size_t k = 0; k < kz_json_count(kz_json_get(x, "warnings")); k++)
			(void)kz_buf_printf(
				b, NULL, "... warning: %s\n",
				kz_json_str_value(kz_json_at(kz_json_get(x, "warnings"), k)));
	}
}

/* A name in one line, as kz-workspace list shows it. out: new, NULL when memory is out */
static char *name_of(const struct kz_json *f)
{
	const char *code = kz_json_str(f, "name_base64", NULL), *name = kz_json_str(f, "name", "");
	size_t n = strlen(code ? code : ""), len = 0;
	kz_auto_free char *bytes = code ? malloc(n + 1) : NULL;

	if (bytes && kz_base64_decode(KZ_BASE64_STANDARD, code, n, bytes, n + 1, &len))
		return kz_escape(bytes, len);
	return kz_escape(name, strlen(name));
}

static void list_text(struct kz_buf *b, const struct kz_json *files, int64_t more)
{
	for (size_t i = 0; i < kz_json_count(files); i++) {
		const struct kz_json *f = kz_json_at(files, i);
		kz_auto_free char *name = name_of(f);

		if (!name)
			continue;
		if (kz_str_eq(kz_json_str(f, "kind", ""), "file"))
			(void)kz_buf_printf(b, NULL, "%s %lld\n", name,
					    (long long)kz_json_num(f, "bytes", 0));
		else
			(void)kz_buf_printf(b, NULL, "%s%s\n", name,
					    kz_str_eq(kz_json_str(f, "kind", ""), "directory") ?
						    "/" :
						    " (link)");
	}
	if (more)
		(void)kz_buf_printf(b, NULL, "... and %lld more\n", (long long)more);
	if (!b->len)
		(void)kz_buf_puts(b, "[no files]\n", NULL);
}

/* What a model has to know first: what its own programs have. */
static void scope_text(struct kz_buf *b, const struct kz_json *o)
{
	const struct kz_json *run = kz_json_get(o, "run");

	(void)kz_buf_printf(b, NULL,
			    "programs of this server have no network (%s)\n"
			    "the policy for approved runs: %s\n",
			    kz_json_str(run, "reason", ""), kz_json_str(o, "text", ""));
}

static void write_text(struct kz_buf *b, const struct kz_json *o)
{
	(void)kz_buf_printf(b, NULL, "[written; the workspace has %lld entries, %lld bytes]\n",
			    (long long)kz_json_num(o, "entries", 0),
			    (long long)kz_json_num(o, "bytes", 0));
}

void kz_mcp_text(struct kz_buf *b, const struct kz_mcp_call *c)
{
	switch (c->tool) {
	case KZ_MCP_LIST_FILES: list_text(b, c->files, c->files_omitted); break;
	case KZ_MCP_READ_FILE: read_text(b, c->last); break;
	case KZ_MCP_EDIT_FILE: edit_text(b, c->last); break;
	case KZ_MCP_WRITE_FILE: write_text(b, c->last); break;
	case KZ_MCP_NETWORK_SCOPE: scope_text(b, c->last); break;
	case KZ_MCP_RUN_CODE:
	case KZ_MCP_RESET_KERNEL: break; /* their records have another text */
	}
}
