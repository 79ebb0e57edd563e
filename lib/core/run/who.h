/*
 * Who a lease is for: actor and conversation as callers name them, checked, and the
 * hashed forms that leave this process [LEASE-17].  Layer 3.
 */
#ifndef KZ_CORE_RUN_WHO_H
#define KZ_CORE_RUN_WHO_H

#include "base/err.h"
#include "port/seal.h"

/* Longest actor or conversation, in bytes. */
#define KZ_WHO_MAX 256

struct kz_who {
	char actor[KZ_WHO_MAX + 1];
	char conversation[KZ_WHO_MAX + 1];
	char actor_id[KZ_ID_HEX]; /* hashed; set by kz_who_hash */
	char conversation_id[KZ_ID_HEX];
};

/*
 * Take the names.  in: actor NULL: the calling user's name; conversation NULL: a
 * random one, which nobody else can wait for.
 * err: usage when one is empty, over KZ_WHO_MAX bytes, not UTF-8 or has control characters
 */
enum kz_rc kz_who_set(struct kz_who *w, const char *actor, const char *conversation,
		      struct kz_err *err);
/* Hash both with the identity key of a state directory. err: as kz_keys_read */
enum kz_rc kz_who_hash(struct kz_who *w, const char *state, struct kz_err *err);
/* The authority knows hashes only: put the actor's name into what it said of "this actor". */
void kz_who_tell(const struct kz_who *w, struct kz_err *err);

#endif
