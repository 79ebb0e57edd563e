/*
 * What all loops of the proxy share: grants that were verified, by the digest of their
 * token, with the connections and lookups of each; the count of all connections; refusals on their
 * way to the audit.  Every call locks for a moment and waits for nothing else.  Layer 3.
 * src: PROXY-2, PROXY-19, AUD-6
 */
#ifndef KZ_CORE_EGRESS_PROXY_BOOK_H
#define KZ_CORE_EGRESS_PROXY_BOOK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/egress/grant.h"
#include "rule/reason.h"

#define KZ_PX_KNOWN 256 /* verified grants that are kept without a connection */
#define KZ_PX_BUCKETS 512
/*
 * Names that may be looked up at once: of one grant, as many as a worker passes connections on;
 * in all, those of 32 such grants.  A lookup takes some 70 KiB with c-ares 1.18, so that all
 * of them are 140 MiB, and a name server that says nothing costs no more.
 */
#define KZ_PX_NAMES_GRANT 64
#define KZ_PX_NAMES_MOST 2048

/* A verified grant; what it says never changes. */
struct kz_px_known {
	struct kz_px_known *next;          /* of its bucket */
	struct kz_px_known *older, *newer; /* of those without connections */
	char digest[KZ_SHA256_HEX];
	uint64_t keys_number; /* the keys that verified it */
	unsigned connections;
	unsigned names; /* being looked up */
	struct kz_grant grant;
};

struct kz_px_book {
	pthread_mutex_t lock;
	struct kz_px_known *buckets[KZ_PX_BUCKETS];
	struct kz_px_known *oldest, *newest;
	size_t idle;
	size_t names;              /* being looked up; with the lock */
	atomic_size_t connections; /* all, in every state */
	atomic_size_t tunnels;     /* of those, open to a server */
	size_t most;               /* connections at once */
	atomic_ullong accepted, refused, bytes;
};

/* in: most: connections at once */
void kz_px_book_init(struct kz_px_book *b, size_t most);
/* Forget all; no connection may hold a grant any more. */
void kz_px_book_release(struct kz_px_book *b);

/*
 * The grant of a digest, if these keys verified it, with one connection more.
 * out: tunnel_limit when it has most already; KZ_R_NONE and *out, NULL when it is not known
 */
enum kz_reason kz_px_book_find(struct kz_px_book *b, const char *digest, uint64_t keys_number,
			       unsigned most, struct kz_px_known **out);
/* Keep a grant that was just verified, with one connection; another loop may have been first. out: as kz_px_book_find; KZ_R_SYSTEM_FAILED when memory is out */
enum kz_reason kz_px_book_add(struct kz_px_book *b, const char *digest, uint64_t keys_number,
			      const struct kz_grant *g, unsigned most, struct kz_px_known **out);
/* A lookup begins for a connection of that grant. out: name_limit when there are too many; else kz_px_book_answered follows */
enum kz_reason kz_px_book_ask(struct kz_px_book *b, struct kz_px_known *k);
/* It is over, or nobody waits for it any more. */
void kz_px_book_answered(struct kz_px_book *b, struct kz_px_known *k);
/* How many are under way now. */
size_t kz_px_book_names(struct kz_px_book *b);
/* One connection less. */
void kz_px_book_leave(struct kz_px_book *b, struct kz_px_known *k);

#endif
