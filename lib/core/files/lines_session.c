/* Reading and editing files of a workspace by shown lines. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/files/lines.h"
#include "port/json.h"
#include "rule/reason.h"
#include "rule/tag.h"

void kz_lines_answer_release(struct kz_lines_answer *a)
{
	kz_shown_release(&a->shown);
}

void kz_lines_change_release(struct kz_lines_change *c)
{
	kz_effects_release(&c->effects);
	kz_edit_release(&c->edit);
	kz_book_release(&c->book);
	for (size_t i = 0; i < c->files; i++)
		kz_buf_release(&c->file[i].bytes);
	free(c->file);
	free(c->view);
	kz_json_free(c->json);
	memset(c, 0, sizeof *c);
}

static int64_t most(const struct kz_workspace *w)
{
	return kz_workspace_conf(w)->set.sandbox_hashline_state_max_bytes;
}

static enum kz_rc load(struct kz_workspace *w, struct kz_book *b, struct kz_err *err)
{
	kz_auto_buf struct kz_buf bytes = KZ_BUF_INIT(KZ_LINES_MAX);
	kz_auto_close int fd = -1;
	int64_t size = 0;
	enum kz_rc rc = kz_workspace_lines(w, &fd, &size, err);
	size_t n;

	if (rc != KZ_OK || fd < 0)
		return rc;
	rc = kz_fd_read_all(fd, &bytes, err);
	if (rc == KZ_E_DATA)
		return kz_refuse(err, KZ_R_OBJECT_DAMAGED, "the record of shown lines is too long");
	if (rc != KZ_OK)
		return rc;
	n = bytes.len;
	return kz_lines_decode(kz_buf_steal(&bytes), n, b, err);
}

/* Files and record in one generation. */
static enum kz_rc store(struct kz_workspace *w, struct kz_book *b, uint64_t since,
			const struct kz_change *changes, size_t count, struct kz_err *err)
{
	kz_auto_buf struct kz_buf bytes = KZ_BUF_INIT(KZ_LINES_MAX);
	kz_auto_close int fd = -1;
	enum kz_rc rc = kz_lines_encode(b, since, most(w), &bytes, err);

	if (rc == KZ_OK)
		rc = kz_memory_file_of("kz-lines", bytes.data, bytes.len, &fd, err);
	return rc == KZ_OK ? kz_workspace_change(w, changes, count, fd, err) : rc;
}

/* A file's bytes; refused past what the record could hold beside those taken already. */
static enum kz_rc file_bytes(struct kz_workspace *w, const char *path, size_t taken,
			     struct kz_buf *out, uint32_t *mode, struct kz_err *err)
{
	kz_auto_close int fd = -1;
	int64_t size = 0;
	enum kz_rc rc = kz_workspace_file(w, path, most(w) - (int64_t)taken, &fd, &size, mode, err);

	return rc == KZ_OK ? kz_fd_read_all(fd, out, err) : rc;
}

static enum kz_rc show_text(const struct kz_text *t, const struct kz_spans *asked,
			    struct kz_lines_answer *a, struct kz_err *err)
{
	a->lines = t->count;
	a->has_bom = t->has_bom;
	a->is_ended = kz_text_is_ended(t);
	for (uint32_t i = 0; i < t->count; i++)
		a->ends[t->line[i].eol] = true;
	return kz_show(t, asked, &a->shown, err);
}

enum kz_rc kz_lines_read(struct kz_workspace *w, const char *path, const struct kz_spans *asked,
			 struct kz_lines_answer *a, struct kz_err *err)
{
	kz_auto_buf struct kz_buf bytes = KZ_BUF_INIT(KZ_TEXT_MAX);
	kz_auto_buf struct kz_buf normal = KZ_BUF_INIT(KZ_TEXT_MAX);
	kz_auto_text struct kz_text t = { NULL, 0, false };
	kz_auto_book struct kz_book b = { .pages = 0 };
	struct kz_version *v = NULL;
	enum kz_rc rc;

	memset(a, 0, sizeof *a);
	rc = file_bytes(w, path, 0, &bytes, NULL, err);
	if (rc == KZ_OK)
		rc = kz_text_split(kz_buf_str(&bytes), bytes.len, &t, err);
	if (rc == KZ_OK)
		rc = show_text(&t, asked, a, err);
	if (rc == KZ_OK)
		rc = kz_text_normal(&t, &normal, err);
	if (rc == KZ_OK)
		rc = load(w, &b, err);
	if (rc == KZ_OK)
		rc = kz_book_show(&b, path, kz_buf_str(&normal), normal.len, t.has_bom, t.count,
				  &a->shown.seen, &v, err);
	if (rc != KZ_OK)
		return rc;
	a->tag = v->tag;
	return store(w, &b, kz_book_find(&b, path)->used, NULL, 0, err);
}

static enum kz_rc parse(const char *text, size_t n, struct kz_lines_change *c, struct kz_err *err)
{
	size_t at = 0;
	enum kz_rc rc;

	while (at < n &&
	       (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
		at++;
	if (at == n || text[at] != '{')
		return kz_edit_parse(text, n, &c->edit, err);
	rc = n <= KZ_EDIT_MAX ? kz_json_parse(text, n, &c->json, err) : KZ_E_DATA;
	if (rc == KZ_E_DATA)
		return kz_refuse(err, KZ_R_EDIT_MALFORMED, "%s",
				 n <= KZ_EDIT_MAX ? err->text : "the edit is too long");
	return rc == KZ_OK ? kz_lines_edit_json(c->json, &c->edit, err) : rc;
}

static bool has_reason(const struct kz_err *err, enum kz_reason r)
{
	return strcmp(err->reason, kz_reason_code(r)) == 0;
}

/* Take the next file, there or not. */
static enum kz_rc add_file(struct kz_workspace *w, struct kz_lines_change *c, const char *path,
			   bool is_name, struct kz_err *err)
{
	struct kz_lines_file *f = &c->file[c->files];
	struct kz_edit_file *v = &c->view[c->files];
	struct kz_err why = KZ_ERR_INIT;
	size_t taken = 0;
	enum kz_rc rc;

	for (size_t i = 0; i < c->files; i++) {
		if (strcmp(c->file[i].path, path) == 0)
			return KZ_OK;
		taken += c->file[i].bytes.len;
	}
	kz_buf_init(&f->bytes, KZ_TEXT_MAX);
	memcpy(f->path, path, strlen(path) + 1);
	c->files++;
	rc = file_bytes(w, path, taken, &f->bytes, &f->mode, &why);
	/* whatever it is, a name is taken by it */
	if (is_name &&
	    (has_reason(&why, KZ_R_FILE_NOT_REGULAR) || has_reason(&why, KZ_R_FILE_TOO_LARGE)))
		rc = KZ_OK;
	*v = (struct kz_edit_file){ f->path, rc == KZ_OK, kz_buf_str(&f->bytes), f->bytes.len };
	if (rc == KZ_OK || has_reason(&why, KZ_R_FILE_MISSING))
		return KZ_OK;
	*err = why;
	return kz_err_wrap(err, "%s", path);
}

static const struct kz_edit_file *view_of(const struct kz_lines_change *c, const char *path)
{
	for (size_t i = 0; i < c->files; i++)
		if (strcmp(c->view[i].path, path) == 0)
			return &c->view[i];
	return NULL;
}

/* A path that is not there, while one file of that name was shown with this tag. */
static enum kz_rc redirect(struct kz_workspace *w, struct kz_lines_change *c, struct kz_section *s,
			   struct kz_err *err)
{
	const struct kz_page *p;

	if (view_of(c, s->path)->exists || s->removes || s->moves ||
	    kz_book_find(&c->book, s->path))
		return KZ_OK;
	p = kz_book_alike(&c->book, kz_path_base(s->path), s->tag);
	if (!p)
		return KZ_OK;
	for (size_t i = 0; i < c->edit.sections; i++)
		if (strcmp(c->edit.section[i]->path, p->path) == 0)
			return KZ_OK;
	kz_edit_note(&s->notes, "there is no such file; the edit went to the one of this tag");
	memcpy(s->path, p->path, strlen(p->path) + 1);
	return add_file(w, c, s->path, false, err);
}

static enum kz_rc gather(struct kz_workspace *w, struct kz_lines_change *c, struct kz_err *err)
{
	size_t room = 3 * c->edit.sections + 1;
	enum kz_rc rc = KZ_OK;

	c->file = calloc(room, sizeof *c->file);
	c->view = calloc(room, sizeof *c->view);
	if (!c->file || !c->view)
		return kz_err_set(err, KZ_E_OS, "no memory for the files of an edit");
	for (size_t i = 0; i < c->edit.sections && rc == KZ_OK; i++) {
		rc = add_file(w, c, c->edit.section[i]->path, false, err);
		if (rc == KZ_OK)
			rc = redirect(w, c, c->edit.section[i], err);
	}
	for (size_t i = 0; i < c->edit.sections && rc == KZ_OK; i++)
		if (c->edit.section[i]->moves)
			rc = add_file(w, c, c->edit.section[i]->dest, true, err);
	return rc;
}

static uint32_t mode_of(const struct kz_lines_change *c, const char *path)
{
	for (size_t i = 0; i < c->files; i++)
		if (strcmp(c->file[i].path, path) == 0)
			return c->file[i].mode;
	return 0;
}

/* Does another effect put a file there? */
static bool is_refilled(const struct kz_effects *x, const char *path)
{
	for (size_t i = 0; i < x->count; i++)
		if (x->effect[i].op == KZ_EFFECT_MOVE && strcmp(x->effect[i].dest, path) == 0)
			return true;
	return false;
}

/* What the effects are as changes; removals first, so that a name is free before it is taken. */
static enum kz_rc changes_of(const struct kz_lines_change *c, struct kz_change *out, size_t *count,
			     struct kz_err *err)
{
	const struct kz_effects *x = &c->effects;
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; i < x->count; i++)
		if (x->effect[i].op != KZ_EFFECT_EDIT && !is_refilled(x, x->effect[i].path))
			out[(*count)++] = (struct kz_change){ x->effect[i].path, -1, 0, -1 };
	for (size_t i = 0; i < x->count && rc == KZ_OK; i++) {
		const struct kz_effect *a = &x->effect[i];
		struct kz_change n = { a->op == KZ_EFFECT_MOVE ? a->dest : a->path, -1,
				       (int64_t)a->bytes.len, mode_of(c, a->path) };

		if (a->op == KZ_EFFECT_REMOVE)
			continue;
		rc = kz_memory_file_of("kz-lines", kz_buf_str(&a->bytes), a->bytes.len, &n.fd, err);
		if (rc == KZ_OK)
			out[(*count)++] = n;
	}
	return rc;
}

static uint64_t used_since(const struct kz_lines_change *c)
{
	uint64_t since = UINT64_MAX;

	for (size_t i = 0; i < c->effects.count; i++) {
		const struct kz_effect *a = &c->effects.effect[i];
		const struct kz_page *p =
			kz_book_find(&c->book, a->op == KZ_EFFECT_MOVE ? a->dest : a->path);

		if (p && p->used < since)
			since = p->used;
	}
	return since;
}

enum kz_rc kz_lines_edit(struct kz_workspace *w, const char *text, size_t n,
			 struct kz_lines_change *c, struct kz_err *err)
{
	struct kz_change *changes = NULL;
	size_t count = 0;
	enum kz_rc rc;

	memset(c, 0, sizeof *c);
	rc = parse(text, n, c, err);
	if (rc == KZ_OK)
		rc = load(w, &c->book, err);
	if (rc == KZ_OK)
		rc = gather(w, c, err);
	if (rc == KZ_OK)
		rc = kz_edit_apply(&c->edit, &c->book, c->view, c->files, &c->effects, err);
	if (rc != KZ_OK)
		return rc;
	changes = calloc(2 * c->effects.count + 1, sizeof *changes);
	rc = changes ? changes_of(c, changes, &count, err) :
		       kz_err_set(err, KZ_E_OS, "no memory for the changes of an edit");
	if (rc == KZ_OK)
		rc = store(w, &c->book, used_since(c), changes, count, err);
	for (size_t i = 0; i < count; i++)
		if (changes[i].fd >= 0)
			close(changes[i].fd);
	free(changes);
	return rc;
}
