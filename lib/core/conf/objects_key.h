/*
 * The credentials of an S3 object store: STATE/keys/objects.key, 0640 root:kz, written
 * by the operator: a line with the access key, one with the secret, and where the
 * credentials are temporary a third with the session token.  Layer 3.
 * src: WS-8
 */
#ifndef KZ_CORE_CONF_OBJECTS_KEY_H
#define KZ_CORE_CONF_OBJECTS_KEY_H

#include "base/err.h"

struct kz_objects_key {
	char access[129], secret[257], token[4097]; /* token "": none */
};

/*
 * Read them.  No error text holds a byte of them.
 * own: kz_objects_key_release wipes. err: key_missing, key_invalid, no_permission
 */
enum kz_rc kz_objects_key_read(const char *state, struct kz_objects_key *out, struct kz_err *err);
/* Wipe them. */
void kz_objects_key_release(struct kz_objects_key *k);

#endif
