/* Tar to entries. */
#include <string.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/archive/set.h"
#include "port/arc.h"
#include "rule/reason.h"

#define OUT_ROOM 65536

static enum kz_rc odd(struct kz_err *err, size_t nth, const char *what)
{
	return kz_err_set(err, KZ_E_DATA, "entry %zu: %s", nth + 1, what);
}

/*
 * A name as entries have it: without "." components and doubled or final slashes.
 * out: "" for the top directory itself. err: KZ_E_DATA for one that leaves it
 */
static enum kz_rc clean(const char *name, char out[KZ_ENTRY_NAME_MAX + 1], size_t nth,
			struct kz_err *err)
{
	size_t at = 0;

	if (!*name)
		return odd(err, nth, "an empty name");
	if (*name == '/')
		return odd(err, nth, "an absolute name");
	while (*name) {
		size_t n = strcspn(name, "/");

		if (n == 2 && !strncmp(name, "..", 2))
			return odd(err, nth, "a name with \"..\"");
		if (n && !(n == 1 && *name == '.')) {
			if (at + n + 1 > KZ_ENTRY_NAME_MAX)
				return odd(err, nth, "a name that is too long");
			if (at)
				out[at++] = '/';
			memcpy(out + at, name, n);
			at += n;
		}
		name += n;
		name += strspn(name, "/");
	}
	out[at] = 0;
	return KZ_OK;
}

/* A sparse file's pieces, or one that is whole somewhere in the archive. */
static enum kz_rc take_content(struct kz_arc_in *in, struct kz_set_item *i, struct kz_err *err)
{
	int64_t at = 0, end = 0;
	const void *p;
	size_t n;
	bool more;

	for (;;) {
		enum kz_rc rc = kz_arc_data(in, &p, &n, &at, &more, err);

		if (rc != KZ_OK || !more)
			return rc;
		if (!n)
			continue;
		if (at < end || at > i->e.size || (int64_t)n > i->e.size - at)
			return kz_err_set(err, KZ_E_DATA, "content beyond a file's size");
		if (at == 0 && (int64_t)n == i->e.size) {
			i->content = p;
		} else {
			if (!i->own && (rc = kz_set_own(i, err)) != KZ_OK)
				return rc;
			memcpy(i->own + at, p, n);
		}
		end = at + (int64_t)n;
	}
}

static enum kz_rc take_file(struct kz_set *s, struct kz_arc_in *in, struct kz_entry *e,
			    const struct kz_arc_item *a, const char *name, struct kz_err *err)
{
	struct kz_set_item *i;
	enum kz_rc rc;

	e->kind = KZ_ENTRY_FILE;
	e->size = a->size;
	rc = kz_set_add(s, e, name, &i, err);
	if (rc == KZ_OK)
		rc = take_content(in, i, err);
	/* nothing but holes */
	if (rc == KZ_OK && e->size && !i->content)
		rc = kz_set_own(i, err);
	return rc;
}

static enum kz_rc take_symlink(struct kz_set *s, struct kz_entry *e, const char *name,
			       const char *target, struct kz_err *err)
{
	size_t n = target ? strlen(target) : 0;
	struct kz_set_item *i;
	enum kz_rc rc;

	if (n == 0 || n > KZ_ENTRY_TARGET_MAX)
		return odd(err, s->count, "a link's target that is empty or too long");
	e->kind = KZ_ENTRY_LINK;
	e->size = (int64_t)n;
	rc = kz_set_add(s, e, name, &i, err);
	if (rc == KZ_OK)
		rc = kz_set_own(i, err);
	if (rc == KZ_OK)
		memcpy(i->own, target, n);
	return rc;
}

static enum kz_rc take_hardlink(struct kz_set *s, struct kz_entry *e, const char *name,
				const struct kz_arc_item *a, struct kz_err *err)
{
	char target[KZ_ENTRY_NAME_MAX + 1];
	struct kz_set_item *i;
	enum kz_rc rc = clean(a->target, target, s->count, err);

	if (rc == KZ_OK && a->size)
		rc = odd(err, s->count, "a hard link with content");
	e->kind = KZ_ENTRY_FILE;
	if (rc == KZ_OK)
		rc = kz_set_add(s, e, name, &i, err);
	if (rc != KZ_OK)
		return rc;
	i->hard = kz_str_dup(target);
	return i->hard ? KZ_OK : kz_err_set(err, KZ_E_OS, "out of memory");
}

static enum kz_rc take(struct kz_set *s, struct kz_arc_in *in, const struct kz_arc_item *a,
		       struct kz_err *err)
{
	struct kz_entry e = { .kind = KZ_ENTRY_DIR,
			      .mode = a->mode,
			      .mtime_s = a->mtime_s,
			      .mtime_ns = a->mtime_ns };
	char name[KZ_ENTRY_NAME_MAX + 1];
	enum kz_rc rc = clean(a->name, name, s->count, err);

	if (rc != KZ_OK)
		return rc;
	if (!*name)
		return a->kind == KZ_ARC_DIR ? KZ_OK : odd(err, s->count, "no name");
	e.name_len = strlen(name);
	switch (a->kind) {
	case KZ_ARC_FILE: return take_file(s, in, &e, a, name, err);
	case KZ_ARC_DIR: return kz_set_add(s, &e, name, NULL, err);
	case KZ_ARC_SYMLINK: return take_symlink(s, &e, name, a->target, err);
	case KZ_ARC_HARDLINK: return take_hardlink(s, &e, name, a, err);
	case KZ_ARC_OTHER: break;
	}
	return odd(err, s->count, "neither file, directory nor link");
}

static enum kz_rc read_tar(struct kz_set *s, const void *tar, size_t n, struct kz_err *err)
{
	kz_auto_arc_in struct kz_arc_in *in = NULL;
	struct kz_arc_item item;
	bool more = true;
	enum kz_rc rc = kz_arc_in_new(tar, n, &in, err);

	while (rc == KZ_OK && (rc = kz_arc_next(in, &item, &more, err)) == KZ_OK && more)
		rc = take(s, in, &item, err);
	return rc == KZ_OK ? kz_set_check(s, true, err) : rc;
}

static enum kz_rc hand_out(const struct kz_set *s, const struct kz_entry_sink *to,
			   struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; i < s->count && rc == KZ_OK; i++) {
		const struct kz_set_item *x = s->items[i];

		rc = to->entry(to->arg, &x->e, x->name, err);
		if (rc == KZ_OK && x->e.size)
			rc = to->data(to->arg, x->content, (size_t)x->e.size, err);
	}
	return rc;
}

enum kz_rc kz_archive_read(const void *tar, size_t n, const struct kz_archive_bounds *b,
			   const struct kz_entry_sink *to, struct kz_err *err)
{
	kz_auto_set struct kz_set s = { .bounds = b };
	enum kz_rc rc = read_tar(&s, tar, n, err);

	return rc == KZ_OK ? hand_out(&s, to, err) : rc;
}

/* Entries on their way out; small ones go together. */
struct writing {
	int fd;
	int64_t count;
	struct kz_buf room;
};

static enum kz_rc flush(struct writing *w, struct kz_err *err)
{
	enum kz_rc rc = kz_fd_write_all(w->fd, w->room.data, w->room.len, err);

	kz_buf_clear(&w->room);
	return rc;
}

static enum kz_rc put(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct writing *w = arg;
	enum kz_rc rc = n > w->room.max - w->room.len ? flush(w, err) : KZ_OK;

	if (rc != KZ_OK)
		return rc;
	return n > w->room.max ? kz_fd_write_all(w->fd, p, n, err) :
				 kz_buf_add(&w->room, p, n, err);
}

static enum kz_rc put_entry(void *arg, const struct kz_entry *e, const char *name,
			    struct kz_err *err)
{
	struct writing *w = arg;
	uint8_t head[KZ_ENTRY_HEAD];
	enum kz_rc rc;

	kz_entry_head(e, head);
	w->count += e->kind != KZ_ENTRY_END;
	rc = put(w, head, sizeof head, err);
	return rc == KZ_OK ? put(w, name, e->name_len, err) : rc;
}

static enum kz_rc unpack(const struct kz_buf *tar, int out, const struct kz_archive_bounds *b,
			 struct kz_err *err)
{
	struct writing w = { .fd = out, .room = KZ_BUF_INIT(OUT_ROOM) };
	const struct kz_entry_sink to = { .arg = &w, .entry = put_entry, .data = put };
	enum kz_rc rc = kz_archive_read(kz_buf_str(tar), tar->len, b, &to, err);
	struct kz_entry end = { .kind = KZ_ENTRY_END, .size = w.count };

	if (rc == KZ_OK)
		rc = put_entry(&w, &end, "", err);
	if (rc == KZ_OK)
		rc = flush(&w, err);
	kz_buf_release(&w.room);
	return rc;
}

enum kz_rc kz_archive_unpack(int in, int out, const struct kz_archive_bounds *b, struct kz_err *err)
{
	kz_auto_buf struct kz_buf tar = KZ_BUF_INIT((size_t)b->bytes);
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc = kz_arc_expand(in, b->may_be_compressed, &tar, &why);

	if (rc == KZ_OK)
		rc = unpack(&tar, out, b, &why);
	return rc == KZ_OK ? rc : kz_archive_refuse(&why, KZ_R_ARCHIVE_REFUSED, err);
}

enum kz_rc kz_archive_refuse(const struct kz_err *why, enum kz_reason over, struct kz_err *err)
{
	enum kz_reason r = KZ_R_IO_FAILED;

	if (why->rc == KZ_E_NO)
		r = over;
	else if (why->rc == KZ_E_DATA)
		r = KZ_R_ARCHIVE_REFUSED;
	else if (why->rc == KZ_E_OS || why->rc == KZ_E_SOFTWARE)
		r = KZ_R_SYSTEM_FAILED;
	return kz_refuse(err, r, "%s", why->text);
}
