/* The decision: what both paths share, and the private chat. */
#include <string.h>

#include "base/str.h"
#include "rule/projection_parts.h"

bool kz_prj_same(const struct kz_prj_doc *a, const struct kz_prj_doc *b)
{
	return a->version && b->version && strcmp(a->version, b->version) == 0 &&
	       (strcmp(a->id, b->id) == 0 || (a->root && b->root && strcmp(a->root, b->root) == 0));
}

bool kz_prj_has(const struct kz_prj_docs *docs, const struct kz_prj_doc *d)
{
	for (size_t i = 0; i < docs->count; i++)
		if (kz_prj_same(&docs->at[i], d))
			return true;
	return false;
}

bool kz_prj_has_id(const struct kz_prj_ids *ids, const char *id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (strcmp(ids->at[i], id) == 0)
			return true;
	return false;
}

bool kz_prj_is_sole(const struct kz_prj_ids *roster, const char *actor)
{
	return roster->count == 1 && strcmp(roster->at[0], actor) == 0;
}

bool kz_prj_asks(const char *code, size_t n)
{
	return memmem(code, n, KZ_PRJ_ENV_DIR, sizeof(KZ_PRJ_ENV_DIR) - 1) ||
	       memmem(code, n, KZ_PRJ_ENV_MANIFEST, sizeof(KZ_PRJ_ENV_MANIFEST) - 1);
}

static enum kz_reason of_state(enum kz_prj_state s)
{
	switch (s) {
	case KZ_PRJ_READY: return KZ_R_NONE;
	case KZ_PRJ_PROCESSING: return KZ_R_RESOURCE_NOT_READY;
	case KZ_PRJ_FAILED: return KZ_R_RESOURCE_FAILED;
	case KZ_PRJ_UNREADABLE: break;
	}
	return KZ_R_RESOURCE_UNAVAILABLE;
}

void kz_prj_count(struct kz_prj_tally *t, const struct kz_prj_doc *d)
{
	enum kz_reason r = of_state(d->state);

	t->count++;
	if (r == KZ_R_NONE) {
		/* a size is at most 2^40 and there are at most some thousand: it fits */
		t->bytes += d->size;
		if (t->count > KZ_PRJ_FILES)
			r = KZ_R_RESOURCE_OVER_COUNT;
		else if (t->bytes > KZ_PRJ_BYTES)
			r = KZ_R_RESOURCE_OVER_BYTES;
	}
	if (r == KZ_R_NONE || t->reason != KZ_R_NONE)
		return;
	t->reason = r;
	t->about = d;
}

void kz_prj_refuse(struct kz_prj_set *out, enum kz_reason r, const struct kz_prj_tally *t)
{
	out->reason = r;
	out->file_count = 0;
	out->file_bytes = 0;
	out->has_selection = false;
	if (!t)
		return;
	out->about = t->about;
	out->count = t->count;
	out->bytes = t->bytes;
}

static const struct kz_prj_doc *find_id(const struct kz_prj_docs *docs, const char *id,
					const char *turn)
{
	for (size_t i = 0; i < docs->count; i++)
		if (strcmp(docs->at[i].id, id) == 0 &&
		    (!turn || (docs->at[i].turn && strcmp(docs->at[i].turn, turn) == 0)))
			return &docs->at[i];
	return NULL;
}

/* Request ids are selectors: each has to be in the scope that the server resolved, or nothing runs [PRJ-12, PRJ-13]. */
static bool ids_resolve(const struct kz_prj_scope *s, struct kz_prj_set *out)
{
	for (size_t i = 0; i < s->requested.count; i++) {
		const char *id = s->requested.at[i];
		const struct kz_prj_doc *d = find_id(&s->manifest, id, NULL);

		if (!d)
			d = find_id(&s->retrieved, id, s->turn);
		if (d && d->state != KZ_PRJ_UNREADABLE)
			continue;
		kz_prj_refuse(out, KZ_R_RESOURCE_UNAVAILABLE, NULL);
		out->about = d;
		out->about_id = id;
		return false;
	}
	return true;
}

/* What is so now may take away and never adds: its audience, and each file as it can be read now. */
static bool still_stands(const struct kz_prj_live *live, const struct kz_prj_doc *d,
			 struct kz_prj_tally *t)
{
	for (size_t i = 0; live->has_manifest && i < live->manifest.count; i++) {
		const struct kz_prj_doc *now = &live->manifest.at[i];

		if (!kz_prj_same(now, d))
			continue;
		if (of_state(now->state) == KZ_R_NONE)
			return true;
		t->reason = of_state(now->state);
		t->about = d;
		return false;
	}
	if (!live->has_manifest)
		return true;
	t->reason = KZ_R_RESOURCE_UNAVAILABLE;
	t->about = d;
	return false;
}

/* The chat is the member's alone, at admission and now [PRJ-17]. */
static enum kz_reason judge_audience(const struct kz_prj_scope *s, const struct kz_prj_live *live)
{
	if (live->is_known && !kz_prj_has_id(&live->roster, s->actor))
		return KZ_R_MEMBER_INACTIVE;
	if (!kz_prj_is_sole(&s->roster, s->actor))
		return KZ_R_RESOURCE_AUDIENCE_CHANGED;
	if (live->is_known && (strcmp(live->version, s->audience_version) != 0 ||
			       !kz_prj_is_sole(&live->roster, s->actor)))
		return KZ_R_RESOURCE_AUDIENCE_CHANGED;
	return KZ_R_NONE;
}

/* A retrieved document is for its turn only, and what is attached already is shown once [PRJ-14]. */
static bool joins(const struct kz_prj_scope *s, const struct kz_prj_doc *d)
{
	return d->turn && strcmp(d->turn, s->turn) == 0 && !kz_prj_has(&s->manifest, d);
}

static void decide_private(const struct kz_prj_scope *s, const struct kz_prj_live *live, bool asks,
			   struct kz_prj_set *out)
{
	struct kz_prj_tally t = { .reason = judge_audience(s, live) };
	size_t count = s->manifest.count + s->retrieved.count;

	if (t.reason != KZ_R_NONE) {
		kz_prj_refuse(out, t.reason, &t);
		return;
	}
	if (!ids_resolve(s, out))
		return;
	for (size_t i = 0; i < count; i++) {
		bool is_retrieved = i >= s->manifest.count;
		const struct kz_prj_doc *d =
			is_retrieved ? &s->retrieved.at[i - s->manifest.count] : &s->manifest.at[i];

		if (is_retrieved && !joins(s, d))
			continue;
		kz_prj_count(&t, d);
		/* what was retrieved is read anew by who retrieved it: the attachments of now do not list it */
		if (t.reason == KZ_R_NONE && (is_retrieved || still_stands(live, d, &t)))
			kz_prj_unique(out, d);
	}
	if (t.reason != KZ_R_NONE)
		kz_prj_refuse(out, t.reason, &t);
	else if (!t.count && asks)
		kz_prj_refuse(out, KZ_R_RESOURCE_NONE, NULL);
}

void kz_prj_decide(const struct kz_prj_scope *s, const struct kz_prj_live *live, bool asks,
		   struct kz_prj_set *out)
{
	memset(out, 0, sizeof(*out));
	out->reason = out->withheld = KZ_R_NONE;
	if (s->kind == KZ_PRJ_PRIVATE)
		decide_private(s, live, asks, out);
	else
		kz_prj_room(s, live, asks, out);
}
