/* Reading rows back, whatever state the file is in. */
#include "core/audit/store.h"

#include <string.h>

struct kz_audit_cursor {
	struct kz_db *db;
	struct kz_stmt *entries;
	struct kz_stmt *select[KZ_AUDIT_KINDS], *select_child[KZ_AUDIT_KINDS];
	bool is_childless[KZ_AUDIT_KINDS]; /* the file is of a form without these child rows */
};

enum kz_rc kz_audit_cursor_new(struct kz_audit_cursor **out, struct kz_db *db, int64_t after,
			       struct kz_err *err)
{
	kz_auto_cursor struct kz_audit_cursor *c = calloc(1, sizeof(*c));
	enum kz_rc rc;

	if (!c)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	c->db = db;
	rc = kz_stmt_new(&c->entries, db,
			 "SELECT id, at_ms, kind, hash FROM entry WHERE id > ? ORDER BY id", err);
	if (rc != KZ_OK)
		return rc;
	kz_stmt_bind_int(c->entries, 1, after);
	*out = kz_take(c);
	return KZ_OK;
}

void kz_audit_cursor_free(struct kz_audit_cursor *c)
{
	if (!c)
		return;
	kz_stmt_free(c->entries);
	for (int k = 0; k < KZ_AUDIT_KINDS; k++) {
		kz_stmt_free(c->select[k]);
		kz_stmt_free(c->select_child[k]);
	}
	free(c);
}

static void take_value(struct kz_stmt *s, int i, struct kz_audit_value *v)
{
	v->is = KZ_AUDIT_V_NULL;
	if (kz_stmt_is_null(s, i))
		return;
	if (kz_stmt_is_int(s, i)) {
		kz_audit_value_int(v, kz_stmt_int(s, i));
		return;
	}
	/* A zero byte inside can only come from an edit; make it one that the hash shows. */
	kz_audit_value_text(
		v, strlen(kz_stmt_text(s, i)) == kz_stmt_text_len(s, i) ? kz_stmt_text(s, i) : " ");
}

static enum kz_rc select_stmt(struct kz_audit_cursor *c, enum kz_audit_kind kind, bool is_child,
			      struct kz_stmt **out, struct kz_err *err)
{
	const struct kz_audit_table *t = kz_audit_table(kind);
	struct kz_stmt **s = is_child ? &c->select_child[kind] : &c->select[kind];
	kz_auto_buf struct kz_buf sql = KZ_BUF_INIT(4096);
	enum kz_rc rc = KZ_OK;

	if (!*s)
		rc = kz_audit_sql_select(c->db, is_child ? t->child : t, is_child, &sql, err);
	if (rc == KZ_OK && !*s)
		rc = kz_stmt_new(s, c->db, kz_buf_str(&sql), err);
	*out = *s;
	return rc;
}

static enum kz_rc load_children(struct kz_audit_cursor *c, struct kz_audit_row *r,
				struct kz_err *err)
{
	const struct kz_audit_table *child = kz_audit_table(r->kind)->child;
	size_t width = child->count;
	struct kz_audit_value *v;
	struct kz_stmt *s;
	bool row = true, has = c->select_child[r->kind] != NULL;
	enum kz_rc rc = KZ_OK;

	if (!has && !c->is_childless[r->kind])
		rc = kz_audit_has(c->db, child->name, NULL, &has, err);
	c->is_childless[r->kind] = !has;
	if (rc != KZ_OK || !has)
		return rc;
	rc = select_stmt(c, r->kind, true, &s, err);
	if (rc != KZ_OK)
		return rc;
	kz_stmt_reset(s);
	kz_stmt_bind_int(s, 1, r->id);
	while ((rc = kz_stmt_step(s, &row, err)) == KZ_OK && row) {
		rc = kz_audit_row_child(r, &v, err);
		if (rc != KZ_OK) {
			kz_stmt_reset(s);
			return rc;
		}
		for (size_t i = 0; i < width; i++)
			take_value(s, (int)i, &v[i]);
	}
	return rc;
}

static enum kz_rc load_parts(struct kz_audit_cursor *c, struct kz_audit_row *r, struct kz_err *err)
{
	const struct kz_audit_table *t = kz_audit_table(r->kind);
	struct kz_stmt *s;
	bool row = false;
	enum kz_rc rc = select_stmt(c, r->kind, false, &s, err);

	if (rc != KZ_OK)
		return rc;
	kz_stmt_bind_int(s, 1, r->id);
	rc = kz_stmt_step(s, &row, err);
	for (size_t i = 0; rc == KZ_OK && row && i < t->count; i++)
		take_value(s, (int)i, &r->v[i]);
	if (row)
		kz_stmt_reset(s);
	if (rc == KZ_OK && t->child)
		rc = load_children(c, r, err);
	return rc;
}

enum kz_rc kz_audit_cursor_next(struct kz_audit_cursor *c, struct kz_audit_row **out,
				struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = NULL;
	bool row = false;
	int kind;
	enum kz_rc rc = kz_stmt_step(c->entries, &row, err);

	*out = NULL;
	if (rc != KZ_OK || !row)
		return rc;
	kind = kz_audit_kind_find(kz_stmt_text(c->entries, 2));
	if (kind < 0)
		return kz_err_set(err, KZ_E_DATA, "row %lld is of an unknown kind",
				  (long long)kz_stmt_int(c->entries, 0));
	r = kz_audit_row_new((enum kz_audit_kind)kind);
	if (!r)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	r->id = kz_stmt_int(c->entries, 0);
	r->at_ms = kz_stmt_int(c->entries, 1);
	if (kz_stmt_text_len(c->entries, 3) == 64)
		memcpy(r->hash, kz_stmt_text(c->entries, 3), 64);
	rc = load_parts(c, r, err);
	if (rc == KZ_OK)
		*out = kz_take(r);
	return rc;
}
