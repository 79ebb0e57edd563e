/* All sections: prepared, then their effects, then the book. */
#include "rule/hashline_apply.h"

#include <stdlib.h>
#include <string.h>

#include "rule/hashline_job.h"
#include "rule/hashline_show.h"
#include "rule/reason.h"
#include "rule/tag.h"

#define CONTEXT_AROUND 2
#define CONTEXT_ROWS 60
#define CONTEXT_ROW 512
#define CONTEXT_BYTES (256u << 10)

void kz_effects_release(struct kz_effects *x)
{
	for (size_t i = 0; i < x->count; i++) {
		kz_buf_release(&x->effect[i].bytes);
		kz_buf_release(&x->effect[i].context);
		kz_buf_release(&x->effect[i].notes);
	}
	free(x->effect);
	*x = (struct kz_effects){ NULL, 0 };
}

static const struct kz_edit_file *file_of(const struct kz_edit_file *f, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(f[i].path, path) == 0)
			return &f[i];
	return NULL;
}

static void job_release(struct kz_job *j)
{
	kz_text_release(&j->old);
	kz_text_release(&j->now);
	kz_buf_release(&j->normal);
	kz_buf_release(&j->notes);
	free(j->map);
	free(j->content);
}

static enum kz_rc job_open(struct kz_job *j, const struct kz_book *b, struct kz_err *err)
{
	enum kz_rc rc;

	kz_buf_init(&j->normal, KZ_TEXT_MAX);
	kz_buf_init(&j->notes, KZ_EDIT_NOTES);
	j->page = kz_book_find(b, j->s->path);
	if (!j->page)
		return kz_refuse(err, KZ_R_UNKNOWN_TAG,
				 "%s: no tag was given for it here; read it "
				 "first",
				 j->s->path);
	if (!j->file || !j->file->exists)
		return kz_refuse(err, KZ_R_FILE_MISSING, "%s: there is no such file", j->s->path);
	j->content = calloc(j->s->hunks + 1, sizeof *j->content);
	if (!j->content)
		return kz_err_set(err, KZ_E_OS, "no memory for an edit");
	rc = kz_text_split(j->file->bytes, j->file->n, &j->now, err);
	if (rc != KZ_OK)
		return kz_err_wrap(err, "%s", j->s->path);
	rc = kz_text_normal(&j->now, &j->normal, err);
	if (rc == KZ_OK && j->s->notes.len)
		rc = kz_buf_add(&j->notes, j->s->notes.data, j->s->notes.len, err);
	if (rc == KZ_OK)
		rc = kz_job_choose(j, err);
	if (rc == KZ_OK)
		rc = kz_job_check(j, err);
	if (rc == KZ_OK)
		rc = kz_job_tell_apart(j, err);
	if (rc == KZ_OK)
		rc = kz_job_locate(j, err);
	return rc == KZ_OK ? kz_job_echo(j, err) : rc;
}

/* Does a name stand for a file after the effects so far? */
static bool exists_now(const struct kz_effects *x, const struct kz_edit_file *f, size_t n,
		       const char *path)
{
	const struct kz_edit_file *file = file_of(f, n, path);
	bool exists = file && file->exists;

	for (size_t i = 0; i < x->count; i++) {
		const struct kz_effect *a = &x->effect[i];

		if (a->op != KZ_EFFECT_EDIT && strcmp(a->path, path) == 0)
			exists = false;
		if (a->op == KZ_EFFECT_MOVE && strcmp(a->dest, path) == 0)
			exists = true;
	}
	return exists;
}

/* Which lines of the file as it is are known to the caller? mark: a byte a line */
static void mark_known(const struct kz_job *j, uint8_t *mark)
{
	const struct kz_spans *seen = &j->base->seen;

	for (unsigned i = 0; i < j->page->count; i++) {
		const struct kz_version *v = &j->page->version[i];

		if (v->n == j->normal.len && memcmp(v->text, kz_buf_str(&j->normal), v->n) == 0)
			kz_spans_mark(&v->seen, mark, j->now.count);
	}
	for (size_t i = 0; i < seen->count && j->map; i++)
		for (uint32_t n = seen->span[i].from; n <= seen->span[i].to; n++)
			if (j->map[n - 1])
				mark[j->map[n - 1] - 1] = 1;
}

/* The lines that differ: first..last of the new text, last < first when some are only gone. */
static void changed(const struct kz_job *j, const struct kz_result *r, uint32_t *first,
		    uint32_t *last)
{
	const struct kz_text *t = &j->now;
	uint32_t head = 0, tail = 0;

	while (head < r->count && head < t->count &&
	       kz_row_same(kz_line_row(&r->line[head].l), kz_line_row(&t->line[head])))
		head++;
	while (tail < r->count - head && tail < t->count - head &&
	       kz_row_same(kz_line_row(&r->line[r->count - 1 - tail].l),
			   kz_line_row(&t->line[t->count - 1 - tail])))
		tail++;
	*first = head + 1;
	*last = r->count - tail;
}

/* Numbered lines around the change; what is shown exactly is known. mark: a byte a line of the result */
static enum kz_rc context(const struct kz_result *r, uint32_t first, uint32_t last, uint8_t *mark,
			  struct kz_effect *x, struct kz_err *err)
{
	uint32_t from = first > CONTEXT_AROUND ? first - CONTEXT_AROUND : 1;
	uint32_t to = last < first ? first - 1 : last;
	enum kz_rc rc = KZ_OK;

	to = to + CONTEXT_AROUND < r->count ? to + CONTEXT_AROUND : r->count;
	for (uint32_t n = from; n <= to && rc == KZ_OK; n++) {
		bool exact = false;

		if (to - from >= CONTEXT_ROWS && n == from + CONTEXT_ROWS * 2 / 3) {
			rc = kz_buf_puts(&x->context, "...\n", err);
			n = to - CONTEXT_ROWS / 3;
			continue;
		}
		rc = kz_show_row(n, kz_line_row(&r->line[n - 1].l), CONTEXT_ROW, &x->context,
				 &exact, err);
		if (exact)
			mark[n - 1] = 1;
	}
	return rc;
}

/* The bytes of the result, and that they read back as its lines. */
static enum kz_rc write_out(const struct kz_job *j, const struct kz_result *r, struct kz_effect *x,
			    struct kz_err *err)
{
	struct kz_text t = { .has_bom = j->now.has_bom, .count = r->count };
	enum kz_rc rc = KZ_OK;

	t.line = malloc((r->count + 1u) * sizeof *t.line);
	if (!t.line)
		return kz_err_set(err, KZ_E_OS, "no memory for the new text");
	for (uint32_t i = 0; i < r->count; i++)
		t.line[i] = r->line[i].l;
	rc = kz_text_join(&t, &x->bytes, err);
	kz_text_release(&t);
	if (rc == KZ_E_DATA)
		return kz_refuse(err, KZ_R_FILE_TOO_LARGE, "%s: the edit makes it too large",
				 j->s->path);
	return rc;
}

/* Note the new text in the book, with the lines that the caller knows of it. */
static enum kz_rc note_text(struct kz_job *j, struct kz_book *b, struct kz_effect *x,
			    const uint8_t *mark, uint32_t count, struct kz_err *err)
{
	kz_auto_text struct kz_text t = { NULL, 0, false };
	kz_auto_buf struct kz_buf normal = KZ_BUF_INIT(KZ_TEXT_MAX);
	kz_auto_spans struct kz_spans seen = { NULL, 0, 0 };
	enum kz_rc rc = kz_text_split(kz_buf_str(&x->bytes), x->bytes.len, &t, err);

	if (rc == KZ_OK && t.count != count)
		return kz_refuse(err, KZ_R_INTERNAL, "%s: the new text does not read back",
				 j->s->path);
	if (rc == KZ_OK)
		rc = kz_text_normal(&t, &normal, err);
	if (rc == KZ_OK)
		rc = kz_spans_add_marks(&seen, mark, count, err);
	if (rc == KZ_OK)
		rc = kz_book_show(b, j->s->path, kz_buf_str(&normal), normal.len, t.has_bom, count,
				  &seen, NULL, err);
	x->tag = kz_tag(kz_buf_str(&normal), normal.len);
	x->lines = count;
	return rc;
}

static enum kz_rc finish_text(struct kz_job *j, struct kz_book *b, const struct kz_result *r,
			      struct kz_effect *x, struct kz_err *err)
{
	kz_auto_free uint8_t *old = calloc((size_t)j->now.count + 1, 1);
	kz_auto_free uint8_t *mark = calloc((size_t)r->count + 1, 1);
	uint32_t first, last;
	enum kz_rc rc;

	if (!old || !mark)
		return kz_err_set(err, KZ_E_OS, "no memory for an edit");
	rc = write_out(j, r, x, err);
	if (rc != KZ_OK)
		return rc;
	if (!kz_row_same((struct kz_row){ kz_buf_str(&x->bytes), x->bytes.len },
			 (struct kz_row){ x->old, x->old_n })) {
		changed(j, r, &first, &last);
		x->first_changed = first;
		rc = context(r, first, last, mark, x, err);
	} else if (x->op == KZ_EFFECT_EDIT) {
		return kz_refuse(err, KZ_R_EDIT_NOOP, "%s: the edit changes nothing", j->s->path);
	}
	mark_known(j, old);
	for (uint32_t i = 0; i < r->count; i++)
		if (r->line[i].from == 0 || old[r->line[i].from - 1])
			mark[i] = 1;
	return rc == KZ_OK ? note_text(j, b, x, mark, r->count, err) : rc;
}

static enum kz_rc take_effect(struct kz_job *j, struct kz_book *b, struct kz_effect *x,
			      struct kz_err *err)
{
	struct kz_result r = { NULL, 0 };
	enum kz_rc rc;

	if (x->op == KZ_EFFECT_REMOVE) {
		kz_book_forget(b, j->s->path);
		return KZ_OK;
	}
	rc = kz_job_compose(j, &r, err);
	if (rc == KZ_OK)
		rc = finish_text(j, b, &r, x, err);
	free(r.line);
	if (rc == KZ_OK && x->op == KZ_EFFECT_MOVE)
		rc = kz_book_move(b, x->path, x->dest, err);
	return rc;
}

static struct kz_effect effect_of(struct kz_job *j)
{
	struct kz_effect x = { .op = KZ_EFFECT_EDIT, .path = j->s->path, .dest = j->s->dest };

	if (j->s->moves)
		x.op = KZ_EFFECT_MOVE;
	if (j->s->removes)
		x.op = KZ_EFFECT_REMOVE;
	x.old = j->file->bytes;
	x.old_n = j->file->n;
	kz_buf_init(&x.bytes, KZ_TEXT_MAX);
	kz_buf_init(&x.context, CONTEXT_BYTES);
	kz_buf_init(&x.notes, KZ_EDIT_NOTES);
	return x;
}

static enum kz_rc take_effects(struct kz_job *jobs, size_t n, struct kz_book *b,
			       const struct kz_edit_file *files, size_t count, struct kz_effects *x,
			       struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; i < n && rc == KZ_OK; i++) {
		const struct kz_section *s = jobs[i].s;

		if (!s->hunks && !s->removes && !s->moves)
			return kz_refuse(err, KZ_R_EDIT_NOOP, "%s: its section has no operation",
					 s->path);
		if (s->moves && exists_now(x, files, count, s->dest))
			return kz_refuse(err, KZ_R_TARGET_EXISTS, "%s: the name %s is taken",
					 s->path, s->dest);
		x->effect[x->count++] = effect_of(&jobs[i]);
		rc = take_effect(&jobs[i], b, &x->effect[i], err);
		if (rc == KZ_OK && jobs[i].notes.len)
			rc = kz_buf_add(&x->effect[i].notes, jobs[i].notes.data, jobs[i].notes.len,
					err);
	}
	return rc;
}

enum kz_rc kz_edit_apply(const struct kz_edit *e, struct kz_book *b,
			 const struct kz_edit_file *files, size_t count, struct kz_effects *x,
			 struct kz_err *err)
{
	struct kz_job *jobs = calloc(e->sections + 1, sizeof *jobs);
	kz_auto_bench struct kz_bench w = { .count = 0 };
	enum kz_rc rc = KZ_OK;
	size_t n = 0;

	*x = (struct kz_effects){ calloc(e->sections + 1, sizeof *x->effect), 0 };
	if (!jobs || !x->effect)
		rc = kz_err_set(err, KZ_E_OS, "no memory for an edit");
	for (; n < e->sections && rc == KZ_OK; n++) {
		jobs[n].e = e;
		jobs[n].s = e->section[n];
		jobs[n].file = file_of(files, count, e->section[n]->path);
		rc = job_open(&jobs[n], b, err);
	}
	if (rc == KZ_OK)
		rc = kz_bench_fill(&w, e, jobs, b, err);
	if (rc == KZ_OK)
		rc = take_effects(jobs, n, b, files, count, x, err);
	if (rc == KZ_OK)
		rc = kz_bench_keep(&w, e, b, err);
	for (size_t i = 0; i < n; i++)
		job_release(&jobs[i]);
	free(jobs);
	return rc;
}
