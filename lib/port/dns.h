/*
 * DNS: raw A and AAAA questions for absolute names, on the owner's event loop.
 * The only user of c-ares.  No search list, no hosts file, no aliases from the
 * environment, no cache: each call asks.  What an answer may hold is judged
 * strictly; whether its addresses may be reached is not judged here.  One struct
 * kz_dns belongs to one thread.  Layer 1.
 * src: PROXY-4, PROXY-6; RFC 1035 section 4, RFC 2181 section 10.1
 */
#ifndef KZ_PORT_DNS_H
#define KZ_PORT_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

#define KZ_DNS_MOST 64 /* addresses of a name, both families */
#define KZ_DNS_ALIASES 8

struct kz_dns;
struct kz_dns_query;

struct kz_dns_addr {
	uint8_t family; /* 4 or 6 */
	uint8_t bytes[16];
};

enum kz_dns_families { KZ_DNS_BOTH, KZ_DNS_IPV4, KZ_DNS_IPV6 };

enum kz_dns_rc {
	KZ_DNS_OK,       /* every family asked for answered; perhaps with no address */
	KZ_DNS_FAILED,   /* a family did not answer, failed or sent nonsense */
	KZ_DNS_TOO_MANY, /* more addresses or aliases than the bounds above */
};

/* The owner watches fd for what is true, and no more when both are false. Called from inside kz_dns calls. */
typedef void (*kz_dns_watch)(void *arg, int fd, bool is_read, bool is_write);
/* The answer, once; a[0..n) is borrowed during the call. */
typedef void (*kz_dns_done)(void *arg, enum kz_dns_rc rc, const struct kz_dns_addr *a, size_t n);

/*
 * Make a resolver.
 * in: servers: "ADDRESS:PORT,..." with IPv6 in brackets, checked by the caller; NULL or "": those of
 * /etc/resolv.conf (its other lines do not count); timeout: of a whole question, about.
 * own: kz_dns_free. err: KZ_E_CONFIG (servers), KZ_E_OS. wait: it reads one small file
 */
enum kz_rc kz_dns_new(struct kz_dns **out, const char *servers, enum kz_dns_families families,
		      struct kz_ms timeout, kz_dns_watch watch, void *arg, struct kz_err *err);
/* End it. Who still waits for an answer is told KZ_DNS_FAILED, from here; such a call may not ask again. */
void kz_dns_free(struct kz_dns *d);

/*
 * Ask for all addresses of a name.  in: name without the final dot, at most 253 bytes.
 * done is called from kz_dns_ready or kz_dns_tick, never from here.
 * out: NULL when memory is out; else borrowed until done or kz_dns_cancel
 */
struct kz_dns_query *kz_dns_ask(struct kz_dns *d, const char *name, kz_dns_done done, void *arg);
/* Nobody waits any more: done is not called. */
void kz_dns_cancel(struct kz_dns_query *q);
/* Questions whose done is still to be called, and cancelled ones that are still on their way. */
size_t kz_dns_open(const struct kz_dns *d);

/* A watched descriptor is ready. wait: never */
void kz_dns_ready(struct kz_dns *d, int fd, bool is_read, bool is_write);
/* See to what is late or finished; call when kz_dns_wait_ms has passed. wait: never */
void kz_dns_tick(struct kz_dns *d);
/* How long the owner may wait before kz_dns_tick, as a poll(2) timeout; -1: for ever. */
int kz_dns_wait_ms(struct kz_dns *d);

#endif
