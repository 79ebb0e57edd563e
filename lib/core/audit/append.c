/* Appending to the chain: transactions, hashing, the head. */
#include "core/audit/store.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/sys.h"
#include "rule/reason.h"

enum kz_rc kz_audit_fail(struct kz_err *err)
{
	if (!err || err->reason[0])
		return err ? err->rc : KZ_E_UNAVAILABLE;
	err->rc = kz_rc_of_status(kz_reason_status(KZ_R_AUDIT_UNAVAILABLE));
	kz_err_reason(err, kz_reason_code(KZ_R_AUDIT_UNAVAILABLE));
	return kz_err_wrap(err, "audit store");
}

static enum kz_rc run(struct kz_stmt *s, struct kz_err *err)
{
	bool row;

	return kz_stmt_step(s, &row, err);
}

/* Does the chain contain what the head says was committed? */
static enum kz_rc head_is_in_chain(struct kz_audit *a, const struct kz_audit_head *head, bool *yes,
				   struct kz_err *err)
{
	bool row = false;
	int64_t closed = 0;
	enum kz_rc rc;

	*yes = false;
	if (!head->is_present || head->id > a->id)
		return KZ_OK;
	if (head->id == 0) {
		*yes = true;
		return KZ_OK;
	}
	kz_stmt_bind_int(a->hash_of, 1, head->id);
	rc = kz_stmt_step(a->hash_of, &row, err);
	if (rc != KZ_OK)
		return rc;
	*yes = row && kz_str_eq(kz_stmt_text(a->hash_of, 0), head->hash);
	if (row)
		kz_stmt_reset(a->hash_of);
	if (row)
		return KZ_OK;
	/* Not here: moved to a closed file by a rotation whose own head write was cut off? */
	rc = kz_db_int(a->db, "SELECT max(last_id) FROM segment", 0, &closed, err);
	*yes = head->id <= closed;
	return rc;
}

/* Put on record that committed rows are gone; numbers are never used twice. */
static enum kz_rc note_break(struct kz_audit *a, const struct kz_audit_head *head,
			     struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_BROKEN);

	if (!r)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	kz_audit_row_int(r, "found_id", a->id);
	kz_audit_row_text(r, "found_hash", a->hash);
	if (head->is_present) {
		kz_audit_row_int(r, "head_id", head->id);
		kz_audit_row_text(r, "head_hash", head->hash);
		if (head->id > a->id)
			a->id = head->id;
	}
	return kz_audit_append(a, r, err);
}

enum kz_rc kz_audit_begin(struct kz_audit *a, struct kz_err *err)
{
	struct kz_audit_head head;
	bool row = false, ok = false;
	enum kz_rc rc = run(a->begin, err);

	if (rc != KZ_OK)
		return rc;
	a->id = 0;
	memcpy(a->hash, KZ_AUDIT_GENESIS, sizeof(KZ_AUDIT_GENESIS));
	/* Under the write lock the head can only name rows that are committed. */
	rc = kz_audit_head_read(a->dir, &head, err);
	if (rc == KZ_OK)
		rc = kz_stmt_step(a->last, &row, err);
	if (rc == KZ_OK && row) {
		a->id = kz_stmt_int(a->last, 0);
		rc = kz_str_copy(a->hash, sizeof(a->hash), kz_stmt_text(a->last, 1), err);
		kz_stmt_reset(a->last);
	}
	if (rc == KZ_OK)
		rc = head_is_in_chain(a, &head, &ok, err);
	if (rc == KZ_OK && !ok)
		rc = note_break(a, &head, err);
	if (rc != KZ_OK)
		kz_audit_rollback(a);
	return rc;
}

void kz_audit_rollback(struct kz_audit *a)
{
	kz_db_exec(a->db, "ROLLBACK", NULL);
}

enum kz_rc kz_audit_commit(struct kz_audit *a, struct kz_err *err)
{
	enum kz_rc rc;

	if (kz_sys_before(KZ_SYS_DB_COMMIT)) {
		errno = EIO;
		rc = kz_err_sys(err, KZ_E_IO, "cannot commit");
	} else {
		rc = run(a->commit, err);
	}
	if (rc != KZ_OK) {
		kz_audit_rollback(a);
		return rc;
	}
	kz_sys_after(KZ_SYS_DB_COMMIT);
	return kz_audit_head_write(a->dir, a->id, a->hash, err);
}

static void bind_values(struct kz_stmt *s, int at, const struct kz_audit_value *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (v[i].is == KZ_AUDIT_V_INT)
			kz_stmt_bind_int(s, at + (int)i, v[i].n);
		else
			kz_stmt_bind_text(s, at + (int)i,
					  v[i].is == KZ_AUDIT_V_TEXT ? v[i].text : NULL);
	}
}

static enum kz_rc insert_stmt(struct kz_audit *a, enum kz_audit_kind kind, bool is_child,
			      struct kz_stmt **out, struct kz_err *err)
{
	const struct kz_audit_table *t = kz_audit_table(kind);
	struct kz_stmt **s = is_child ? &a->insert_child[kind] : &a->insert[kind];
	kz_auto_buf struct kz_buf sql = KZ_BUF_INIT(4096);
	enum kz_rc rc = KZ_OK;

	if (!*s)
		rc = kz_audit_sql_insert(is_child ? t->child : t, is_child, &sql, err);
	if (rc == KZ_OK && !*s)
		rc = kz_stmt_new(s, a->db, kz_buf_str(&sql), err);
	*out = *s;
	return rc;
}

void kz_audit_get_ready(struct kz_audit *a)
{
	static const enum kz_audit_kind kinds[] = { KZ_AUDIT_RECORD, KZ_AUDIT_RUN_STEP,
						    KZ_AUDIT_EVIDENCE };
	struct kz_stmt *s;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		(void)insert_stmt(a, kinds[i], false, &s, NULL);
		if (kinds[i] == KZ_AUDIT_EVIDENCE)
			(void)insert_stmt(a, kinds[i], true, &s, NULL);
	}
}

static enum kz_rc insert_children(struct kz_audit *a, const struct kz_audit_row *r,
				  struct kz_err *err)
{
	const struct kz_audit_table *t = kz_audit_table(r->kind);
	struct kz_stmt *s;
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; rc == KZ_OK && i < r->child_count; i++) {
		rc = insert_stmt(a, r->kind, true, &s, err);
		if (rc != KZ_OK)
			break;
		kz_stmt_bind_int(s, 1, r->id);
		kz_stmt_bind_int(s, 2, (int64_t)i);
		bind_values(s, 3, r->child + i * t->child->count, t->child->count);
		rc = run(s, err);
	}
	return rc;
}

enum kz_rc kz_audit_append(struct kz_audit *a, struct kz_audit_row *r, struct kz_err *err)
{
	const struct kz_audit_table *t = kz_audit_table(r->kind);
	struct kz_stmt *s;
	enum kz_rc rc;

	r->id = a->id + 1;
	r->at_ms = kz_time_wall_ms();
	kz_audit_row_seal(r, a->hash);
	kz_stmt_bind_int(a->entry, 1, r->id);
	kz_stmt_bind_int(a->entry, 2, r->at_ms);
	kz_stmt_bind_text(a->entry, 3, t->name);
	kz_stmt_bind_text(a->entry, 4, r->hash);
	rc = run(a->entry, err);
	if (rc == KZ_OK)
		rc = insert_stmt(a, r->kind, false, &s, err);
	if (rc == KZ_OK) {
		kz_stmt_bind_int(s, 1, r->id);
		bind_values(s, 2, r->v, t->count);
		rc = run(s, err);
	}
	if (rc == KZ_OK)
		rc = insert_children(a, r, err);
	if (rc == KZ_E_DATA)
		return kz_refuse(err, KZ_R_AUDIT_REFUSED,
				 "the audit store does not take this %s row: %s", t->name,
				 err ? err->text : "");
	if (rc == KZ_OK) {
		a->id = r->id;
		memcpy(a->hash, r->hash, sizeof(a->hash));
	}
	return rc;
}

enum kz_rc kz_audit_together(struct kz_audit *a, struct kz_err *err)
{
	if (kz_audit_begin(a, err) != KZ_OK)
		return kz_audit_fail(err);
	a->is_together = true;
	return KZ_OK;
}

enum kz_rc kz_audit_end(struct kz_audit *a, struct kz_err *err)
{
	bool was_whole = a->is_together;

	a->is_together = false;
	if (!was_whole)
		kz_err_set(err, KZ_E_IO, "a row before this one could not be written");
	return was_whole && kz_audit_commit(a, err) == KZ_OK ? KZ_OK : kz_audit_fail(err);
}

void kz_audit_abandon(struct kz_audit *a)
{
	if (a->is_together)
		kz_audit_rollback(a);
	a->is_together = false;
}

enum kz_rc kz_audit_add(struct kz_audit *a, struct kz_audit_row *r, struct kz_err *err)
{
	bool is_alone = !a->is_together;
	enum kz_rc rc = is_alone ? kz_audit_together(a, err) : KZ_OK;

	if (rc != KZ_OK)
		return rc;
	rc = r ? kz_audit_append(a, r, err) : kz_err_set(err, KZ_E_OS, "out of memory");
	if (rc != KZ_OK) {
		kz_audit_abandon(a);
		return kz_audit_fail(err);
	}
	return is_alone ? kz_audit_end(a, err) : KZ_OK;
}

enum kz_rc kz_audit_probe(struct kz_audit *a, struct kz_err *err)
{
	if (kz_audit_begin(a, err) != KZ_OK)
		return kz_audit_fail(err);
	kz_audit_rollback(a);
	return KZ_OK;
}
