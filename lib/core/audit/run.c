/* One run in the audit store, and the chain that holds it. */
#include "core/audit/run.h"

#include <string.h>

#include "base/str.h"
#include "core/audit/view.h"
#include "rule/reason.h"

/* The walk from the run's first row to the end. */
struct trail {
	const char *run;
	const struct kz_audit_head *head;
	char lease[KZ_ID_HEX];
	int64_t id;               /* the last row passed */
	char hash[KZ_SHA256_HEX]; /* its hash */
	struct kz_audit_run *out;
};

static enum kz_rc broken(int64_t id, struct kz_err *err)
{
	return kz_refuse(err, KZ_R_AUDIT_BROKEN, "row %lld is not what was written", (long long)id);
}

static bool is_text(const struct kz_audit_row *r, const char *col, const char *text)
{
	const struct kz_audit_value *v = kz_audit_row_get(r, col);

	return v && v->is == KZ_AUDIT_V_TEXT && strcmp(v->text, text) == 0;
}

static enum kz_rc keep(struct kz_json **to, const struct kz_audit_row *r, struct kz_err *err)
{
	kz_json_free(*to);
	*to = kz_audit_row_json(r);
	return *to ? KZ_OK : kz_err_set(err, KZ_E_OS, "out of memory");
}

static enum kz_rc take(struct trail *t, const struct kz_audit_row *r, struct kz_err *err)
{
	struct kz_audit_run *o = t->out;

	if (r->kind == KZ_AUDIT_DISPATCH && is_text(r, "run", t->run)) {
		kz_str_copy(t->lease, sizeof(t->lease), kz_audit_row_get(r, "lease")->text, NULL);
		return keep(&o->dispatch, r, err);
	}
	if (r->kind == KZ_AUDIT_RECORD && is_text(r, "run", t->run))
		return keep(&o->record, r, err);
	if (r->kind == KZ_AUDIT_EVIDENCE && t->lease[0] && is_text(r, "lease", t->lease) &&
	    (!o->evidence || kz_json_flag(o->evidence, "clean", false)))
		return keep(&o->evidence, r, err);
	return KZ_OK;
}

static enum kz_rc pass(struct trail *t, struct kz_audit_row *r, struct kz_err *err)
{
	char stored[KZ_SHA256_HEX];

	memcpy(stored, r->hash, sizeof(stored));
	kz_audit_row_seal(r, t->hash);
	if (r->id != t->id + 1 || strcmp(stored, r->hash) != 0)
		return broken(r->id, err);
	if (t->head->is_present && t->head->id == r->id && strcmp(t->head->hash, stored) != 0)
		return broken(r->id, err);
	t->id = r->id;
	memcpy(t->hash, stored, sizeof(t->hash));
	return take(t, r, err);
}

static enum kz_rc walk(struct trail *t, struct kz_db *db, struct kz_err *err)
{
	kz_auto_cursor struct kz_audit_cursor *c = NULL;
	enum kz_rc rc = kz_audit_cursor_new(&c, db, t->id, err);

	while (rc == KZ_OK) {
		kz_auto_audit_row struct kz_audit_row *r = NULL;

		rc = kz_audit_cursor_next(c, &r, err);
		if (rc != KZ_OK || !r)
			break;
		rc = pass(t, r, err);
	}
	return rc;
}

/* out: the number of the run's dispatch in this file, 0 for none */
static enum kz_rc find_dispatch(struct kz_db *db, const char *run, int64_t *id, struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = false;
	enum kz_rc rc = kz_stmt_new(&s, db, "SELECT id FROM dispatch WHERE run = ?", err);

	*id = 0;
	if (rc != KZ_OK)
		return rc;
	kz_stmt_bind_text(s, 1, run);
	rc = kz_stmt_step(s, &row, err);
	if (rc == KZ_OK && row)
		*id = kz_stmt_int(s, 0);
	return rc;
}

/* Stand before the dispatch: the row that it was chained to is in the same file, or it is the first of all. */
static enum kz_rc stand_before(struct trail *t, struct kz_db *db, int64_t id, struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = false;
	enum kz_rc rc = kz_stmt_new(&s, db, "SELECT hash FROM entry WHERE id = ?", err);

	memcpy(t->hash, KZ_AUDIT_GENESIS, sizeof(t->hash));
	t->id = id - 1;
	if (rc != KZ_OK)
		return rc;
	kz_stmt_bind_int(s, 1, id - 1);
	rc = kz_stmt_step(s, &row, err);
	if (rc == KZ_OK && row)
		rc = kz_str_copy(t->hash, sizeof(t->hash), kz_stmt_text(s, 0), NULL);
	return rc != KZ_OK || (!row && id > 1) ? broken(id, err) : KZ_OK;
}

static enum kz_rc count_before(struct kz_db *db, const char *lease, int64_t id, int64_t *n,
			       struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = false;
	enum kz_rc rc = kz_stmt_new(
		&s, db, "SELECT count(*) FROM dispatch WHERE lease = ? AND id < ?", err);

	if (rc != KZ_OK)
		return rc;
	kz_stmt_bind_text(s, 1, lease);
	kz_stmt_bind_int(s, 2, id);
	rc = kz_stmt_step(s, &row, err);
	if (rc == KZ_OK && row)
		*n += kz_stmt_int(s, 0);
	return rc;
}

/* The files of a store, oldest first; the last one is the open segment. own: *own is closed by the caller, *db is borrowed */
static enum kz_rc file(const struct kz_audit_view *v, size_t i, struct kz_db **own,
		       struct kz_db **db, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	*own = NULL;
	if (i < v->closed_count)
		rc = kz_audit_view_segment(v, i, own, err);
	*db = i < v->closed_count ? *own : v->db;
	return rc;
}

/* From the newest file back to the one with the dispatch. out: its place, and where the dispatch is in it */
static enum kz_rc locate(const struct kz_audit_view *v, struct trail *t, size_t *at, int64_t *id,
			 struct kz_err *err)
{
	for (size_t i = v->closed_count + (v->db != NULL); i-- > 0;) {
		kz_auto_db struct kz_db *own = NULL;
		struct kz_db *db;
		enum kz_rc rc = file(v, i, &own, &db, err);

		if (rc == KZ_OK)
			rc = find_dispatch(db, t->run, id, err);
		if (rc == KZ_OK && *id)
			rc = stand_before(t, db, *id, err);
		*at = i;
		if (rc != KZ_OK || *id)
			return rc;
	}
	return kz_refuse(err, KZ_R_RUN_UNKNOWN, NULL);
}

static enum kz_rc follow(const struct kz_audit_view *v, struct trail *t, struct kz_err *err)
{
	size_t count = v->closed_count + (v->db != NULL), at = 0;
	int64_t id = 0;
	enum kz_rc rc = locate(v, t, &at, &id, err);

	for (size_t i = at; rc == KZ_OK && i < count; i++) {
		kz_auto_db struct kz_db *own = NULL;
		struct kz_db *db;

		rc = file(v, i, &own, &db, err);
		if (rc == KZ_OK)
			rc = walk(t, db, err);
	}
	/* What the head says was committed must have been passed. */
	if (rc == KZ_OK && (!v->head.is_present || v->head.id > t->id))
		return kz_refuse(err, KZ_R_AUDIT_BROKEN,
				 "the head outside the store is gone, or names rows that are");
	for (size_t i = 0; rc == KZ_OK && i <= at; i++) {
		kz_auto_db struct kz_db *own = NULL;
		struct kz_db *db;

		rc = file(v, i, &own, &db, err);
		if (rc == KZ_OK)
			rc = count_before(db, t->lease, id, &t->out->runs_before, err);
	}
	return rc;
}

enum kz_rc kz_audit_run_find(const char *path, const char *run, struct kz_audit_run *out,
			     struct kz_err *err)
{
	kz_auto_audit_view struct kz_audit_view v = { .dir = -1, .lock = -1 };
	struct trail t = { .run = run, .head = &v.head, .out = out };
	enum kz_rc rc = kz_audit_view_open(&v, path, err);

	*out = (struct kz_audit_run){ 0 };
	if (rc == KZ_OK)
		rc = follow(&v, &t, err);
	if (rc == KZ_OK && !out->record)
		rc = kz_refuse(err, KZ_R_RUN_UNENDED, NULL);
	if (rc == KZ_OK)
		return KZ_OK;
	kz_audit_run_release(out);
	return kz_audit_fail(err);
}

void kz_audit_run_release(struct kz_audit_run *r)
{
	kz_json_free(r->dispatch);
	kz_json_free(r->record);
	kz_json_free(r->evidence);
	*r = (struct kz_audit_run){ 0 };
}
