/* Verification: closed files, the head, counts, and the report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/audit/verify_parts.h"

/* in: id -1 leaves it out */
void kz_verify_problem(struct kz_verify *c, const char *code, int64_t id, int64_t expected,
		       const char *text)
{
	struct kz_json *o;

	if (c->problem_count++ >= KZ_VERIFY_TOLD)
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

int64_t kz_verify_number(const struct kz_audit_row *r, const char *col)
{
	const struct kz_audit_value *v = kz_audit_row_get(r, col);

	return v && v->is == KZ_AUDIT_V_INT ? v->n : -1;
}

const char *kz_verify_text(const struct kz_audit_row *r, const char *col)
{
	const struct kz_audit_value *v = kz_audit_row_get(r, col);

	return v && v->is == KZ_AUDIT_V_TEXT ? v->text : "";
}

enum kz_rc kz_verify_add_file(struct kz_verify *c, const struct kz_audit_row *r, struct kz_err *err)
{
	struct kz_verify_file *f = NULL;

	for (size_t i = 0; i < c->file_count; i++)
		if (c->files[i].first == kz_verify_number(r, "first_id") &&
		    c->files[i].last == kz_verify_number(r, "last_id"))
			f = &c->files[i];
	if (!f) {
		struct kz_verify_file *grown =
			realloc(c->files, (c->file_count + 1) * sizeof(*grown));

		if (!grown)
			return kz_err_set(err, KZ_E_OS, "out of memory");
		c->files = grown;
		f = &grown[c->file_count++];
		memset(f, 0, sizeof(*f));
		f->first = kz_verify_number(r, "first_id");
		f->last = kz_verify_number(r, "last_id");
	}
	kz_str_copy(f->sha256, sizeof(f->sha256), kz_verify_text(r, "file_sha256"), NULL);
	if (r->kind == KZ_AUDIT_REMOVED)
		f->is_removed = true;
	else
		kz_str_copy(f->last_hash, sizeof(f->last_hash), kz_verify_text(r, "last_hash"),
			    NULL);
	return KZ_OK;
}

/* Rows of a kind without an entry in the chain, or the reverse. */
enum kz_rc kz_verify_counts(struct kz_verify *c, struct kz_db *db, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (int k = 0; rc == KZ_OK && k < KZ_AUDIT_KINDS; k++) {
		const struct kz_audit_table *t = kz_audit_table((enum kz_audit_kind)k);
		int64_t rows = 0, stray = 0;
		bool has = false;
		char sql[256];

		/* A file of an older form holds no rows of a kind that came later. */
		rc = kz_audit_has(db, t->name, NULL, &has, err);
		if (rc != KZ_OK || !has)
			continue;
		snprintf(
			sql, sizeof(sql),
			"SELECT count(*) FROM %s WHERE id NOT IN (SELECT id FROM entry WHERE kind = '%s')",
			t->name, t->name);
		rc = kz_db_int(db, sql, 0, &rows, err);
		if (rc == KZ_OK && t->child)
			rc = kz_audit_has(db, t->child->name, NULL, &has, err);
		if (rc == KZ_OK && t->child && has) {
			snprintf(sql, sizeof(sql),
				 "SELECT count(*) FROM %s WHERE id NOT IN (SELECT id FROM %s)",
				 t->child->name, t->name);
			rc = kz_db_int(db, sql, 0, &stray, err);
		}
		if (rows + stray > 0)
			kz_verify_problem(c, "stray_rows", rows + stray, 0,
					  "rows that the chain does not hold");
	}
	return rc;
}

void kz_verify_closed(struct kz_verify *c)
{
	for (size_t i = 0; i < c->view->closed_count; i++) {
		const struct kz_verify_file *f = NULL;
		char name[48], sha[KZ_SHA256_HEX] = "";

		for (size_t k = 0; k < c->file_count; k++)
			if (c->files[k].first == c->view->closed[i]) {
				f = &c->files[k];
				c->files[k].is_seen = true;
			}
		kz_audit_segment_name(c->view->closed[i], name);
		if (!f)
			kz_verify_problem(c, "segment_unknown", c->view->closed[i], 0,
					  "the chain names no closed file that starts here");
		else if (kz_audit_file_sha256(c->view->dir, name, sha, NULL) != KZ_OK ||
			 strcmp(sha, f->sha256) != 0)
			kz_verify_problem(c, "segment_changed", f->first, f->last,
					  "a closed file is not what it was when it was closed");
	}
	for (size_t k = 0; k < c->file_count; k++)
		if (!c->files[k].is_seen && !c->files[k].is_removed)
			kz_verify_problem(
				c, "segment_missing", c->files[k].first, c->files[k].last,
				"a closed file is gone and no row says that it was removed");
}

void kz_verify_head(struct kz_verify *c)
{
	const struct kz_audit_head *h = &c->view->head;

	if (!h->is_present) {
		if (c->rows)
			kz_verify_problem(c, "head_missing", c->id, 0,
					  "the head outside the store is gone or malformed");
	} else if (h->id > c->id) {
		kz_verify_problem(c, "tail_cut", c->id, h->id,
				  "the newest rows that were committed are gone");
	} else if (h->id > 0 && !c->head_found) {
		kz_verify_problem(c, "head_differs", h->id, h->id,
				  "the row that the head names is another one");
	}
}

enum kz_rc kz_verify_report(const struct kz_verify *c, struct kz_json **report, struct kz_err *err)
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
	kz_json_set(o, "joined", kz_json_ref(c->joined));
	kz_json_set(o, "problems", kz_json_ref(c->problems));
	kz_json_set_int(o, "more_problems",
			c->problem_count > KZ_VERIFY_TOLD ? c->problem_count - KZ_VERIFY_TOLD : 0);
	*report = o;
	return KZ_OK;
}
