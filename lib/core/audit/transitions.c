/* Transitions as Valkey numbered them. */
#include <string.h>

#include "base/str.h"
#include "core/audit/store.h"
#include "rule/reason.h"

static void put_transition(struct kz_audit_row *r, const struct kz_transition *t)
{
	kz_audit_row_text(r, "store", t->store);
	kz_audit_row_int(r, "seq", t->seq);
	kz_audit_row_int(r, "valkey_ms", t->at_ms);
	kz_audit_row_text(r, "machine", t->machine);
	kz_audit_row_text(r, "from_state", t->from);
	kz_audit_row_text(r, "event", t->event);
	kz_audit_row_text(r, "to_state", t->to);
	kz_audit_row_text(r, "subject", t->subject);
	kz_audit_row_text(r, "worker", t->worker);
	kz_audit_row_text(r, "lease", t->lease);
	kz_audit_row_text(r, "actor", t->actor);
	kz_audit_row_text(r, "cause", t->cause);
}

static bool same_value(struct kz_stmt *s, int i, const struct kz_audit_value *v)
{
	if (v->is == KZ_AUDIT_V_NULL || kz_stmt_is_null(s, i))
		return v->is == KZ_AUDIT_V_NULL && kz_stmt_is_null(s, i);
	return v->is == KZ_AUDIT_V_INT ? kz_stmt_int(s, i) == v->n :
					 kz_str_eq(kz_stmt_text(s, i), v->text);
}

/* Is this number of this store there already, with the same content? */
static enum kz_rc known(struct kz_audit *a, const struct kz_audit_row *r, bool *yes,
			struct kz_err *err)
{
	const struct kz_audit_table *t = kz_audit_table(r->kind);
	enum kz_rc rc;

	kz_stmt_bind_text(a->known, 1, kz_audit_row_get(r, "store")->text);
	kz_stmt_bind_int(a->known, 2, kz_audit_row_get(r, "seq")->n);
	rc = kz_stmt_step(a->known, yes, err);
	if (rc != KZ_OK || !*yes)
		return rc;
	for (size_t i = 0; rc == KZ_OK && i < t->count; i++)
		if (!same_value(a->known, (int)i, &r->v[i]))
			rc = kz_refuse(err, KZ_R_AUDIT_CONFLICT,
				       "transition %lld of this store is there with another %s",
				       (long long)kz_audit_row_get(r, "seq")->n, t->cols[i].name);
	kz_stmt_reset(a->known);
	return rc;
}

/* The last number of a store that went into a closed file; what is at or below it is there. */
static enum kz_rc closed_seq(struct kz_audit *a, const char *store, int64_t *seq,
			     struct kz_err *err)
{
	bool row = false;
	enum kz_rc rc;

	kz_stmt_bind_text(a->closed, 1, store);
	rc = kz_stmt_step(a->closed, &row, err);
	*seq = rc == KZ_OK && row ? kz_stmt_int(a->closed, 0) : 0;
	if (row)
		kz_stmt_reset(a->closed);
	return rc;
}

/* This one need not follow what is there: where it does not, that goes on record [AUD-9]. */
static enum kz_rc note_start(struct kz_audit *a, const struct kz_transition *t, struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_JOINED);
	bool is_known = false, follows;
	enum kz_rc rc;

	if (!r)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	rc = kz_stmt_step(a->newest, &is_known, err);
	if (rc != KZ_OK)
		return rc;
	follows = !is_known && t->seq == 1;
	if (is_known) {
		follows = kz_str_eq(kz_stmt_text(a->newest, 0), t->store) &&
			  kz_stmt_int(a->newest, 1) == t->seq - 1;
		kz_audit_row_text(r, "known_store", kz_stmt_text(a->newest, 0));
		kz_audit_row_int(r, "known_seq", kz_stmt_int(a->newest, 1));
		kz_stmt_reset(a->newest);
	}
	if (follows)
		return KZ_OK;
	kz_audit_row_text(r, "store", t->store);
	kz_audit_row_int(r, "seq", t->seq);
	return kz_audit_append(a, r, err);
}

static enum kz_rc append_transition(struct kz_audit *a, const struct kz_transition *t, bool starts,
				    struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_TRANSITION);
	bool is_known = false;
	int64_t closed = 0;
	enum kz_rc rc;

	if (!r)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	put_transition(r, t);
	rc = closed_seq(a, t->store, &closed, err);
	if (rc != KZ_OK || t->seq <= closed)
		return rc;
	rc = known(a, r, &is_known, err);
	if (rc != KZ_OK || is_known)
		return rc;
	if (starts)
		rc = note_start(a, t, err);
	return rc == KZ_OK ? kz_audit_append(a, r, err) : rc;
}

enum kz_rc kz_audit_transitions(struct kz_audit *a, const struct kz_transition *t, size_t count,
				bool starts, struct kz_err *err)
{
	enum kz_rc rc;

	if (count == 0)
		return KZ_OK;
	rc = kz_audit_begin(a, err);
	if (rc != KZ_OK)
		return kz_audit_fail(err);
	for (size_t i = 0; rc == KZ_OK && i < count; i++)
		rc = append_transition(a, &t[i], starts && i == 0, err);
	if (rc != KZ_OK)
		kz_audit_rollback(a);
	else
		rc = kz_audit_commit(a, err);
	return rc == KZ_OK ? KZ_OK : kz_audit_fail(err);
}
