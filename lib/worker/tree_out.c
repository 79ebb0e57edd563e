/* A whole tree on its way out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "rule/reason.h"
#include "worker/tree.h"

#define PIECE 65536

/* What a walk saw, so that two can be compared. */
struct seen {
	uint64_t mix; /* of heads and names, FNV-1a */
	int64_t length;
};

struct kz_tree_out {
	int home;
	struct kz_walk *walk; /* the second one */
	struct seen first, second;
	int file; /* being sent; -1 none */
	int64_t left;
	struct timespec mtime; /* of the file, as promised */
	bool is_over;
};

static void mix(struct seen *s, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++)
		s->mix = (s->mix ^ b[i]) * UINT64_C(0x100000001b3);
	s->length += (int64_t)n;
}

static void see(struct seen *s, const struct kz_entry *e, const char *name,
		uint8_t head[KZ_ENTRY_HEAD])
{
	kz_entry_head(e, head);
	mix(s, head, KZ_ENTRY_HEAD);
	mix(s, name, e->name_len);
	if (e->kind != KZ_ENTRY_END)
		s->length += e->size;
}

static enum kz_rc fail(const struct kz_err *why, struct kz_err *err)
{
	return kz_refuse(err, why->rc == KZ_E_NO ? KZ_R_WORKSPACE_OVER_BOUND : KZ_R_WORKER_FAULT,
			 "%s", why->text);
}

static enum kz_rc measure(int home, const struct kz_walk_bounds *b, struct seen *s,
			  struct kz_err *err)
{
	kz_auto_walk struct kz_walk *w = kz_walk_new(home, b);
	char target[KZ_ENTRY_TARGET_MAX + 1];
	uint8_t head[KZ_ENTRY_HEAD];
	struct kz_entry e;

	if (!w)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	do {
		const char *name;
		int fd;
		enum kz_rc rc = kz_walk_next(w, &e, &name, &fd, target, err);

		if (rc != KZ_OK)
			return rc;
		if (fd >= 0)
			close(fd);
		see(s, &e, name, head);
	} while (e.kind != KZ_ENTRY_END);
	return KZ_OK;
}

enum kz_rc kz_tree_out_new(int home, const struct kz_walk_bounds *b, struct kz_tree_out **out,
			   int64_t *length, struct kz_err *err)
{
	struct kz_tree_out *t = calloc(1, sizeof *t);
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc;

	if (!t) {
		close(home);
		return kz_refuse(err, KZ_R_WORKER_FAULT, "out of memory");
	}
	t->home = home;
	t->file = -1;
	rc = measure(home, b, &t->first, &why);
	if (rc == KZ_OK && !(t->walk = kz_walk_new(home, b)))
		rc = kz_err_set(&why, KZ_E_OS, "out of memory");
	if (rc != KZ_OK) {
		kz_tree_out_free(t);
		return fail(&why, err);
	}
	*length = t->first.length;
	*out = t;
	return KZ_OK;
}

void kz_tree_out_free(struct kz_tree_out *t)
{
	if (!t)
		return;
	if (t->file >= 0)
		close(t->file);
	if (t->walk)
		kz_walk_free(t->walk);
	close(t->home);
	free(t);
}

static enum kz_rc changed(struct kz_err *err)
{
	return kz_err_set(err, KZ_E_DATA, "the workspace changed while it was read");
}

/* The file is through: is it still the one that was promised? */
static enum kz_rc end_file(struct kz_tree_out *t, struct kz_err *err)
{
	struct stat st;
	char one;
	bool is_same = fstat(t->file, &st) == 0 && st.st_mtim.tv_sec == t->mtime.tv_sec &&
		       st.st_mtim.tv_nsec == t->mtime.tv_nsec && read(t->file, &one, 1) == 0;

	close(t->file);
	t->file = -1;
	return is_same ? KZ_OK : changed(err);
}

static enum kz_rc send_file(struct kz_tree_out *t, struct kz_buf *out, struct kz_err *err)
{
	char piece[PIECE];
	ssize_t n;

	if (!t->left)
		return end_file(t, err);
	do
		n = read(t->file, piece, t->left < PIECE ? (size_t)t->left : sizeof piece);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return changed(err);
	t->left -= n;
	return kz_buf_add(out, piece, (size_t)n, err);
}

static enum kz_rc send_entry(struct kz_tree_out *t, struct kz_buf *out, struct kz_err *err)
{
	char target[KZ_ENTRY_TARGET_MAX + 1];
	uint8_t head[KZ_ENTRY_HEAD];
	const char *name;
	struct kz_entry e;
	enum kz_rc rc = kz_walk_next(t->walk, &e, &name, &t->file, target, err);

	if (rc != KZ_OK)
		return rc;
	see(&t->second, &e, name, head);
	t->left = e.size;
	t->mtime = (struct timespec){ .tv_sec = e.mtime_s, .tv_nsec = e.mtime_ns };
	t->is_over = e.kind == KZ_ENTRY_END;
	/* the last record is what makes the stream whole: it goes out only when all before was as promised */
	if (t->is_over && (t->first.mix != t->second.mix || t->first.length != t->second.length))
		return changed(err);
	rc = kz_buf_add(out, head, sizeof head, err);
	if (rc == KZ_OK)
		rc = kz_buf_add(out, name, e.name_len, err);
	if (rc == KZ_OK && e.kind == KZ_ENTRY_LINK)
		rc = kz_buf_add(out, target, (size_t)e.size, err);
	return rc;
}

enum kz_rc kz_tree_out_more(struct kz_tree_out *t, struct kz_buf *out, bool *is_over,
			    struct kz_err *err)
{
	size_t before = out->len;
	enum kz_rc rc = KZ_OK;

	while (rc == KZ_OK && !t->is_over && out->len - before < PIECE)
		rc = t->file >= 0 ? send_file(t, out, err) : send_entry(t, out, err);
	*is_over = t->is_over;
	return rc;
}
