/* Verification of the chain. */
#include "core/audit/verify.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/audit/view.h"

#define PROBLEMS_TOLD 100

/* A closed file as the chain names it. */
struct known_file {
	int64_t first, last;
	char sha256[KZ_SHA256_HEX], last_hash[KZ_SHA256_HEX];
	bool is_removed; /* by a row that says so */
	bool is_seen;    /* the file is there */
};

/* The last number of a store's transitions. */
struct store_seq {
	char store[KZ_ID_HEX];
	int64_t seq;
};

struct check {
	const struct kz_audit_view *view;
	struct kz_json *problems;
	int64_t problem_count, rows;
	int64_t id;               /* last row passed */
	char hash[KZ_SHA256_HEX]; /* its hash */
	bool has_start;
	int64_t start; /* first row there is */
	bool head_found;
	struct known_file *files;
	size_t file_count;
	struct store_seq *stores;
	size_t store_count;
};

/* in: id -1 leaves it out */
static void problem(struct check *c, const char *code, int64_t id, int64_t expected,
		    const char *text)
{
	struct kz_json *o;

	if (c->problem_count++ >= PROBLEMS_TOLD)
		return;
	o = kz_json_object();
	if (o) {
		kz_json_set_str(o, "code", code);
		kz_json_set_int(o, "id", id);
		kz_json_set_int(o, "expected", expected);
		kz_json_set_str(o, "text", text);
	}
	kz_json_append(c->problems, o);
}

static int64_t number(const struct kz_audit_row *r, const char *col)
{
	const struct kz_audit_value *v = kz_audit_row_get(r, col);

	return v && v->is == KZ_AUDIT_V_INT ? v->n : -1;
}

static const char *text(const struct kz_audit_row *r, const char *col)
{
	const struct kz_audit_value *v = kz_audit_row_get(r, col);

	return v && v->is == KZ_AUDIT_V_TEXT ? v->text : "";
}

static enum kz_rc add_file(struct check *c, const struct kz_audit_row *r, struct kz_err *err)
{
	struct known_file *f = NULL;

	for (size_t i = 0; i < c->file_count; i++)
		if (c->files[i].first == number(r, "first_id") &&
		    c->files[i].last == number(r, "last_id"))
			f = &c->files[i];
	if (!f) {
		struct known_file *grown = realloc(c->files, (c->file_count + 1) * sizeof(*grown));

		if (!grown)
			return kz_err_set(err, KZ_E_OS, "out of memory");
		c->files = grown;
		f = &grown[c->file_count++];
		memset(f, 0, sizeof(*f));
		f->first = number(r, "first_id");
		f->last = number(r, "last_id");
	}
	kz_str_copy(f->sha256, sizeof(f->sha256), text(r, "file_sha256"), NULL);
	if (r->kind == KZ_AUDIT_REMOVED)
		f->is_removed = true;
	else
		kz_str_copy(f->last_hash, sizeof(f->last_hash), text(r, "last_hash"), NULL);
	return KZ_OK;
}

static struct store_seq *find_store(struct check *c, const char *store)
{
	struct store_seq *grown;

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

static enum kz_rc check_seq(struct check *c, const struct kz_audit_row *r, struct kz_err *err)
{
	struct store_seq *s = find_store(c, text(r, "store"));
	int64_t seq = number(r, "seq");

	if (!s)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	if (seq != s->seq + 1)
		problem(c, "transition_gap", r->id, s->seq + 1,
			"Valkey numbered a transition that is not in the store");
	s->seq = seq;
	return KZ_OK;
}

/* The oldest row that is left continues a file that was removed by age: it names its end. */
static enum kz_rc start_after_removal(struct check *c, const struct kz_audit_row *r,
				      struct kz_err *err)
{
	struct store_seq *s;

	if (r->kind != KZ_AUDIT_SEGMENT || number(r, "last_id") != r->id - 1) {
		problem(c, "start_missing", r->id, 1, "the rows before the first one are gone");
		return KZ_OK;
	}
	kz_str_copy(c->hash, sizeof(c->hash), text(r, "last_hash"), NULL);
	c->id = r->id - 1;
	if (!text(r, "store")[0])
		return KZ_OK;
	s = find_store(c, text(r, "store"));
	if (!s)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	s->seq = number(r, "seq");
	return KZ_OK;
}

static void check_number(struct check *c, const struct kz_audit_row *r)
{
	bool is_break = r->kind == KZ_AUDIT_BROKEN && number(r, "found_id") == c->id;

	if (r->id != c->id + 1 && !is_break)
		problem(c, "rows_missing", r->id, c->id + 1, "rows before this one are gone");
	if (r->kind == KZ_AUDIT_BROKEN)
		problem(c, "broken_before", r->id, number(r, "head_id"),
			"a writer found that committed rows were gone or the head was");
}

static enum kz_rc check_row(struct check *c, struct kz_audit_row *r, struct kz_err *err)
{
	char stored[KZ_SHA256_HEX];
	enum kz_rc rc = KZ_OK;

	if (!c->has_start) {
		c->has_start = true;
		c->start = r->id;
		/* A new file after the old one was lost begins with the row that says so. */
		if (r->id > 1 && !(r->kind == KZ_AUDIT_BROKEN && number(r, "found_id") == 0))
			rc = start_after_removal(c, r, err);
	}
	if (rc != KZ_OK)
		return rc;
	memcpy(stored, r->hash, sizeof(stored));
	check_number(c, r);
	kz_audit_row_seal(r, c->hash);
	if (strcmp(stored, r->hash) != 0)
		problem(c, "row_changed", r->id, r->id,
			"this row, or the one before it, is not what was written");
	memcpy(c->hash, stored, sizeof(c->hash));
	c->id = r->id;
	c->rows++;
	if (c->view->head.is_present && r->id == c->view->head.id)
		c->head_found = strcmp(stored, c->view->head.hash) == 0;
	if (r->kind == KZ_AUDIT_SEGMENT || r->kind == KZ_AUDIT_REMOVED)
		rc = add_file(c, r, err);
	return rc == KZ_OK && r->kind == KZ_AUDIT_TRANSITION ? check_seq(c, r, err) : rc;
}

/* Rows of a kind without an entry in the chain, or the reverse. */
static enum kz_rc check_counts(struct check *c, struct kz_db *db, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (int k = 0; rc == KZ_OK && k < KZ_AUDIT_KINDS; k++) {
		const struct kz_audit_table *t = kz_audit_table((enum kz_audit_kind)k);
		int64_t rows = 0, stray = 0;
		char sql[256];

		snprintf(
			sql, sizeof(sql),
			"SELECT count(*) FROM %s WHERE id NOT IN (SELECT id FROM entry WHERE kind = '%s')",
			t->name, t->name);
		rc = kz_db_int(db, sql, 0, &rows, err);
		if (rc == KZ_OK && t->child) {
			snprintf(sql, sizeof(sql),
				 "SELECT count(*) FROM %s WHERE id NOT IN (SELECT id FROM %s)",
				 t->child->name, t->name);
			rc = kz_db_int(db, sql, 0, &stray, err);
		}
		if (rows + stray > 0)
			problem(c, "stray_rows", rows + stray, 0,
				"rows that the chain does not hold");
	}
	return rc;
}

static enum kz_rc check_db(struct check *c, struct kz_db *db, struct kz_err *err)
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
	return rc == KZ_OK ? check_counts(c, db, err) : rc;
}

/* A file that SQLite cannot read is a broken chain, not a failure of ours. */
static enum kz_rc check_file(struct check *c, struct kz_db *db, struct kz_err *err)
{
	enum kz_rc rc = db ? check_db(c, db, err) : KZ_E_IO;

	if (rc == KZ_OK || rc == KZ_E_OS)
		return rc;
	problem(c, "unreadable", c->id, c->id + 1, "a segment cannot be read to its end");
	return KZ_OK;
}

static enum kz_rc check_segments(struct check *c, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; rc == KZ_OK && i < c->view->closed_count; i++) {
		kz_auto_db struct kz_db *db = NULL;

		(void)kz_audit_view_segment(c->view, i, &db, NULL);
		rc = check_file(c, db, err);
	}
	return rc == KZ_OK && c->view->db ? check_file(c, c->view->db, err) : rc;
}

static void check_closed(struct check *c)
{
	for (size_t i = 0; i < c->view->closed_count; i++) {
		const struct known_file *f = NULL;
		char name[48], sha[KZ_SHA256_HEX] = "";

		for (size_t k = 0; k < c->file_count; k++)
			if (c->files[k].first == c->view->closed[i]) {
				f = &c->files[k];
				c->files[k].is_seen = true;
			}
		kz_audit_segment_name(c->view->closed[i], name);
		if (!f)
			problem(c, "segment_unknown", c->view->closed[i], 0,
				"the chain names no closed file that starts here");
		else if (kz_audit_file_sha256(c->view->dir, name, sha, NULL) != KZ_OK ||
			 strcmp(sha, f->sha256) != 0)
			problem(c, "segment_changed", f->first, f->last,
				"a closed file is not what it was when it was closed");
	}
	for (size_t k = 0; k < c->file_count; k++)
		if (!c->files[k].is_seen && !c->files[k].is_removed)
			problem(c, "segment_missing", c->files[k].first, c->files[k].last,
				"a closed file is gone and no row says that it was removed");
}

static void check_head(struct check *c)
{
	const struct kz_audit_head *h = &c->view->head;

	if (!h->is_present) {
		if (c->rows)
			problem(c, "head_missing", c->id, 0,
				"the head outside the store is gone or malformed");
	} else if (h->id > c->id) {
		problem(c, "tail_cut", c->id, h->id,
			"the newest rows that were committed are gone");
	} else if (h->id > 0 && !c->head_found) {
		problem(c, "head_differs", h->id, h->id,
			"the row that the head names is another one");
	}
}

static enum kz_rc make_report(const struct check *c, struct kz_json **report, struct kz_err *err)
{
	struct kz_json *o = kz_json_object();

	if (!o)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "audit_verify");
	kz_json_set_bool(o, "ok", c->problem_count == 0);
	kz_json_set_int(o, "rows", c->rows);
	kz_json_set_int(o, "first", c->has_start ? c->start : 0);
	kz_json_set_int(o, "last", c->id);
	kz_json_set_str(o, "last_hash", c->hash);
	kz_json_set_int(o, "segments", (int64_t)c->view->closed_count + (c->view->db != NULL));
	/* Rows committed after the head was last written: a writer was killed in between. */
	kz_json_set_int(o, "head_lag",
			c->view->head.is_present && c->id > c->view->head.id ?
				c->id - c->view->head.id :
				0);
	kz_json_set(o, "problems", kz_json_ref(c->problems));
	kz_json_set_int(o, "more_problems",
			c->problem_count > PROBLEMS_TOLD ? c->problem_count - PROBLEMS_TOLD : 0);
	*report = o;
	return KZ_OK;
}

enum kz_rc kz_audit_verify(const char *path, struct kz_json **report, struct kz_err *err)
{
	kz_auto_audit_view struct kz_audit_view v = { .dir = -1, .lock = -1 };
	kz_auto_json struct kz_json *problems = kz_json_array();
	struct check c = { .view = &v, .problems = problems, .hash = KZ_AUDIT_GENESIS };
	enum kz_rc rc = kz_audit_view_open(&v, path, err);

	if (rc == KZ_OK && !problems)
		rc = kz_err_set(err, KZ_E_OS, "out of memory");
	if (rc == KZ_OK)
		rc = check_segments(&c, err);
	if (rc == KZ_OK) {
		check_closed(&c);
		check_head(&c);
		rc = make_report(&c, report, err);
	}
	free(c.files);
	free(c.stores);
	return rc == KZ_OK ? KZ_OK : kz_audit_fail(err);
}
