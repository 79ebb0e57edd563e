/*
 * One thing from a registry: each host on the way is judged by the list and by
 * rule/decide, left alone while it cools down, looked up, dialled where it was judged to be,
 * and bounded in time.  For the files of the broker only.  Layer 3.
 * src: BRK-8, BRK-12 to BRK-14, BRK-31
 */
#ifndef KZ_CORE_BROKER_FETCH_H
#define KZ_CORE_BROKER_FETCH_H

#include "core/broker/cool.h"
#include "core/broker/net.h"
#include "core/broker/registry.h"
#include "rule/decide.h"

#define KZ_FETCH_CONNECT_MS 5000 /* lookup, connection and TLS [BRK-12] */
#define KZ_FETCH_FIRST_MS 10000  /* from the request to the head of the answer */
#define KZ_FETCH_IDLE_MS 30000   /* between two pieces of a body */
#define KZ_FETCH_HOPS 5
#define KZ_FETCH_SILENT (-1) /* a status: a host took the request and gave no answer */

/* What all of them share; borrowed. */
struct kz_fetch_world {
	struct kz_serve *s;
	struct kz_brk_net *net;
	struct kz_cool *cool;
	const struct kz_decide_env *env;
	uint64_t *cooldowns; /* a counter: hosts that were found not to answer */
};

struct kz_fetch_ask {
	const struct kz_registry_conf *registry; /* copied */
	const char *password;                    /* of its password file; "": none */
	const char *ca; /* trusted certificates, copied; NULL: the machine's */
	struct kz_url url;
	const char *accept; /* "Accept: ..." */
	bool is_coded;      /* it may come compressed */
	/*
	 * The head of the last answer: 200, and nothing else.
	 * in: url: where it came from
	 */
	void (*on_head)(void *arg, const struct kz_get_head *head, const struct kz_url *url);
	bool (*on_body)(void *arg, const void *p, size_t n); /* as kz_http_get's */
	/* It is over, once. in: why: KZ_R_NONE: whole; stopped by on_body: KZ_R_SYSTEM_FAILED; status: of the last answer, 0 without, or KZ_FETCH_SILENT */
	void (*on_end)(void *arg, enum kz_reason why, int status, int64_t wire);
	void *arg;
};

struct kz_fetch;

/* Start one; nothing of it is called from here. out: NULL when memory is out; else borrowed until on_end or kz_fetch_cancel */
struct kz_fetch *kz_fetch_start(const struct kz_fetch_world *w, const struct kz_fetch_ask *ask);
/* Nobody wants it any more. Not from its own calls; NULL is fine. */
void kz_fetch_cancel(struct kz_fetch *f);
/* Hold the body up, or let it come again. */
void kz_fetch_hold(struct kz_fetch *f, bool is_held);
/* The host that is asked now: for the operator's log alone. borrowed */
const char *kz_fetch_host(const struct kz_fetch *f);
/* Bytes of the body so far, as they came. */
int64_t kz_fetch_wire(const struct kz_fetch *f);

#endif
