/*
 * Rooms: the admitted files exactly, and beside them the member's private selection when
 * nobody else can see the room.  The room is judged first, the selection after it [PRJ-22].
 */
#include <string.h>

#include "base/str.h"
#include "rule/projection_parts.h"

/* Same turn, same member, later than the admission: all three, for every link of the file [PRJ-36]. */
bool kz_prj_is_own(const struct kz_prj_scope *s, const struct kz_prj_live *live,
		   const struct kz_prj_doc *d)
{
	bool has_link = false;

	/* what was admitted stays in the comparison, whoever linked it again */
	if (kz_prj_has(&s->manifest, d))
		return false;
	for (size_t i = 0; i < live->links.count; i++) {
		const struct kz_prj_link *l = &live->links.at[i];

		if (strcmp(l->id, d->id) != 0 || !d->version || strcmp(l->version, d->version) != 0)
			continue;
		if (strcmp(l->turn, s->turn) != 0 || strcmp(l->member, s->actor) != 0 ||
		    l->position <= s->position)
			return false;
		has_link = true;
	}
	return has_link;
}

static const struct kz_prj_doc *admitted_root(const struct kz_prj_scope *s, const char *root)
{
	for (size_t i = 0; root && i < s->manifest.count; i++)
		if (s->manifest.at[i].root && strcmp(s->manifest.at[i].root, root) == 0)
			return &s->manifest.at[i];
	return NULL;
}

/* The admitted file that the run itself made a new version of; NULL for none [PRJ-39]. */
static const struct kz_prj_doc *revised(const struct kz_prj_scope *s,
					const struct kz_prj_live *live)
{
	for (size_t i = 0; i < live->manifest.count; i++) {
		const struct kz_prj_doc *d = &live->manifest.at[i], *a = admitted_root(s, d->root);

		if (a && kz_prj_is_own(s, live, d))
			return a;
	}
	return NULL;
}

/* Is it still the room that the turn was admitted to? */
static enum kz_reason judge(const struct kz_prj_scope *s, const struct kz_prj_live *live,
			    const struct kz_prj_doc **about)
{
	if (!live->is_known || !live->has_manifest)
		return KZ_R_AUDIENCE_UNAVAILABLE;
	if (!kz_prj_has_id(&s->roster, s->actor) || !kz_prj_has_id(&live->roster, s->actor))
		return KZ_R_MEMBER_INACTIVE;
	*about = revised(s, live);
	if (*about)
		return KZ_R_RESOURCE_UPDATED_IN_TURN;
	return live->rest_matches ? KZ_R_NONE : KZ_R_RESOURCE_ROOM_CHANGED;
}

/* The selection by itself: its audience, its files, its size. What the room has is not counted twice [PRJ-21]. */
static enum kz_reason judge_selection(const struct kz_prj_scope *s, const struct kz_prj_live *live,
				      struct kz_prj_tally *t)
{
	for (size_t i = 0; i < s->selection.count; i++)
		if (!kz_prj_has(&s->manifest, &s->selection.at[i]))
			kz_prj_count(t, &s->selection.at[i]);
	if (!t->count)
		return KZ_R_NONE;
	/* the last word before bytes load: same version, and alone [PRJ-24] */
	if (strcmp(live->version, s->audience_version) != 0 ||
	    !kz_prj_is_sole(&live->roster, s->actor))
		return KZ_R_RESOURCE_AUDIENCE_CHANGED;
	return t->reason;
}

/* Withheld as a whole; fatal only to a run that asked for files and had no other [PRJ-26, PRJ-30]. */
static void withhold(struct kz_prj_set *out, const char *event, enum kz_reason why, bool is_fatal,
		     const struct kz_prj_tally *t)
{
	out->event = event;
	out->withheld = why;
	if (is_fatal)
		kz_prj_refuse(out, why, why == KZ_R_RESOURCE_AUDIENCE_CHANGED ? NULL : t);
}

static void add_selection(const struct kz_prj_scope *s, const struct kz_prj_live *live, bool asks,
			  struct kz_prj_set *out)
{
	struct kz_prj_tally alone = { .reason = KZ_R_NONE };
	enum kz_reason why = judge_selection(s, live, &alone);
	bool is_fatal = asks && out->file_count == 0, has_any;

	if (why != KZ_R_NONE) {
		withhold(out, KZ_PRJ_EVENT_EARLY, why, is_fatal, &alone);
		return;
	}
	has_any = alone.count > 0;
	alone.count += (int64_t)out->file_count;
	alone.bytes += out->file_bytes;
	if (alone.count > KZ_PRJ_FILES)
		why = KZ_R_RESOURCE_OVER_COUNT;
	else if (alone.bytes > KZ_PRJ_BYTES)
		why = KZ_R_RESOURCE_OVER_BYTES;
	if (why != KZ_R_NONE) {
		withhold(out, KZ_PRJ_EVENT_MERGED, why, is_fatal, &alone);
		return;
	}
	for (size_t i = 0; i < s->selection.count; i++)
		if (!kz_prj_has(&s->manifest, &s->selection.at[i]))
			kz_prj_unique(out, &s->selection.at[i]);
	out->has_selection = has_any;
}

void kz_prj_room(const struct kz_prj_scope *s, const struct kz_prj_live *live, bool asks,
		 struct kz_prj_set *out)
{
	struct kz_prj_tally t = { .reason = KZ_R_NONE };

	t.reason = judge(s, live, &t.about);
	if (t.reason != KZ_R_NONE) {
		kz_prj_refuse(out, t.reason, &t);
		return;
	}
	for (size_t i = 0; i < s->manifest.count; i++) {
		kz_prj_count(&t, &s->manifest.at[i]);
		if (t.reason == KZ_R_NONE)
			kz_prj_unique(out, &s->manifest.at[i]);
	}
	if (t.reason != KZ_R_NONE) {
		kz_prj_refuse(out, t.reason, &t);
		return;
	}
	/* a room that somebody else could see at admission never considers it [PRJ-25] */
	if (kz_prj_is_sole(&s->roster, s->actor))
		add_selection(s, live, asks, out);
	if (out->reason == KZ_R_NONE && asks && !out->file_count)
		kz_prj_refuse(out, KZ_R_RESOURCE_NONE, NULL);
}
