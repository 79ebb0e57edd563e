/* Images: a tree in memory between two tars. */
#include "core/files/image.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "rule/reason.h"

void kz_image_release(struct kz_image *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->entries[i].name);
	free(m->entries);
	kz_auto_close_(&m->spool);
	*m = (struct kz_image)KZ_IMAGE_INIT;
}

static int order(const char *a, const char *b)
{
	return kz_entry_name_cmp(a, strlen(a), b, strlen(b));
}

static int order_entries(const void *a, const void *b)
{
	return order(((const struct kz_image_entry *)a)->name,
		     ((const struct kz_image_entry *)b)->name);
}

/* Where it is, or would be. */
static size_t place(const struct kz_image *m, const char *name)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (order(m->entries[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct kz_image_entry *kz_image_find(const struct kz_image *m, const char *name)
{
	size_t i = place(m, name);

	return i < m->count && !strcmp(m->entries[i].name, name) ? &m->entries[i] : NULL;
}

/* A place for one more at i. own: name is taken, also on failure */
static struct kz_image_entry *insert(struct kz_image *m, size_t i, char *name, struct kz_err *err)
{
	struct kz_image_entry *e;

	if (name && m->count == m->room) {
		size_t room = m->room ? m->room * 2 : 64;

		e = realloc(m->entries, room * sizeof(*e));
		if (e) {
			m->entries = e;
			m->room = room;
		}
	}
	if (!name || m->count == m->room) {
		free(name);
		kz_err_set(err, KZ_E_OS, "memory is out");
		return NULL;
	}
	e = &m->entries[i];
	memmove(e + 1, e, (m->count - i) * sizeof(*e));
	m->count++;
	*e = (struct kz_image_entry){ .name = name, .fd = -1 };
	return e;
}

static enum kz_rc read_entry(void *arg, const struct kz_entry *head, const char *name,
			     struct kz_err *err)
{
	struct kz_image *m = arg;
	struct kz_image_entry *e = insert(m, m->count, strndup(name, head->name_len), err);

	if (!e)
		return err->rc;
	e->head = *head;
	e->fd = m->spool;
	e->at = m->spooled;
	m->spooled += head->size;
	return KZ_OK;
}

static enum kz_rc read_data(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct kz_image *m = arg;

	return kz_fd_write_all(m->spool, p, n, err);
}

enum kz_rc kz_image_read(struct kz_image *m, int tar_fd, const struct kz_tree_bounds *b,
			 int cancel_fd, struct kz_deadline until, struct kz_err *err)
{
	const struct kz_tree_sink sink = { .arg = m, .entry = read_entry, .data = read_data };
	struct kz_tree_sum sum;
	enum kz_rc rc;

	rc = kz_memory_file("kz-image", &m->spool, err);
	if (!rc)
		rc = kz_tree_unpack(tar_fd, b, &sink, &sum, cancel_fd, until, err);
	if (!rc && m->count)
		qsort(m->entries, m->count, sizeof(*m->entries), order_entries);
	return rc;
}

enum kz_rc kz_image_content(const struct kz_image_entry *e,
			    enum kz_rc (*put)(void *arg, const void *part, size_t n,
					      struct kz_err *err),
			    void *arg, struct kz_err *err)
{
	char part[65536];
	int64_t left = e->head.size, at = e->at;

	while (left > 0) {
		size_t most = left < (int64_t)sizeof(part) ? (size_t)left : sizeof(part);
		ssize_t n = pread(e->fd, part, most, at);
		enum kz_rc rc;

		if (n <= 0)
			return kz_refuse(err, KZ_R_IO_FAILED, "cannot read the content of a file");
		rc = put(arg, part, (size_t)n, err);
		if (rc)
			return rc;
		left -= n;
		at += n;
	}
	return KZ_OK;
}

static enum kz_rc to_pack(void *pack, const void *part, size_t n, struct kz_err *err)
{
	return kz_tree_pack_add(pack, part, n, err);
}

static enum kz_rc write_head(struct kz_tree_pack *p, const struct kz_entry *e, const char *name,
			     struct kz_err *err)
{
	uint8_t head[KZ_ENTRY_HEAD];
	enum kz_rc rc;

	kz_entry_head(e, head);
	rc = kz_tree_pack_add(p, head, sizeof(head), err);
	return rc || !e->name_len ? rc : kz_tree_pack_add(p, name, e->name_len, err);
}

enum kz_rc kz_image_write(const struct kz_image *m, int tar_fd, const struct kz_tree_bounds *b,
			  struct kz_tree_sum *sum, struct kz_deadline until, struct kz_err *err)
{
	const struct kz_entry end = { .kind = KZ_ENTRY_END, .size = (int64_t)m->count };
	struct kz_tree_pack *p = NULL;
	enum kz_rc rc = kz_tree_pack_begin(tar_fd, b, until, &p, err);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < m->count; i++) {
		rc = write_head(p, &m->entries[i].head, m->entries[i].name, err);
		if (!rc)
			rc = kz_image_content(&m->entries[i], to_pack, p, err);
	}
	if (!rc)
		rc = write_head(p, &end, NULL, err);
	if (!rc)
		return kz_tree_pack_end(p, sum, err);
	kz_tree_pack_abandon(p);
	return rc;
}

static enum kz_rc not_regular(const char *name, struct kz_err *err)
{
	return kz_refuse(err, KZ_R_FILE_NOT_REGULAR,
			 "%.200s is not a regular file of the workspace", name);
}

static enum kz_rc missing(const char *name, struct kz_err *err)
{
	return kz_refuse(err, KZ_R_FILE_MISSING, "there is no %.200s in the workspace", name);
}

/* What is above it must be directories. out: is_whole: all of them are there */
static enum kz_rc check_way(const struct kz_image *m, const char *name, bool *is_whole,
			    struct kz_err *err)
{
	*is_whole = true;
	for (const char *s = strchr(name, '/'); s; s = strchr(s + 1, '/')) {
		kz_auto_free char *above = strndup(name, (size_t)(s - name));
		const struct kz_image_entry *e = above ? kz_image_find(m, above) : NULL;

		if (!above)
			return kz_err_set(err, KZ_E_OS, "memory is out");
		if (e && e->head.kind != KZ_ENTRY_DIR)
			return not_regular(name, err);
		*is_whole = *is_whole && e;
	}
	return KZ_OK;
}

enum kz_rc kz_image_file(const struct kz_image *m, const char *name, struct kz_image_entry **out,
			 struct kz_err *err)
{
	bool is_whole;
	enum kz_rc rc = check_way(m, name, &is_whole, err);

	if (rc)
		return rc;
	*out = kz_image_find(m, name);
	if (!*out)
		return missing(name, err);
	return (*out)->head.kind == KZ_ENTRY_FILE ? KZ_OK : not_regular(name, err);
}

static void stamp(struct kz_entry *e)
{
	int64_t now = kz_time_wall_ms();

	e->mtime_s = now / 1000;
	e->mtime_ns = (uint32_t)(now % 1000) * 1000000;
}

static struct kz_image_entry *add(struct kz_image *m, const char *name, size_t n,
				  enum kz_entry_kind kind, uint32_t mode, struct kz_err *err)
{
	kz_auto_free char *copy = strndup(name, n);
	size_t i = copy ? place(m, copy) : 0;
	struct kz_image_entry *e = insert(m, i, kz_take(copy), err);

	if (!e)
		return NULL;
	e->head = (struct kz_entry){ .kind = kind, .mode = mode, .name_len = n };
	stamp(&e->head);
	return e;
}

static enum kz_rc add_way(struct kz_image *m, const char *name, struct kz_err *err)
{
	for (const char *s = strchr(name, '/'); s; s = strchr(s + 1, '/')) {
		kz_auto_free char *above = strndup(name, (size_t)(s - name));

		if (!above)
			return kz_err_set(err, KZ_E_OS, "memory is out");
		if (!kz_image_find(m, above) &&
		    !add(m, name, (size_t)(s - name), KZ_ENTRY_DIR, 0755, err))
			return err->rc;
	}
	return KZ_OK;
}

enum kz_rc kz_image_set(struct kz_image *m, const char *name, int fd, int64_t size, int64_t mode,
			struct kz_err *err)
{
	struct kz_image_entry *e;
	bool is_whole;
	enum kz_rc rc = check_way(m, name, &is_whole, err);

	if (!rc && !is_whole)
		rc = add_way(m, name, err);
	if (rc)
		return rc;
	e = kz_image_find(m, name);
	if (e && e->head.kind != KZ_ENTRY_FILE)
		return not_regular(name, err);
	if (!e)
		e = add(m, name, strlen(name), KZ_ENTRY_FILE, 0644, err);
	if (!e)
		return err->rc;
	if (mode >= 0)
		e->head.mode = (uint32_t)mode & 07777;
	e->head.size = size;
	e->fd = fd;
	e->at = 0;
	stamp(&e->head);
	return KZ_OK;
}

static bool is_below(const char *name, const char *dir, size_t n)
{
	return !strncmp(name, dir, n) && (name[n] == '/' || !name[n]);
}

enum kz_rc kz_image_remove(struct kz_image *m, const char *name, bool is_tree, struct kz_err *err)
{
	size_t from = place(m, name), to = from, n = strlen(name);
	bool is_whole;
	enum kz_rc rc = check_way(m, name, &is_whole, err);

	if (rc)
		return rc;
	if (from == m->count || strcmp(m->entries[from].name, name))
		return missing(name, err);
	if (m->entries[from].head.kind == KZ_ENTRY_DIR && !is_tree)
		return kz_refuse(err, KZ_R_FILE_NOT_REGULAR,
				 "%.200s is a directory; with -r it goes with all that is in it",
				 name);
	while (to < m->count && is_below(m->entries[to].name, name, n))
		free(m->entries[to++].name);
	memmove(m->entries + from, m->entries + to, (m->count - to) * sizeof(*m->entries));
	m->count -= to - from;
	return KZ_OK;
}
