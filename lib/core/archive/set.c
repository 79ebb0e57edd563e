/* A tree in memory. */
#include "core/archive/set.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

#define FIRST_ROOM 64
#define MADE_UP_MODE 0755

static void item_free(struct kz_set_item *i)
{
	if (!i)
		return;
	free(i->name);
	free(i->own);
	free(i->hard);
	free(i);
}
KZ_AUTO(auto_item_, struct kz_set_item *, item_free)
#define auto_item kz_auto(auto_item_)

void kz_set_release(struct kz_set *s)
{
	for (size_t i = 0; i < s->count; i++)
		item_free(s->items[i]);
	free(s->items);
	s->items = NULL;
	s->count = s->room = 0;
}

static enum kz_rc over(struct kz_err *err, const char *what)
{
	return kz_err_set(err, KZ_E_NO, "more %s than the bound allows", what);
}

static enum kz_rc count_bytes(struct kz_set *s, int64_t n, struct kz_err *err)
{
	if (n > s->bounds->bytes - s->bytes)
		return over(err, "bytes");
	s->bytes += n;
	return KZ_OK;
}

static enum kz_rc make_room(struct kz_set *s, struct kz_err *err)
{
	size_t room = s->room ? s->room * 2 : FIRST_ROOM;
	struct kz_set_item **items;

	if ((int64_t)s->count >= s->bounds->entries)
		return over(err, "entries");
	if (s->count < s->room)
		return KZ_OK;
	items = reallocarray(s->items, room, sizeof(struct kz_set_item *));
	if (!items)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	s->items = items;
	s->room = room;
	return KZ_OK;
}

enum kz_rc kz_set_add(struct kz_set *s, const struct kz_entry *e, const char *name,
		      struct kz_set_item **out, struct kz_err *err)
{
	auto_item struct kz_set_item *i = NULL;
	enum kz_rc rc = make_room(s, err);

	if (rc == KZ_OK)
		rc = count_bytes(s, e->size, err);
	if (rc != KZ_OK)
		return rc;
	if (!kz_entry_name_ok(name, e->name_len))
		return kz_err_set(err, KZ_E_DATA, "the name of entry %zu is not allowed",
				  s->count + 1);
	i = calloc(1, sizeof *i);
	if (!i || !(i->name = kz_str_dup(name)))
		return kz_err_set(err, KZ_E_OS, "out of memory");
	i->e = *e;
	i->at = (int64_t)s->count;
	if (out)
		*out = i;
	s->items[s->count++] = kz_take(i);
	return KZ_OK;
}

enum kz_rc kz_set_own(struct kz_set_item *i, struct kz_err *err)
{
	i->own = calloc(1, i->e.size ? (size_t)i->e.size : 1);
	i->content = i->own;
	return i->own ? KZ_OK : kz_err_set(err, KZ_E_OS, "out of memory");
}

static int by_name(const void *a, const void *b)
{
	const struct kz_set_item *const *x = a, *const *y = b;

	return kz_entry_name_cmp((*x)->name, (*x)->e.name_len, (*y)->name, (*y)->e.name_len);
}

static struct kz_set_item *find(const struct kz_set *s, const char *name)
{
	struct kz_set_item key = { .name = (char *)(uintptr_t)name,
				   .e = { .name_len = strlen(name) } };
	const struct kz_set_item *k = &key;
	struct kz_set_item **found =
		bsearch(&k, s->items, s->count, sizeof(struct kz_set_item *), by_name);

	return found ? *found : NULL;
}

static enum kz_rc follow(struct kz_set *s, struct kz_set_item *i, struct kz_err *err)
{
	const struct kz_set_item *to = find(s, i->hard);
	enum kz_rc rc;

	if (!to || to->e.kind != KZ_ENTRY_FILE || to->hard || to->at >= i->at)
		return kz_err_set(err, KZ_E_DATA, "a hard link to what is no earlier file");
	rc = count_bytes(s, to->e.size, err);
	if (rc != KZ_OK)
		return rc;
	i->e.size = to->e.size;
	i->content = to->content;
	free(i->hard);
	i->hard = NULL;
	return KZ_OK;
}

static int by_arrival(const void *a, const void *b)
{
	const struct kz_set_item *const *x = a, *const *y = b;

	return (*x)->at < (*y)->at ? -1 : (*x)->at > (*y)->at;
}

/* In the order they came, so that a link to a link finds a file. */
static enum kz_rc follow_all(struct kz_set *s, struct kz_err *err)
{
	kz_auto_free struct kz_set_item **links =
		calloc(s->count + 1, sizeof(struct kz_set_item *));
	enum kz_rc rc = KZ_OK;
	size_t n = 0;

	if (!links)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i]->hard)
			links[n++] = s->items[i];
	qsort(links, n, sizeof(struct kz_set_item *), by_arrival);
	for (size_t i = 0; i < n && rc == KZ_OK; i++)
		rc = follow(s, links[i], err);
	return rc;
}

static bool is_below(const char *name, const char *dir)
{
	return kz_str_has_prefix(name, dir) && name[strlen(dir)] == '/';
}

/*
 * The directories above a name, the last of them first, until one is there.  Whatever
 * lies in one directory is together, so what is above the entry before has been seen to.
 */
static enum kz_rc make_parents(struct kz_set *s, size_t sorted, size_t i, bool makes_up,
			       struct kz_err *err)
{
	const struct kz_set_item *before = i ? s->items[i - 1] : NULL;
	char path[KZ_ENTRY_NAME_MAX + 1];
	char *slash;

	memcpy(path, s->items[i]->name, s->items[i]->e.name_len + 1);
	while ((slash = strrchr(path, '/'))) {
		const struct kz_set known = { .items = s->items, .count = sorted };
		struct kz_entry e = { .kind = KZ_ENTRY_DIR, .mode = MADE_UP_MODE };
		const struct kz_set_item *up;
		enum kz_rc rc;

		*slash = 0;
		up = find(&known, path);
		if ((up && up->e.kind == KZ_ENTRY_DIR) ||
		    (!up && before && is_below(before->name, path)))
			return KZ_OK;
		if (up || !makes_up)
			return kz_err_set(err, KZ_E_DATA,
					  "an entry lies below what is no directory");
		e.name_len = strlen(path);
		rc = kz_set_add(s, &e, path, NULL, err);
		if (rc != KZ_OK)
			return rc;
	}
	return KZ_OK;
}

static void sort(struct kz_set *s)
{
	if (s->count)
		qsort(s->items, s->count, sizeof(struct kz_set_item *), by_name);
}

enum kz_rc kz_set_check(struct kz_set *s, bool makes_up, struct kz_err *err)
{
	size_t sorted = s->count;
	enum kz_rc rc;

	sort(s);
	for (size_t i = 1; i < s->count; i++)
		if (by_name(&s->items[i - 1], &s->items[i]) == 0)
			return kz_err_set(err, KZ_E_DATA, "the same name twice");
	rc = follow_all(s, err);
	for (size_t i = 0; i < sorted && rc == KZ_OK; i++)
		rc = make_parents(s, sorted, i, makes_up, err);
	if (rc == KZ_OK && s->count > sorted)
		sort(s);
	return rc;
}
