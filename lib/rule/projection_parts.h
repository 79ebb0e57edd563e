/*
 * What rule/projection*.c share and nobody else includes.  Layer 2.
 */
#ifndef KZ_RULE_PROJECTION_PARTS_H
#define KZ_RULE_PROJECTION_PARTS_H

#include "rule/projection.h"

/* Add a file under a name that no other of the set has. in: there is room for it */
void kz_prj_unique(struct kz_prj_set *set, const struct kz_prj_doc *d);
/* The room's part of kz_prj_decide. */
void kz_prj_room(const struct kz_prj_scope *s, const struct kz_prj_live *live, bool asks,
		 struct kz_prj_set *out);

/* Same file in the same version? */
bool kz_prj_same(const struct kz_prj_doc *a, const struct kz_prj_doc *b);
bool kz_prj_has(const struct kz_prj_docs *docs, const struct kz_prj_doc *d);
bool kz_prj_has_id(const struct kz_prj_ids *ids, const char *id);
/* Is the list this member, and nobody else? */
bool kz_prj_is_sole(const struct kz_prj_ids *roster, const char *actor);

/* Files on their way into a set. */
struct kz_prj_tally {
	int64_t count, bytes;
	enum kz_reason reason; /* the first that keeps one of them out, or one too many */
	const struct kz_prj_doc *about;
};
/* Count a file in: its state first, then the bounds. */
void kz_prj_count(struct kz_prj_tally *t, const struct kz_prj_doc *d);
/* The set is refused. */
void kz_prj_refuse(struct kz_prj_set *out, enum kz_reason r, const struct kz_prj_tally *t);

#endif
