/* Verification of the chain. */
#include "core/audit/verify.h"

#include <string.h>

#include "base/str.h"
#include "core/audit/verify_parts.h"

static struct kz_verify_seq *find_store(struct kz_verify *c, const char *store)
{
	struct kz_verify_seq *grown;

	for (size_t i = 0; i < c->store_count; i++)
		if (strcmp(c->stores[i].store, store) == 0)
			return &c->stores[i];
	grown = realloc(c->stores, (c->store_count + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	c->stores = grown;
	grown += c->store_count++;
	memset(grown, 0, sizeof(*grown));
	kz_str_copy(grown->store, sizeof(grown->store), store, NULL);
	return grown;
}

static enum kz_rc check_seq(struct kz_verify *c, const struct kz_audit_row *r, struct kz_err *err)
{
	struct kz_verify_seq *s = find_store(c, kz_verify_text(r, "store"));
	int64_t seq = kz_verify_number(r, "seq");

	if (!s)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	if (seq != s->seq + 1)
		kz_verify_problem(c, "transition_gap", r->id, s->seq + 1,
				  "Valkey numbered a transition that is not in the store");
	s->seq = seq;
	return KZ_OK;
}

/* A node that was away, or came late: what lies between went to the stores of other nodes. */
static enum kz_rc take_joined(struct kz_verify *c, const struct kz_audit_row *r, struct kz_err *err)
{
	struct kz_verify_seq *s = find_store(c, kz_verify_text(r, "store"));
	int64_t seq = kz_verify_number(r, "seq");
	struct kz_json *o;

	if (!s)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	if (seq <= s->seq) {
		kz_verify_problem(c, "transition_gap", r->id, s->seq + 1,
				  "a row says that transitions are elsewhere which are here");
		return KZ_OK;
	}
	if (kz_json_count(c->joined) < KZ_VERIFY_TOLD && (o = kz_json_object())) {
		kz_json_set_int(o, "id", r->id);
		kz_json_set_str(o, "store", s->store);
		kz_json_set_int(o, "from", s->seq + 1);
		kz_json_set_int(o, "to", seq - 1);
		kz_json_append(c->joined, o);
	}
	s->seq = seq - 1;
	return KZ_OK;
}

/* The oldest row that is left continues a file that was removed by age: it names its end. */
static enum kz_rc start_after_removal(struct kz_verify *c, const struct kz_audit_row *r,
				      struct kz_err *err)
{
	struct kz_verify_seq *s;

	if (r->kind != KZ_AUDIT_SEGMENT || kz_verify_number(r, "last_id") != r->id - 1) {
		kz_verify_problem(c, "start_missing", r->id, 1,
				  "the rows before the first one are gone");
		return KZ_OK;
	}
	kz_str_copy(c->hash, sizeof(c->hash), kz_verify_text(r, "last_hash"), NULL);
	c->id = r->id - 1;
	if (!kz_verify_text(r, "store")[0])
		return KZ_OK;
	s = find_store(c, kz_verify_text(r, "store"));
	if (!s)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	s->seq = kz_verify_number(r, "seq");
	return KZ_OK;
}

static void check_number(struct kz_verify *c, const struct kz_audit_row *r)
{
	bool is_break = r->kind == KZ_AUDIT_BROKEN && kz_verify_number(r, "found_id") == c->id;

	if (r->id != c->id + 1 && !is_break)
		kz_verify_problem(c, "rows_missing", r->id, c->id + 1,
				  "rows before this one are gone");
	if (r->kind == KZ_AUDIT_BROKEN)
		kz_verify_problem(c, "broken_before", r->id, kz_verify_number(r, "head_id"),
				  "a writer found that committed rows were gone or the head was");
}

static enum kz_rc check_row(struct kz_verify *c, struct kz_audit_row *r, struct kz_err *err)
{
	char stored[KZ_SHA256_HEX];
	enum kz_rc rc = KZ_OK;

	if (!c->has_start) {
		c->has_start = true;
		c->start = r->id;
		/* A new file after the old one was lost begins with the row that says so. */
		if (r->id > 1 &&
		    !(r->kind == KZ_AUDIT_BROKEN && kz_verify_number(r, "found_id") == 0))
			rc = start_after_removal(c, r, err);
	}
	if (rc != KZ_OK)
		return rc;
	memcpy(stored, r->hash, sizeof(stored));
	check_number(c, r);
	kz_audit_row_seal(r, c->hash);
	if (strcmp(stored, r->hash) != 0)
		kz_verify_problem(c, "row_changed", r->id, r->id,
				  "this row, or the one before it, is not what was written");
	memcpy(c->hash, stored, sizeof(c->hash));
	c->id = r->id;
	c->rows++;
	if (c->view->head.is_present && r->id == c->view->head.id)
		c->head_found = strcmp(stored, c->view->head.hash) == 0;
	if (r->kind == KZ_AUDIT_SEGMENT || r->kind == KZ_AUDIT_REMOVED)
		rc = kz_verify_add_file(c, r, err);
	if (rc == KZ_OK && r->kind == KZ_AUDIT_JOINED)
		rc = take_joined(c, r, err);
	return rc == KZ_OK && r->kind == KZ_AUDIT_TRANSITION ? check_seq(c, r, err) : rc;
}

static enum kz_rc check_db(struct kz_verify *c, struct kz_db *db, struct kz_err *err)
{
	kz_auto_cursor struct kz_audit_cursor *cur = NULL;
	enum kz_rc rc = kz_audit_cursor_new(&cur, db, 0, err);

	while (rc == KZ_OK) {
		kz_auto_audit_row struct kz_audit_row *r = NULL;

		rc = kz_audit_cursor_next(cur, &r, err);
		if (rc != KZ_OK || !r)
			break;
		rc = check_row(c, r, err);
	}
	return rc == KZ_OK ? kz_verify_counts(c, db, err) : rc;
}

/* A file that SQLite cannot read is a broken chain, not a failure of ours. */
static enum kz_rc check_file(struct kz_verify *c, struct kz_db *db, struct kz_err *err)
{
	enum kz_rc rc = db ? check_db(c, db, err) : KZ_E_IO;

	if (rc == KZ_OK || rc == KZ_E_OS)
		return rc;
	kz_verify_problem(c, "unreadable", c->id, c->id + 1, "a segment cannot be read to its end");
	return KZ_OK;
}

static enum kz_rc check_segments(struct kz_verify *c, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; rc == KZ_OK && i < c->view->closed_count; i++) {
		kz_auto_db struct kz_db *db = NULL;

		(void)kz_audit_view_segment(c->view, i, &db, NULL);
		rc = check_file(c, db, err);
	}
	return rc == KZ_OK && c->view->db ? check_file(c, c->view->db, err) : rc;
}

enum kz_rc kz_audit_verify(const char *path, struct kz_json **report, struct kz_err *err)
{
	kz_auto_audit_view struct kz_audit_view v = { .dir = -1, .lock = -1 };
	kz_auto_json struct kz_json *problems = kz_json_array(), *joined = kz_json_array();
	struct kz_verify c = {
		.view = &v, .problems = problems, .joined = joined, .hash = KZ_AUDIT_GENESIS
	};
	enum kz_rc rc = kz_audit_view_open(&v, path, err);

	if (rc == KZ_OK && (!problems || !joined))
		rc = kz_err_set(err, KZ_E_OS, "out of memory");
	if (rc == KZ_OK)
		rc = check_segments(&c, err);
	if (rc == KZ_OK) {
		kz_verify_closed(&c);
		kz_verify_head(&c);
		rc = kz_verify_report(&c, report, err);
	}
	free(c.files);
	free(c.stores);
	return rc == KZ_OK ? KZ_OK : kz_audit_fail(err);
}
