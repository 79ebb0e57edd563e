/* Building an edit, whatever form it came in. */
#include "rule/hashline_edit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "rule/reason.h"

static enum kz_rc no_memory(struct kz_err *err)
{
	return kz_err_set(err, KZ_E_OS, "no memory for an edit");
}

void kz_edit_release(struct kz_edit *e)
{
	for (size_t i = 0; i < e->sections; i++) {
		kz_buf_release(&e->section[i]->notes);
		free(e->section[i]->hunk);
		free(e->section[i]);
	}
	free(e->section);
	free(e->row);
	memset(e, 0, sizeof *e);
}

void kz_edit_note(struct kz_buf *notes, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text - 1, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (n > (int)sizeof text - 2)
		n = (int)sizeof text - 2;
	text[n++] = '\n';
	/* a warning too many is no reason to fail */
	(void)kz_buf_add(notes, text, (size_t)n, NULL);
}

static enum kz_rc file_name(struct kz_row name, size_t at, char out[KZ_PATH_MAX + 1],
			    struct kz_err *err)
{
	enum kz_path_fault f = kz_path_normal(name.p, name.n, out);

	if (f == KZ_PATH_OK)
		return KZ_OK;
	return kz_refuse(err, KZ_R_PATH_REJECTED, "edit, line %zu: the path %s", at,
			 kz_path_fault_text(f));
}

static struct kz_section *find(const struct kz_edit *e, const char *path)
{
	for (size_t i = 0; i < e->sections; i++)
		if (strcmp(e->section[i]->path, path) == 0)
			return e->section[i];
	return NULL;
}

static enum kz_rc new_section(struct kz_edit *e, struct kz_section **out, struct kz_err *err)
{
	struct kz_section **all, *s;

	all = realloc(e->section, (e->sections + 1) * sizeof(struct kz_section *));
	if (!all)
		return no_memory(err);
	e->section = all;
	s = calloc(1, sizeof *s);
	if (!s)
		return no_memory(err);
	kz_buf_init(&s->notes, KZ_EDIT_NOTES);
	e->section[e->sections++] = s;
	*out = s;
	return KZ_OK;
}

enum kz_rc kz_edit_section(struct kz_edit *e, struct kz_row path, uint16_t tag, size_t at,
			   struct kz_section **out, struct kz_err *err)
{
	char name[KZ_PATH_MAX + 1];
	enum kz_rc rc = file_name(path, at, name, err);
	struct kz_section *s;

	if (rc != KZ_OK)
		return rc;
	s = find(e, name);
	if (s && s->tag != tag)
		return kz_refuse(err, KZ_R_CONFLICTING_TAGS,
				 "edit, line %zu: this file has another tag in the same edit", at);
	if (!s && e->sections == KZ_EDIT_SECTIONS)
		return kz_refuse(err, KZ_R_EDIT_MALFORMED,
				 "edit, line %zu: an edit is of at most %d files", at,
				 KZ_EDIT_SECTIONS);
	if (!s) {
		rc = new_section(e, &s, err);
		if (rc == KZ_OK)
			rc = kz_str_copy(s->path, sizeof s->path, name, err);
		if (rc != KZ_OK)
			return rc;
		s->tag = tag;
	}
	*out = s;
	return KZ_OK;
}

enum kz_rc kz_edit_add(struct kz_edit *e, struct kz_section *s, const struct kz_hunk *h,
		       struct kz_err *err)
{
	if (s->removes)
		return kz_refuse(err, KZ_R_EDIT_MALFORMED,
				 "edit, line %zu: REM stands alone in its section", h->at);
	if (e->hunks == KZ_EDIT_HUNKS)
		return kz_refuse(err, KZ_R_EDIT_MALFORMED,
				 "edit, line %zu: an edit has at most %d operations", h->at,
				 KZ_EDIT_HUNKS);
	if (s->hunks == s->room) {
		size_t room = s->room ? s->room * 2 : 4;
		struct kz_hunk *all = realloc(s->hunk, room * sizeof *all);

		if (!all)
			return no_memory(err);
		s->hunk = all;
		s->room = room;
	}
	s->hunk[s->hunks] = *h;
	s->hunk[s->hunks++].order = e->hunks++;
	return KZ_OK;
}

enum kz_rc kz_edit_row(struct kz_edit *e, struct kz_row row, size_t at, struct kz_err *err)
{
	if (row.n &&
	    (memchr(row.p, '\r', row.n) || memchr(row.p, '\n', row.n) || memchr(row.p, 0, row.n)))
		return kz_refuse(err, KZ_R_EDIT_MALFORMED,
				 "edit, line %zu: a row holds a line end or a zero byte", at);
	if (!kz_utf8_valid(row.p, row.n))
		return kz_refuse(err, KZ_R_EDIT_MALFORMED, "edit, line %zu: a row is not UTF-8",
				 at);
	if (e->rows == e->row_room) {
		size_t room = e->row_room ? e->row_room * 2 : 64;
		struct kz_row *all = realloc(e->row, room * sizeof *all);

		if (!all)
			return no_memory(err);
		e->row = all;
		e->row_room = room;
	}
	e->row[e->rows++] = row;
	return KZ_OK;
}

enum kz_rc kz_edit_remove(struct kz_section *s, size_t at, struct kz_err *err)
{
	if (s->hunks || s->moves || s->removes)
		return kz_refuse(err, KZ_R_EDIT_MALFORMED,
				 "edit, line %zu: REM stands alone in its section", at);
	s->removes = true;
	return KZ_OK;
}

enum kz_rc kz_edit_move(struct kz_section *s, struct kz_row dest, size_t at, struct kz_err *err)
{
	if (s->removes)
		return kz_refuse(err, KZ_R_EDIT_MALFORMED,
				 "edit, line %zu: REM stands alone in its section", at);
	if (s->moves)
		return kz_refuse(err, KZ_R_EDIT_MALFORMED,
				 "edit, line %zu: a file is given two names", at);
	s->moves = true;
	return file_name(dest, at, s->dest, err);
}
