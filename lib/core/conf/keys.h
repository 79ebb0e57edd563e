/*
 * Keys: STATE/keys holds field.key (root only), what derives from it (worker.key,
 * grant.key, receipt.key, package.key) and identity.key, all 32 bytes in hex; all but the
 * first 0640 root:kz.  grant.key and receipt.key are seeds of Ed25519 keys; their public halves are
 * in STATE/public (core/conf/public.h).  A program reads only the file it needs.  Rotating the field key never changes
 * an identifier; the identity key is never rotated.  Layer 3.
 */
#ifndef KZ_CORE_CONF_KEYS_H
#define KZ_CORE_CONF_KEYS_H

#include <sys/types.h>

#include "base/err.h"
#include "port/seal.h"

enum kz_key {
	KZ_KEY_FIELD,
	KZ_KEY_WORKER,
	KZ_KEY_GRANT,
	KZ_KEY_RECEIPT,
	KZ_KEY_PACKAGE,
	KZ_KEY_IDENTITY
};

/* Make the keys that are missing and derive the derived ones anew; idempotent. in: gid of the callers' group, (gid_t)-1 for none */
enum kz_rc kz_keys_make(const char *state, gid_t gid, struct kz_err *err);
/* Read one key. own: caller releases with kz_secret_release. err: no_permission, key_missing, key_invalid */
enum kz_rc kz_keys_read(const char *state, enum kz_key which, struct kz_secret *out,
			struct kz_err *err);
/* Replace field.key and re-derive; identity.key stays.  kz_public_write must follow. */
enum kz_rc kz_keys_rotate(const char *state, gid_t gid, struct kz_err *err);
/* The secret of one worker, from worker.key, its name and instance id (hex); the driver, the holder and kz-controller derive it alike. */
void kz_worker_secret(const struct kz_secret *worker_key, const char *name, const char *instance,
		      char out[65]);
/* Hashed identifiers [LEASE-17]: contexts "actor" (fields: actor) and "conversation" (fields: actor, conversation). */
void kz_actor_id(const struct kz_secret *identity, const char *actor, char out[KZ_ID_HEX]);
void kz_conversation_id(const struct kz_secret *identity, const char *actor,
			const char *conversation, char out[KZ_ID_HEX]);

#endif
