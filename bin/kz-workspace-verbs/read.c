/* kz-workspace read. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/files/lines.h"
#include "lines.h"
#include "rule/tag.h"
#include "verbs.h"

/* "12", "3-9" or "3-$". */
static enum kz_rc take_range(struct kz_cli *cli, const char *text, struct kz_spans *out)
{
	char from[16] = "", *to;
	int64_t a = 0, b = 0;
	enum kz_rc rc = kz_str_copy(from, sizeof(from), text, NULL);

	to = strchr(from, '-');
	if (to)
		*to++ = 0;
	if (rc == KZ_OK)
		rc = kz_str_int(from, 1, KZ_TEXT_LINES_MAX, &a, NULL);
	b = a;
	if (rc == KZ_OK && to && strcmp(to, "$") == 0)
		b = KZ_TEXT_LINES_MAX;
	else if (rc == KZ_OK && to)
		rc = kz_str_int(to, a, KZ_TEXT_LINES_MAX, &b, NULL);
	if (rc != KZ_OK)
		return kz_refuse(&cli->err, KZ_R_BAD_RANGE,
				 "a range is FROM-TO, FROM-$ or one line");
	return kz_spans_add(out, (uint32_t)a, (uint32_t)b, &cli->err);
}

static struct kz_json *spans(const struct kz_spans *s)
{
	struct kz_json *list = kz_json_array();

	for (size_t i = 0; i < s->count; i++) {
		struct kz_json *o = kz_json_object();

		kz_json_set_int(o, "from", s->span[i].from);
		kz_json_set_int(o, "to", s->span[i].to);
		kz_json_append(list, o);
	}
	return list;
}

static enum kz_rc tell_json(struct kz_cli *cli, const char *path, const struct kz_lines_answer *a)
{
	static const char *const names[] = { NULL, "lf", "crlf", "cr" };
	struct kz_json *o = kz_out_object("read"), *ends = kz_json_array();
	char tag[KZ_TAG_TEXT];

	kz_tag_text(a->tag, tag);
	for (int i = KZ_EOL_LF; i <= KZ_EOL_CR; i++)
		if (a->ends[i])
			kz_json_append(ends, kz_json_string(names[i]));
	kz_json_set_str(o, "path", path);
	kz_json_set_str(o, "tag", tag);
	kz_json_set_int(o, "lines", a->lines);
	kz_json_set(o, "rows", kz_lines_list(a->shown.rows.data, a->shown.rows.len));
	kz_json_set(o, "left", spans(&a->shown.left));
	kz_json_set(o, "altered", spans(&a->shown.altered));
	kz_json_set(o, "line_ends", ends);
	kz_json_set_bool(o, "final_newline", a->is_ended);
	kz_json_set_bool(o, "byte_order_mark", a->has_bom);
	return kz_out_json(cli, o);
}

static void tell_spans(struct kz_cli *cli, const char *what, const struct kz_spans *s)
{
	if (s->count == 0)
		return;
	kz_out_text(cli, "%s", what);
	for (size_t i = 0; i < s->count && i < 20; i++)
		kz_out_text(cli, "%s %u-%u", i ? "," : "", s->span[i].from, s->span[i].to);
	kz_out_text(cli, "%s\n", s->count > 20 ? ", ..." : "");
}

static void tell_text(struct kz_cli *cli, const char *path, const struct kz_lines_answer *a)
{
	char tag[KZ_TAG_TEXT];

	kz_tag_text(a->tag, tag);
	kz_out_text(cli, "[%s#%s]\n", path, tag);
	kz_out_bytes(cli, kz_buf_str(&a->shown.rows), a->shown.rows.len);
	tell_spans(cli, "... not shown, read them with -r:", &a->shown.left);
	tell_spans(cli, "... not shown exactly, so no edit can name them:", &a->shown.altered);
	if (!a->is_ended)
		kz_out_text(cli, "... the last line has no line end\n");
}

int kz_verb_read(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_workspace struct kz_workspace *w = NULL;
	kz_auto_opt_list struct kz_opt_list ranges = { NULL, 0 };
	kz_auto_spans struct kz_spans asked = { NULL, 0, 0 };
	struct kz_lines_answer a = { .tag = 0 };
	struct kz_whose o = { 0 };
	char path[KZ_PATH_MAX + 1];
	const struct kz_opt opts[] = {
		KZ_WHOSE_OPTIONS(&o),
		{ 'r', "range", KZ_OPT_LIST, &ranges, "FROM-TO",
		  "show these lines, with one before and three behind", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		cli->program, "read", KZ_READ_SYNOPSIS, KZ_READ_WHAT, opts, 1, 1
	};
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_path_take(cli, cli->operands[0], path);
	for (size_t i = 0; i < ranges.count && rc == KZ_OK; i++)
		rc = take_range(cli, ranges.items[i], &asked);
	if (rc == KZ_OK)
		rc = kz_whose_open(cli, &o, true, &w);
	if (rc == KZ_OK)
		rc = kz_lines_read(w, path, &asked, &a, &cli->err);
	if (rc == KZ_OK && cli->json)
		rc = tell_json(cli, path, &a);
	else if (rc == KZ_OK)
		tell_text(cli, path, &a);
	kz_lines_answer_release(&a);
	return kz_main_end(cli, rc);
}
