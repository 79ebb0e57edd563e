/* The JSON form of an edit; strict, it forgives nothing. */
#include <stdlib.h>
#include <string.h>

#include "core/files/lines.h"
#include "port/json.h"
#include "rule/reason.h"
#include "rule/tag.h"

/* One operation of a section. at: its number in the edit */
struct op {
	const struct kz_json *j;
	const char *name;
	size_t at;
};

static enum kz_rc bad(size_t at, const char *what, struct kz_err *err)
{
	return kz_refuse(err, KZ_R_EDIT_MALFORMED, "edit, operation %zu: %s", at, what);
}

static struct kz_row row_of(const char *s)
{
	return (struct kz_row){ s, strlen(s) };
}

static enum kz_rc add_rows(struct kz_edit *e, const struct op *o, struct kz_hunk *h,
			   struct kz_err *err)
{
	const struct kz_json *rows = kz_json_get(o->j, "rows");
	enum kz_rc rc = KZ_OK;

	if (!kz_json_is_array(rows) || kz_json_count(rows) == 0)
		return bad(o->at, "rows are a list of texts, and not empty", err);
	h->row = e->rows;
	for (; h->rows < kz_json_count(rows) && rc == KZ_OK; h->rows++) {
		const struct kz_json *x = kz_json_at(rows, h->rows);

		if (!kz_json_is_string(x))
			return bad(o->at, "a row is a text", err);
		rc = kz_edit_row(e, row_of(kz_json_str_value(x)), o->at, err);
	}
	return rc;
}

static enum kz_rc on_lines(struct kz_edit *e, struct kz_section *s, const struct op *o, bool cuts,
			   struct kz_err *err)
{
	static const char *const keys[] = { "op", "at", "rows", "register", NULL };
	const char *at = kz_json_str(o->j, "at", NULL), *reg = kz_json_str(o->j, "register", NULL);
	struct kz_hunk h = { .at = o->at };
	enum kz_rc rc = kz_json_only(o->j, keys, err);

	if (rc != KZ_OK)
		return kz_refuse(err, KZ_R_EDIT_MALFORMED,
				 "edit, operation %zu: it has a member that is not known", o->at);
	if (!at)
		return bad(o->at, "\"at\" is a text like 2.=3, <2 or >2", err);
	rc = kz_edit_address(row_of(at), false, &h, &s->notes, err);
	if (rc != KZ_OK)
		return rc;
	if (cuts && (h.kind != KZ_HUNK_REPLACE || kz_json_get(o->j, "rows")))
		return bad(o->at, "CUT takes lines, and has no rows", err);
	if (!reg == !kz_json_get(o->j, "rows") && !cuts)
		return bad(o->at, "PUT has rows or a register", err);
	if (kz_json_get(o->j, "register") &&
	    (!reg || (*reg && !kz_register_is_name(reg, strlen(reg)))))
		return bad(o->at, "a register is named by up to 64 of A-Z, a-z, 0-9, _ and -", err);
	if (!cuts && reg && !*reg && h.kind == KZ_HUNK_REPLACE)
		return bad(o->at, "PUT over lines needs a register with a name", err);
	h.has_register = cuts || reg;
	if (reg)
		memcpy(h.reg, reg, strlen(reg) + 1);
	if (cuts)
		h.kind = KZ_HUNK_CUT;
	if (!h.has_register)
		rc = add_rows(e, o, &h, err);
	return rc == KZ_OK ? kz_edit_add(e, s, &h, err) : rc;
}

static enum kz_rc one_op(struct kz_edit *e, struct kz_section *s, const struct op *o,
			 struct kz_err *err)
{
	const char *to = kz_json_str(o->j, "to", NULL);

	if (strcmp(o->name, "PUT") == 0)
		return on_lines(e, s, o, false, err);
	if (strcmp(o->name, "CUT") == 0)
		return on_lines(e, s, o, true, err);
	if (strcmp(o->name, "REM") == 0 && kz_json_count(o->j) == 1)
		return kz_edit_remove(s, o->at, err);
	if (strcmp(o->name, "MV") == 0 && kz_json_count(o->j) == 2 && to)
		return kz_edit_move(s, row_of(to), o->at, err);
	return bad(o->at, "it is one of PUT, CUT, REM and MV with \"to\"", err);
}

static enum kz_rc one_section(struct kz_edit *e, const struct kz_json *j, size_t *at,
			      struct kz_err *err)
{
	static const char *const keys[] = { "path", "tag", "ops", NULL };
	const char *path = kz_json_str(j, "path", NULL), *tag = kz_json_str(j, "tag", NULL);
	const struct kz_json *ops = kz_json_get(j, "ops");
	struct kz_section *s = NULL;
	uint16_t value = 0;
	enum kz_rc rc;

	if (kz_json_is_object(j) && !kz_json_get(j, "tag"))
		return kz_refuse(err, KZ_R_MISSING_TAG, NULL);
	if (!kz_json_is_object(j) || !path || !tag || !kz_json_is_array(ops) ||
	    kz_json_only(j, keys, err) != KZ_OK)
		return bad(*at, "a section has \"path\", \"tag\" and \"ops\"", err);
	if (!kz_tag_parse(tag, strlen(tag), &value))
		return bad(*at, "a tag is four hexadecimal digits", err);
	rc = kz_edit_section(e, row_of(path), value, *at, &s, err);
	for (size_t i = 0; i < kz_json_count(ops) && rc == KZ_OK; i++) {
		struct op o = { kz_json_at(ops, i), NULL, (*at)++ };

		o.name = kz_json_str(o.j, "op", "");
		rc = one_op(e, s, &o, err);
	}
	return rc;
}

enum kz_rc kz_lines_edit_json(const struct kz_json *j, struct kz_edit *e, struct kz_err *err)
{
	static const char *const keys[] = { "sections", NULL };
	const struct kz_json *list = kz_json_get(j, "sections");
	size_t at = 1;
	enum kz_rc rc = KZ_OK;

	memset(e, 0, sizeof *e);
	if (!kz_json_is_array(list) || kz_json_only(j, keys, err) != KZ_OK)
		return kz_refuse(err, KZ_R_EDIT_MALFORMED,
				 "the edit is an object with \"sections\" and nothing else");
	for (size_t i = 0; i < kz_json_count(list) && rc == KZ_OK; i++)
		rc = one_section(e, kz_json_at(list, i), &at, err);
	if (rc == KZ_OK && e->sections == 0)
		rc = kz_refuse(err, KZ_R_EDIT_MALFORMED, "the edit is empty");
	return rc;
}
