/* Pruning workspaces that nobody changed for long, and objects that nothing names. */
#include "core/files/prune.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "core/files/workspace_parts.h"
#include "rule/reason.h"

/* What was listed is good for this long: a commit that began before it was listed is in it. */
#define FRESH_S 600

struct item {
	char name[KZ_OBJECT_NAME_MAX + 1];
	int64_t size, mtime_s;
	bool is_generation;
};

/* The objects of one workspace; in order, so blobs before generations. */
struct items {
	struct item *list;
	size_t count, room;
};

struct keys {
	char (*list)[KZ_ID_HEX];
	size_t count, room;
};

struct prune {
	struct kz_objects *o;
	int64_t older_s;
	bool is_dry;
	struct kz_pruned *out;
	struct kz_deadline until;
};

static void items_release(struct items *l)
{
	free(l->list);
}
static void keys_release(struct keys *l)
{
	free(l->list);
}

/* Room for one more. */
static void *grow(void *list, size_t count, size_t *room, size_t size, struct kz_err *err)
{
	void *more;

	if (count < *room)
		return list;
	more = realloc(list, (*room ? *room * 2 : 64) * size);
	if (!more)
		kz_err_set(err, KZ_E_OS, "memory is out");
	else
		*room = *room ? *room * 2 : 64;
	return more;
}

/* "w/KEY/..." */
static bool key_of(const char *object, char key[KZ_ID_HEX])
{
	if (strncmp(object, "w/", 2) || strspn(object + 2, "0123456789abcdef") != KZ_ID_HEX - 1 ||
	    object[KZ_ID_HEX + 1] != '/')
		return false;
	memcpy(key, object + 2, KZ_ID_HEX - 1);
	key[KZ_ID_HEX - 1] = 0;
	return true;
}

static enum kz_rc note_key(void *arg, const struct kz_object *x, struct kz_err *err)
{
	struct keys *l = arg;
	char key[KZ_ID_HEX];
	void *more;

	if (!key_of(x->name, key) || (l->count && !strcmp(l->list[l->count - 1], key)))
		return KZ_OK;
	more = grow(l->list, l->count, &l->room, sizeof(*l->list), err);
	if (!more)
		return KZ_E_OS;
	l->list = more;
	memcpy(l->list[l->count++], key, sizeof(key));
	return KZ_OK;
}

static enum kz_rc note_item(void *arg, const struct kz_object *x, struct kz_err *err)
{
	struct items *l = arg;
	const char *last = strrchr(x->name, '/');
	void *more = grow(l->list, l->count, &l->room, sizeof(*l->list), err);
	struct item *i;
	int64_t fence, seq;

	if (!more)
		return KZ_E_OS;
	l->list = more;
	i = &l->list[l->count++];
	*i = (struct item){ .size = x->size, .mtime_s = x->mtime_s };
	i->is_generation = last && kz_generation_name_parse(last + 1, &fence, &seq);
	return kz_str_copy(i->name, sizeof(i->name), x->name, err);
}

static enum kz_rc remove_item(struct prune *p, const struct item *i, struct kz_err *err)
{
	enum kz_rc rc = p->is_dry ? KZ_OK : kz_objects_remove(p->o, i->name, p->until, err);

	if (rc)
		return rc;
	p->out->objects++;
	p->out->bytes += i->size;
	return KZ_OK;
}

/* Generations in order, the newest last, so that no older one is ever the newest; then what they named. */
static enum kz_rc remove_all(struct prune *p, const struct items *l, int64_t now_s,
			     struct kz_deadline fresh, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && i < l->count && !kz_deadline_passed(fresh); i++)
		if (l->list[i].is_generation)
			rc = remove_item(p, &l->list[i], err);
	for (size_t i = 0; !rc && i < l->count && !kz_deadline_passed(fresh); i++)
		if (!l->list[i].is_generation && l->list[i].mtime_s + p->older_s < now_s)
			rc = remove_item(p, &l->list[i], err);
	return rc;
}

/* The ids that the generations name. out: false when one of them cannot be read */
static bool named(struct prune *p, const char *key, const struct items *l, struct keys *ids)
{
	struct kz_err ignored = KZ_ERR_INIT;

	for (size_t i = 0; i < l->count; i++) {
		struct kz_generation g;
		const struct kz_blob *const of[] = { &g.tree, &g.lines, &g.packages };
		bool is_cut;
		void *more;

		if (!l->list[i].is_generation)
			continue;
		if (kz_generation_get(p->o, key, strrchr(l->list[i].name, '/') + 1, &g, &is_cut,
				      p->until, &ignored))
			return false;
		for (int k = 0; k < 3; k++) {
			more = grow(ids->list, ids->count, &ids->room, sizeof(*ids->list),
				    &ignored);
			if (!more)
				return false;
			ids->list = more;
			memcpy(ids->list[ids->count++], of[k]->id, KZ_ID_HEX);
		}
	}
	return true;
}

static enum kz_rc remove_unnamed(struct prune *p, const char *key, const struct items *l,
				 int64_t now_s, struct kz_deadline fresh, struct kz_err *err)
{
	struct keys ids kz_auto(keys_release) = { 0 };
	enum kz_rc rc = KZ_OK;

	if (!named(p, key, l, &ids))
		return KZ_OK;
	for (size_t i = 0; !rc && i < l->count && !kz_deadline_passed(fresh); i++) {
		const char *last = strrchr(l->list[i].name, '/') + 1;
		bool is_named =
			l->list[i].is_generation || l->list[i].mtime_s + p->older_s >= now_s;

		for (size_t k = 0; !is_named && k < ids.count; k++)
			is_named = !strcmp(ids.list[k], last);
		if (!is_named)
			rc = remove_item(p, &l->list[i], err);
	}
	return rc;
}

static enum kz_rc prune_one(struct prune *p, const char *key, struct kz_err *err)
{
	struct items l kz_auto(items_release) = { 0 };
	struct kz_deadline fresh = kz_deadline_in(KZ_SECONDS(FRESH_S));
	int64_t now_s = kz_time_wall_ms() / 1000, newest_s = INT64_MIN;
	char prefix[KZ_OBJECT_NAME_MAX + 1];
	enum kz_rc rc = kz_str_format(prefix, sizeof(prefix), err, "w/%s/", key);

	if (!rc)
		rc = kz_objects_list(p->o, prefix, note_item, &l, p->until, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < l.count; i++)
		if (l.list[i].is_generation && l.list[i].mtime_s > newest_s)
			newest_s = l.list[i].mtime_s;
	if (newest_s != INT64_MIN && newest_s + p->older_s < now_s) {
		p->out->workspaces++;
		return remove_all(p, &l, now_s, fresh, err);
	}
	p->out->left += newest_s != INT64_MIN;
	return remove_unnamed(p, key, &l, now_s, fresh, err);
}

enum kz_rc kz_workspace_prune(struct kz_objects *o, int64_t older_s, bool is_dry,
			      struct kz_pruned *out, struct kz_deadline until, struct kz_err *err)
{
	struct prune p = { o, older_s, is_dry, out, until };
	struct keys l kz_auto(keys_release) = { 0 };
	enum kz_rc rc = kz_objects_list(o, "w/", note_key, &l, until, err);

	*out = (struct kz_pruned){ 0 };
	for (size_t i = 0; !rc && i < l.count; i++)
		rc = prune_one(&p, l.list[i], err);
	if (!rc && !is_dry)
		rc = kz_objects_sweep(o, &out->temporaries, until, err);
	return rc;
}
