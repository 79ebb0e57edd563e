/*
 * The authority: the C face of the Valkey function library (lib/valkey).
 *
 * Valkey alone decides allocation; every decision is one FCALL judged by its
 * clock [POOL-11, LEASE-9, LEASE-13].  Identifiers given here are already keyed
 * hashes [LEASE-17].  A failure of Valkey is a refusal with its own reason and
 * never an answer from memory [LEASE-18].  This header is for holders; the
 * controller's calls are in authority_keeper.h, the outbox in authority_outbox.h.
 * Layer 3.
 */
#ifndef KZ_CORE_POOL_AUTHORITY_H
#define KZ_CORE_POOL_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"
#include "base/time.h"
#include "port/seal.h"

struct kz_auth; /* one connection, one deployment */
struct kz_json;

#define KZ_WORKER_NAME 64
#define KZ_HOLDER_TEXT 160
#define KZ_AUTH_CALL KZ_SECONDS(5)

/* A lease as its holder knows it. */
struct kz_lease {
	char id[KZ_ID_HEX];
	char token
		[KZ_ID_HEX]; /* current operation token; changes with each transition [LEASE-10] */
	char worker[KZ_WORKER_NAME];
	char instance[KZ_ID_HEX]; /* the driver's instance id of that worker */
	char node[KZ_WORKER_NAME];
	char actor[KZ_ID_HEX]; /* hashed; filled by kz_auth_lease and kz_auth_acquire */
	char conversation[KZ_ID_HEX];
	int64_t fence;
	int64_t expires_ms; /* Valkey's clock */
	int64_t ttl_ms;
};

struct kz_lease_ask {
	const char *actor;        /* hashed */
	const char *conversation; /* hashed */
	const char *holder;       /* kz_proc_id text of the local holder, "" for none */
	struct kz_ms wait;        /* how long to queue; 0: only try */
	struct kz_ms ttl;
	int cancel_fd; /* readable: give up waiting (a signalfd); -1: none */
};

/*
 * Connect. err: coordination_unavailable (and its kin: coordination_loading,
 * coordination_readonly, coordination_memory, coordination_busy), url_unsupported,
 * library_missing (76) when this program's digest is not loaded.
 * wait: until deadline; every later call on it waits KZ_AUTH_CALL at most
 */
enum kz_rc kz_auth_open(struct kz_auth **out, const char *url, const char *deployment,
			struct kz_deadline until, struct kz_err *err);
/* The same without asking whether the library is there, which the first call finds out. err: all but library_missing */
enum kz_rc kz_auth_connect(struct kz_auth **out, const char *url, const char *deployment,
			   struct kz_deadline until, struct kz_err *err);
void kz_auth_close(struct kz_auth *a);
KZ_AUTO(kz_auto_auth_, struct kz_auth *, kz_auth_close)
#define kz_auto_auth kz_auto(kz_auto_auth_)

/* -- holders (kz-lease, kz-run, kz-reset) -- */

/* Acquire or wait in line [LEASE-1..6]; leaves no ticket behind on failure. err: queue_full, wait_timeout, workspace_busy, member_limit (wait 0), deployment_closed and the closed reasons, coordination_*, cancelled */
enum kz_rc kz_auth_acquire(struct kz_auth *a, const struct kz_lease_ask *ask, struct kz_lease *out,
			   struct kz_err *err);
/* Renew by lease id, worker and token (from kz_auth_acquire or kz_auth_lease); out: new expiry. err: lease_lost (expired, released or another token) [LEASE-12] */
enum kz_rc kz_auth_renew(struct kz_auth *a, struct kz_lease *l, struct kz_err *err);
/* Renew it, and let it stand from now on without a local process that holds it. err: lease_lost */
enum kz_rc kz_auth_hand_over(struct kz_auth *a, struct kz_lease *l, struct kz_err *err);
/* Look a lease up by id for renew/release/reset by token; fills worker, instance, node, actor, conversation, fence, expiry, ttl. err: lease_lost */
enum kz_rc kz_auth_lease(struct kz_auth *a, const char *id, struct kz_lease *out,
			 struct kz_err *err);
/*
 * Release: leased -> resetting.  Ends the lease; l->token becomes the reset's token.
 * in: ttl bounds the reset: past it the worker is retired by the keeper [FENCE-15], and at
 * once when holder (kz_proc_id text of who resets; "": as before) is dead.
 * err: lease_lost; lease_released: somebody else did with this token. Repeated by the same
 * holder while resetting: KZ_OK once more, with the first call's reset token [LEASE-20]
 */
enum kz_rc kz_auth_reset_begin(struct kz_auth *a, struct kz_lease *l, struct kz_ms ttl,
			       const char *holder, struct kz_err *err);
/*
 * How a release with this token stands, for a caller that repeats it [LEASE-20].
 * in: lease id, the lease's own token. out: is_over; is_clean: the worker was published.
 * err: lease_lost when no such release is remembered (about the last 1000 of a life of the store are)
 */
enum kz_rc kz_auth_released(struct kz_auth *a, const char *id, const char *token, bool *is_over,
			    bool *is_clean, struct kz_err *err);
/* resetting -> warm, compare-and-set on the token [RESET-7]; only after evidence was judged clean. err: token_superseded */
enum kz_rc kz_auth_publish(struct kz_auth *a, const struct kz_lease *l, struct kz_err *err);
/* resetting -> retiring. in: quarantine mark, cause (reason code). err: token_superseded */
enum kz_rc kz_auth_retire(struct kz_auth *a, const struct kz_lease *l, bool quarantine,
			  const char *cause, struct kz_err *err);
/* A leased worker that refused its bind or whose run lost it: leased -> retiring. */
enum kz_rc kz_auth_abandon(struct kz_auth *a, const struct kz_lease *l, const char *cause,
			   struct kz_err *err);

/* -- anybody -- */

/* Pool status as the JSON of policy/schema/status.json: counts per state, queue, ambiguous, quarantined, admission {open, reason}. out: new */
enum kz_rc kz_auth_status(struct kz_auth *a, struct kz_json **out, struct kz_err *err);
/* Leases (hashed identifiers only): array of objects. out: new */
enum kz_rc kz_auth_leases(struct kz_auth *a, struct kz_json **out, struct kz_err *err);

#endif
