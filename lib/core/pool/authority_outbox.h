/*
 * The outbox: every transition that Valkey made, numbered, until the controller
 * has written it to the audit store [POOL-10, AUD-9].  Layer 3.
 */
#ifndef KZ_CORE_POOL_AUTHORITY_OUTBOX_H
#define KZ_CORE_POOL_AUTHORITY_OUTBOX_H

#include "core/pool/authority.h"

/* One transition of the outbox, in the order Valkey made them. */
struct kz_transition {
	char store[KZ_ID_HEX]; /* life of the store: new after a loss */
	int64_t seq;           /* 1, 2, 3 ... within a store, no gaps */
	int64_t at_ms;
	char machine[16], from[24], event[24], to[24];
	char subject[KZ_WORKER_NAME]; /* worker name, lease id or ticket number */
	char worker[KZ_WORKER_NAME], lease[KZ_ID_HEX], actor[KZ_ID_HEX];
	char cause[40];
};
/*
 * The next transitions that this node has not acknowledged (oldest first); ack after
 * they are in its audit store.  Every node gets every transition, at its own pace; one
 * that did not ask for an hour (a minute, when 50,000 wait) is waited for no more.
 * out: starts: the node has no place in the outbox, so these need not follow what it has
 */
enum kz_rc kz_auth_outbox(struct kz_auth *a, const char *node, struct kz_transition *out,
			  size_t max, size_t *count, bool *starts, struct kz_err *err);
enum kz_rc kz_auth_outbox_ack(struct kz_auth *a, const char *node, const char *store, int64_t seq,
			      struct kz_err *err);

#endif
