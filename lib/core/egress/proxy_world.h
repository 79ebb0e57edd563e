/*
 * What the proxy goes by: keys, revocations, settings, this machine's addresses.  One
 * immutable set, counted by reference; the main thread makes the next one when a file
 * changed, and each loop takes it up between two events.  Layer 3.
 * src: PROXY-9 to PROXY-11, GRANT-13
 */
#ifndef KZ_CORE_EGRESS_PROXY_WORLD_H
#define KZ_CORE_EGRESS_PROXY_WORLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/conf/conf.h"
#include "core/egress/grant.h"
#include "core/egress/resolvers.h"
#include "core/egress/revoke.h"
#include "port/dns.h"
#include "rule/decide.h"

#define KZ_PX_SELF 512 /* addresses of this machine; with more the proxy refuses everything */
#define KZ_PX_SERVERS KZ_RESOLVERS_TEXT

struct kz_px_world {
	atomic_uint refs;
	uint64_t number;            /* of this set */
	uint64_t keys_number;       /* of the set that brought these keys */
	struct kz_keyring *keys;    /* NULL: none yet, so everything is refused [PROXY-10] */
	struct kz_revoked *revoked; /* NULL: they do not verify, so everything is refused */
	int64_t lost_ms;            /* since when there are none, boot time */
	bool is_cut;                /* there have been none for so long that open tunnels end too */
	int64_t serial;             /* newest of the revocations that were ever seen */
	enum kz_reason keys_reason; /* why there are no keys */
	char audience[KZ_AUDIENCE_TEXT];
	struct kz_decide_env env;      /* borrows the arrays below */
	bool is_deny_bad, is_self_bad; /* the setting makes no sense; the addresses are not known */
	struct kz_cidr deny[KZ_SCOPE_CIDRS];
	struct kz_addr self[KZ_PX_SELF];
	char servers[KZ_PX_SERVERS]; /* ADDRESS:PORT,...; "": of /etc/resolv.conf */
	bool is_servers_unusable;
	uint64_t resolv_mark; /* of /etc/resolv.conf */
	enum kz_dns_families families;
	int64_t head_ms, connect_ms, first_byte_ms, idle_ms;
	unsigned tunnels_per_grant;
};

/* Watches the files; belongs to the main thread. */
struct kz_px_watch {
	char state[256];
	uint64_t env_mark, public_mark;
	int64_t clock_ms;     /* of the day less boot time, as the newest set was made */
	int64_t read_ms;      /* when the keys were last read, boot time */
	bool is_settings_bad; /* they could not be read, or make no sense */
	bool is_amiss; /* something was not to be had: it is read again, whatever the marks say */
};

/*
 * The set that holds now.  in: last: the one before, NULL at the start; force: read the
 * keys again whatever their files' marks say.
 * out: a new reference; NULL when nothing changed (then last goes on).
 * err: of settings, at the start only; later ones that make no sense leave the former. wait: small files
 */
enum kz_rc kz_px_world_next(struct kz_px_watch *w, const struct kz_px_world *last, bool force,
			    struct kz_px_world **out, struct kz_err *err);
struct kz_px_world *kz_px_world_take(struct kz_px_world *w);
void kz_px_world_give(struct kz_px_world *w);

/* The revocations of the keys that verify them, and a set that is complete. [the health answer's "ready"] */
bool kz_px_world_ready(const struct kz_px_world *w);

#endif
