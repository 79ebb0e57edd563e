/* Lists of a scope document: ids, files, links. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/files/turn_parts.h"

#define FILENAME_MOST 1024
#define MEDIA_MOST 127

const char *kz_turn_text(const struct kz_json *o, const char *key, size_t most)
{
	const char *s = kz_json_str(o, key, NULL);

	return s && *s && strlen(s) <= most && !kz_str_has_control(s) ? s : NULL;
}

bool kz_turn_is_digest(const char *s)
{
	return s && strlen(s) == KZ_SHA256_HEX - 1 &&
	       strspn(s, "0123456789abcdef") == KZ_SHA256_HEX - 1;
}

static bool take_id(const struct kz_json *v, const char **out)
{
	const char *s = kz_json_is_string(v) ? kz_json_str_value(v) : NULL;

	*out = s;
	return s && *s && strlen(s) <= KZ_TURN_TEXT && !kz_str_has_control(s);
}

/* out: NULL when memory is out; an empty list has room for one all the same */
static void *room(size_t count, size_t size)
{
	return calloc(count + 1, size);
}

bool kz_turn_ids(const struct kz_json *list, size_t most, struct kz_prj_ids *out)
{
	size_t count = kz_json_count(list);
	const char **ids;

	if (!list)
		return true;
	if (!kz_json_is_array(list) || count > most)
		return false;
	ids = room(count, sizeof(*ids));
	out->at = ids;
	if (!ids)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!take_id(kz_json_at(list, i), &ids[i]))
			return false;
	out->count = count;
	return true;
}

static bool take_state(const char *s, enum kz_prj_state *out)
{
	static const char *const names[] = { [KZ_PRJ_READY] = "ready",
					     [KZ_PRJ_PROCESSING] = "processing",
					     [KZ_PRJ_FAILED] = "failed",
					     [KZ_PRJ_UNREADABLE] = "unreadable" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (kz_str_eq(s, names[i])) {
			*out = (enum kz_prj_state)i;
			return true;
		}
	return false;
}

/* A member that may be missing; out: false when it is there and not such a text */
static bool take_text(const struct kz_json *o, const char *key, size_t most, const char **out)
{
	*out = kz_turn_text(o, key, most);
	return *out || !kz_json_get(o, key);
}

static bool is_whole(const struct kz_prj_doc *d)
{
	return d->kind && d->version && d->root && d->sha256 && d->filename && d->media_type &&
	       d->size >= 0;
}

static bool is_kind(const char *s)
{
	return kz_str_eq(s, "upload") || kz_str_eq(s, "artifact") || kz_str_eq(s, "native");
}

static bool take_texts(const struct kz_json *o, struct kz_prj_doc *d)
{
	/* what a person called it may hold anything; it is shown sanitized */
	d->filename = kz_json_str(o, "filename", NULL);
	if (kz_json_get(o, "filename") &&
	    (!d->filename || !*d->filename || strlen(d->filename) > FILENAME_MOST))
		return false;
	return (d->id = kz_turn_text(o, "id", KZ_TURN_TEXT)) &&
	       take_text(o, "kind", KZ_TURN_TEXT, &d->kind) &&
	       take_text(o, "version", KZ_TURN_TEXT, &d->version) &&
	       take_text(o, "root", KZ_TURN_TEXT, &d->root) &&
	       take_text(o, "media_type", MEDIA_MOST, &d->media_type) &&
	       take_text(o, "sha256", KZ_SHA256_HEX - 1, &d->sha256) &&
	       take_text(o, "turn", KZ_TURN_TEXT, &d->turn);
}

static bool take_doc(const struct kz_json *o, bool has_turn, struct kz_prj_doc *d)
{
	static const char *const members[] = { "id",         "kind", "state",  "version",
					       "root",       "size", "sha256", "filename",
					       "media_type", "turn", NULL };
	const struct kz_json *size = kz_json_get(o, "size");

	if (!kz_json_is_object(o) || kz_json_only(o, members, NULL) ||
	    !take_state(kz_json_str(o, "state", ""), &d->state) || !take_texts(o, d))
		return false;
	d->size = size ? kz_json_num(o, "size", -1) : -1;
	if ((size && (d->size < 0 || d->size > KZ_TURN_SIZE_MOST)) ||
	    (d->sha256 && !kz_turn_is_digest(d->sha256)) || (d->kind && !is_kind(d->kind)))
		return false;
	return has_turn == (d->turn != NULL) && (d->state != KZ_PRJ_READY || is_whole(d));
}

static int compare(const void *a, const void *b)
{
	const struct kz_prj_doc *const *x = a, *const *y = b;
	int c = strcmp((*x)->id, (*y)->id);

	return c ? c :
		   strcmp((*x)->version ? (*x)->version : "", (*y)->version ? (*y)->version : "");
}

/* No file twice in one version. */
static bool is_unique(const struct kz_prj_docs *docs)
{
	kz_auto_free const struct kz_prj_doc **sorted = room(docs->count, sizeof(*sorted));

	if (!sorted)
		return false;
	for (size_t i = 0; i < docs->count; i++)
		sorted[i] = &docs->at[i];
	qsort(sorted, docs->count, sizeof(*sorted), compare);
	for (size_t i = 1; i < docs->count; i++)
		if (compare(&sorted[i - 1], &sorted[i]) == 0)
			return false;
	return true;
}

bool kz_turn_docs(const struct kz_json *list, bool has_turn, struct kz_prj_docs *out)
{
	size_t count = kz_json_count(list);
	struct kz_prj_doc *docs;

	if (!list)
		return true;
	if (!kz_json_is_array(list) || count > KZ_TURN_DOCS)
		return false;
	docs = room(count, sizeof(*docs));
	out->at = docs;
	if (!docs)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!take_doc(kz_json_at(list, i), has_turn, &docs[i]))
			return false;
	out->count = count;
	return is_unique(out);
}

static bool take_link(const struct kz_json *o, struct kz_prj_link *l)
{
	static const char *const members[] = { "id",     "root",     "version", "turn",
					       "member", "position", NULL };

	l->id = kz_turn_text(o, "id", KZ_TURN_TEXT);
	l->root = kz_turn_text(o, "root", KZ_TURN_TEXT);
	l->version = kz_turn_text(o, "version", KZ_TURN_TEXT);
	l->turn = kz_turn_text(o, "turn", KZ_TURN_TEXT);
	l->member = kz_turn_text(o, "member", KZ_TURN_TEXT);
	l->position = kz_json_num(o, "position", -1);
	return kz_json_is_object(o) && !kz_json_only(o, members, NULL) && l->id && l->root &&
	       l->version && l->turn && l->member && l->position >= 0 &&
	       l->position <= KZ_TURN_POSITION_MOST;
}

bool kz_turn_links(const struct kz_json *list, struct kz_prj_links *out)
{
	size_t count = kz_json_count(list);
	struct kz_prj_link *links;

	if (!list)
		return true;
	if (!kz_json_is_array(list) || count > KZ_TURN_DOCS)
		return false;
	links = room(count, sizeof(*links));
	out->at = links;
	if (!links)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!take_link(kz_json_at(list, i), &links[i]))
			return false;
	out->count = count;
	return true;
}
