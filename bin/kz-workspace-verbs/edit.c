/* kz-workspace edit. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/files/lines.h"
#include "lines.h"
#include "rule/tag.h"
#include "verbs.h"

static const char *const ops[] = {
	[KZ_EFFECT_EDIT] = "edit", [KZ_EFFECT_REMOVE] = "remove", [KZ_EFFECT_MOVE] = "move"
};

struct kz_json *kz_lines_list(const char *p, size_t n)
{
	struct kz_json *list = kz_json_array();

	while (n > 0) {
		const char *lf = memchr(p, '\n', n);
		size_t k = lf ? (size_t)(lf - p) : n;
		char *s = strndup(p, k);

		kz_json_append(list, s ? kz_json_string(s) : NULL);
		free(s);
		k += lf ? 1 : 0;
		p += k;
		n -= k;
	}
	return list;
}

static struct kz_json *section(const struct kz_effect *x)
{
	struct kz_json *o = kz_json_object();
	char tag[KZ_TAG_TEXT];

	kz_tag_text(x->tag, tag);
	kz_json_set_str(o, "path", x->path);
	kz_json_set_str(o, "op", ops[x->op]);
	if (x->op == KZ_EFFECT_MOVE)
		kz_json_set_str(o, "to", x->dest);
	kz_json_set_str(o, "tag", x->op == KZ_EFFECT_REMOVE ? NULL : tag);
	kz_json_set(o, "first_changed_line",
		    x->first_changed ? kz_json_int(x->first_changed) : kz_json_null());
	kz_json_set(o, "context", kz_lines_list(x->context.data, x->context.len));
	kz_json_set(o, "warnings", kz_lines_list(x->notes.data, x->notes.len));
	return o;
}

static enum kz_rc tell_json(struct kz_cli *cli, const struct kz_lines_change *c)
{
	struct kz_json *o = kz_out_object("edit"), *list = kz_json_array();
	struct kz_json *registers = kz_json_array();

	for (size_t i = 0; i < c->effects.count; i++)
		kz_json_append(list, section(&c->effects.effect[i]));
	for (size_t i = 0; i < c->book.registers; i++)
		kz_json_append(registers, kz_json_string(c->book.reg[i].name));
	kz_json_set(o, "sections", list);
	kz_json_set(o, "registers", registers);
	return kz_out_json(cli, o);
}

static void tell_notes(struct kz_cli *cli, const struct kz_buf *notes)
{
	const char *p = kz_buf_str(notes), *lf;

	for (; (lf = strchr(p, '\n')) != NULL; p = lf + 1)
		kz_out_text(cli, "... warning: %.*s\n", (int)(lf - p), p);
}

static void tell_text(struct kz_cli *cli, const struct kz_lines_change *c)
{
	char tag[KZ_TAG_TEXT];

	for (size_t i = 0; i < c->effects.count; i++) {
		const struct kz_effect *x = &c->effects.effect[i];

		kz_tag_text(x->tag, tag);
		if (x->op == KZ_EFFECT_REMOVE)
			kz_out_text(cli, "... %s is removed\n", x->path);
		else
			kz_out_text(cli, "[%s#%s]\n", x->op == KZ_EFFECT_MOVE ? x->dest : x->path,
				    tag);
		kz_out_bytes(cli, kz_buf_str(&x->context), x->context.len);
		tell_notes(cli, &x->notes);
	}
	for (size_t i = 0; i < c->book.registers; i++)
		kz_out_text(cli, "%s%s%s", i ? " " : "... registers: ", c->book.reg[i].name,
			    i + 1 == c->book.registers ? "\n" : "");
}

static enum kz_rc take_edit(struct kz_cli *cli, struct kz_buf *text)
{
	const char *file = cli->operand_count ? cli->operands[0] : "-";
	kz_auto_close int fd = -1;
	int64_t size = 0, mode = 0;
	enum kz_rc rc = kz_file_take(cli, file, &fd, &size, &mode);

	if (rc == KZ_OK && size > KZ_EDIT_MAX)
		rc = kz_refuse(&cli->err, KZ_R_EDIT_MALFORMED, "an edit has at most %u bytes",
			       KZ_EDIT_MAX);
	if (rc == KZ_OK && lseek(fd, 0, SEEK_SET) < 0)
		rc = kz_err_sys(&cli->err, KZ_E_IO, "cannot rewind a memory file");
	return rc == KZ_OK ? kz_fd_read_all(fd, text, &cli->err) : rc;
}

int kz_verb_edit(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_workspace struct kz_workspace *w = NULL;
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_EDIT_MAX);
	struct kz_lines_change c = { .files = 0 };
	struct kz_whose o = { 0 };
	const struct kz_opt opts[] = {
		KZ_WHOSE_OPTIONS(&o),
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		cli->program, "edit", KZ_EDIT_SYNOPSIS, KZ_EDIT_WHAT, opts, 0, 1
	};
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = take_edit(cli, &text);
	if (rc == KZ_OK)
		rc = kz_whose_open(cli, &o, true, &w);
	if (rc == KZ_OK)
		rc = kz_lines_edit(w, kz_buf_str(&text), text.len, &c, &cli->err);
	if (rc == KZ_OK && cli->json)
		rc = tell_json(cli, &c);
	else if (rc == KZ_OK)
		tell_text(cli, &c);
	kz_lines_change_release(&c);
	return kz_main_end(cli, rc);
}
