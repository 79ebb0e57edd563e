/* Rows of all segments through a filter. */
#include "core/audit/read.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/audit/view.h"
#include "rule/reason.h"

/* Decides about one row. */
typedef bool (*want_fn)(const void *arg, const struct kz_audit_row *r);

struct walk {
	want_fn want;
	const void *want_arg;
	kz_audit_sink sink;
	void *sink_arg;
	int64_t skip; /* wanted rows to pass over first */
	int64_t count;
};

static bool has_text(const struct kz_audit_row *r, const char *col, const char *text)
{
	const struct kz_audit_value *v = kz_audit_row_get(r, col);

	return v && v->is == KZ_AUDIT_V_TEXT && strcmp(v->text, text) == 0;
}

static bool passes(const void *arg, const struct kz_audit_row *r)
{
	const struct kz_audit_filter *f = arg;
	const char *const want[][2] = {
		{ "run", f->run },
		{ "worker", f->worker },
		{ "lease", f->lease },
		{ "actor", f->actor },
		{ "conversation", f->conversation },
	};

	if (f->kind && strcmp(kz_audit_table(r->kind)->name, f->kind) != 0)
		return false;
	if (r->at_ms < f->since_ms)
		return false;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (want[i][1] && !has_text(r, want[i][0], want[i][1]))
			return false;
	return !f->reason || has_text(r, "reason", f->reason) || has_text(r, "cause", f->reason);
}

static enum kz_rc walk_db(struct kz_db *db, struct walk *w, struct kz_err *err)
{
	kz_auto_cursor struct kz_audit_cursor *c = NULL;
	enum kz_rc rc = kz_audit_cursor_new(&c, db, 0, err);

	while (rc == KZ_OK) {
		kz_auto_audit_row struct kz_audit_row *r = NULL;

		rc = kz_audit_cursor_next(c, &r, err);
		if (rc != KZ_OK || !r)
			break;
		if (!w->want(w->want_arg, r) || w->skip-- > 0)
			continue;
		w->count++;
		if (w->sink)
			rc = w->sink(w->sink_arg, kz_audit_row_json(r), err);
	}
	return rc;
}

static enum kz_rc walk_view(const struct kz_audit_view *v, struct walk *w, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; rc == KZ_OK && i < v->closed_count; i++) {
		kz_auto_db struct kz_db *db = NULL;

		rc = kz_audit_view_segment(v, i, &db, err);
		if (rc == KZ_OK)
			rc = walk_db(db, w, err);
	}
	return rc == KZ_OK && v->db ? walk_db(v->db, w, err) : rc;
}

enum kz_rc kz_audit_each(const char *path, const struct kz_audit_filter *f, kz_audit_sink sink,
			 void *arg, struct kz_err *err)
{
	kz_auto_audit_view struct kz_audit_view v = { .dir = -1, .lock = -1 };
	struct walk count = { .want = passes, .want_arg = f };
	struct walk w = { .want = passes, .want_arg = f, .sink = sink, .sink_arg = arg };
	enum kz_rc rc;

	if (f->kind && kz_audit_kind_find(f->kind) < 0)
		return kz_refuse(
			err, KZ_R_USAGE,
			"there is no kind of audit row called %.40s (man kz-audit lists them)",
			f->kind);
	rc = kz_audit_view_open(&v, path, err);
	if (rc == KZ_OK && f->last > 0) {
		rc = walk_view(&v, &count, err);
		w.skip = count.count > f->last ? count.count - f->last : 0;
	}
	if (rc == KZ_OK)
		rc = walk_view(&v, &w, err);
	return rc == KZ_OK ? KZ_OK : kz_audit_fail(err);
}

/* One run and the lease that its dispatch names. */
struct about {
	const char *run;
	char lease[KZ_ID_HEX];
};

static bool is_dispatch(const void *arg, const struct kz_audit_row *r)
{
	const struct about *a = arg;

	return r->kind == KZ_AUDIT_DISPATCH && has_text(r, "run", a->run);
}

static bool is_about(const void *arg, const struct kz_audit_row *r)
{
	const struct about *a = arg;

	return has_text(r, "run", a->run) || (a->lease[0] && has_text(r, "lease", a->lease));
}

static enum kz_rc note_lease(void *arg, struct kz_json *j, struct kz_err *err)
{
	struct about *a = arg;
	enum kz_rc rc = kz_str_copy(a->lease, sizeof(a->lease), kz_json_str(j, "lease", ""), err);

	kz_json_free(j);
	return rc;
}

enum kz_rc kz_audit_show(const char *path, const char *run, kz_audit_sink sink, void *arg,
			 int64_t *count, struct kz_err *err)
{
	kz_auto_audit_view struct kz_audit_view v = { .dir = -1, .lock = -1 };
	struct about about = { .run = run, .lease = "" };
	struct walk find = {
		.want = is_dispatch, .want_arg = &about, .sink = note_lease, .sink_arg = &about
	};
	struct walk w = { .want = is_about, .want_arg = &about, .sink = sink, .sink_arg = arg };
	enum kz_rc rc = kz_audit_view_open(&v, path, err);

	if (rc == KZ_OK)
		rc = walk_view(&v, &find, err);
	if (rc == KZ_OK)
		rc = walk_view(&v, &w, err);
	*count = w.count;
	return rc == KZ_OK ? KZ_OK : kz_audit_fail(err);
}
