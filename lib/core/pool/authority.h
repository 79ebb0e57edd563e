/*
 * The authority: the C face of the Valkey function library (lib/valkey).
 *
 * Valkey alone decides allocation; every decision is one FCALL judged by its
 * clock [POOL-11, LEASE-9, LEASE-13].  Identifiers given here are already keyed
 * hashes [LEASE-17].  A failure of Valkey is a refusal with its own reason and
 * never an answer from memory [LEASE-18].  Layer 3.
 */
#ifndef KZ_CORE_POOL_AUTHORITY_H
#define KZ_CORE_POOL_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"
#include "base/time.h"
#include "gen/settings.h"
#include "port/seal.h"

struct kz_auth; /* one connection, one deployment */
struct kz_json;

#define KZ_WORKER_NAME 64

/* A lease as its holder knows it. */
struct kz_lease {
	char id[KZ_ID_HEX];
	char token[KZ_ID_HEX];    /* current operation token; changes with each transition [LEASE-10] */
	char worker[KZ_WORKER_NAME];
	char instance[KZ_ID_HEX]; /* the driver's instance id of that worker */
	char node[KZ_WORKER_NAME];
	char actor[KZ_ID_HEX];        /* hashed; filled by kz_auth_lease and kz_auth_acquire */
	char conversation[KZ_ID_HEX];
	int64_t fence;
	int64_t expires_ms;       /* Valkey's clock */
	int64_t ttl_ms;
};

struct kz_lease_ask {
	const char *actor;        /* hashed */
	const char *conversation; /* hashed */
	const char *holder;       /* kz_proc_id text of the local holder, "" for none */
	struct kz_ms wait;        /* how long to queue; 0: only try */
	struct kz_ms ttl;
	int cancel_fd;            /* readable: give up waiting (a signalfd); -1: none */
};

/*
 * Connect. err: coordination_unavailable (and its kin: coordination_loading,
 * coordination_readonly, coordination_memory, coordination_busy), url_unsupported,
 * library_missing (76) when this program's digest is not loaded.
 * wait: until deadline
 */
enum kz_rc kz_auth_open(struct kz_auth **out, const char *url, const char *deployment,
			struct kz_deadline until, struct kz_err *err);
void kz_auth_close(struct kz_auth *a);
KZ_AUTO(kz_auto_auth_, struct kz_auth *, kz_auth_close)
#define kz_auto_auth kz_auto(kz_auto_auth_)

/* -- holders (kz-lease, kz-run, kz-reset) -- */

/* Acquire or wait in line [LEASE-1..6]; leaves no ticket behind on failure. err: queue_full, wait_timeout, workspace_busy, member_limit (wait 0), deployment_closed and the closed reasons, coordination_*, cancelled */
enum kz_rc kz_auth_acquire(struct kz_auth *a, const struct kz_lease_ask *ask, struct kz_lease *out, struct kz_err *err);
/* Renew by lease id and token; out: new expiry. err: lease_lost (expired, released or another token) [LEASE-12] */
enum kz_rc kz_auth_renew(struct kz_auth *a, struct kz_lease *l, struct kz_err *err);
/* Look a lease up by id for renew/release/reset by token; fills worker, instance, node, actor, conversation, fence, expiry, ttl. err: lease_lost */
enum kz_rc kz_auth_lease(struct kz_auth *a, const char *id, struct kz_lease *out, struct kz_err *err);
/* Release: leased -> resetting.  Ends the lease; l->token becomes the reset's token. err: lease_lost; repeated with the same token: KZ_OK once more [LEASE-20] */
enum kz_rc kz_auth_reset_begin(struct kz_auth *a, struct kz_lease *l, struct kz_ms ttl, struct kz_err *err);
/* resetting -> warm, compare-and-set on the token [RESET-7]; only after evidence was judged clean. err: token_superseded */
enum kz_rc kz_auth_publish(struct kz_auth *a, const struct kz_lease *l, struct kz_err *err);
/* resetting -> retiring. in: quarantine mark, cause (reason code). err: token_superseded */
enum kz_rc kz_auth_retire(struct kz_auth *a, const struct kz_lease *l, bool quarantine, const char *cause, struct kz_err *err);
/* A leased worker that refused its bind or whose run lost it: leased -> retiring. */
enum kz_rc kz_auth_abandon(struct kz_auth *a, const struct kz_lease *l, const char *cause, struct kz_err *err);

/* -- anybody -- */

/* Pool status as the JSON of policy/schema/status.json: counts per state, queue, ambiguous, quarantined, admission {open, reason}. out: new */
enum kz_rc kz_auth_status(struct kz_auth *a, struct kz_json **out, struct kz_err *err);
/* Leases (hashed identifiers only): array of objects. out: new */
enum kz_rc kz_auth_leases(struct kz_auth *a, struct kz_json **out, struct kz_err *err);

/* -- the controller -- */

/* Load this build's library (no REPLACE), refuse an evicting server (valkey_evicts) [DEP-9]. */
enum kz_rc kz_auth_load(struct kz_auth **out, const char *url, const char *deployment,
			struct kz_deadline until, struct kz_err *err);
/* Delete libraries of kz with another digest that no deployment uses; out: how many. */
enum kz_rc kz_auth_prune(struct kz_auth *a, int *removed, struct kz_err *err);
/* Tell the authority the settings it decides by (pool, queue, member bounds). */
enum kz_rc kz_auth_configure(struct kz_auth *a, const struct kz_settings *s, struct kz_err *err);
/* Publish the image identity that creates must carry [POOL-14]. */
enum kz_rc kz_auth_image(struct kz_auth *a, const char *identity, struct kz_err *err);
/* Open admission; only after reconciliation. The node serves until now + fresh unless it reports again [LEASE-19]. */
enum kz_rc kz_auth_open_admission(struct kz_auth *a, const char *node, struct kz_ms fresh, struct kz_err *err);
enum kz_rc kz_auth_close_admission(struct kz_auth *a, const char *reason, struct kz_err *err);

/* What a driver's list (or a worker's own word) says of one worker. */
struct kz_seen {
	char worker[KZ_WORKER_NAME];
	char instance[KZ_ID_HEX];
	int64_t fence;            /* highest fence that worker ever saw, 0 when it did not answer */
	bool is_bound;
};
/*
 * Report a complete inventory of this node taken at or after taken_ms of the
 * driver's answer: entries whose worker is not in it and could no longer appear
 * become absent; unknown workers become orphans (retiring, counted) [FENCE-6, 7];
 * the fence is raised to the highest seen.  Idempotent [FENCE-13].
 */
enum kz_rc kz_auth_inventory(struct kz_auth *a, const char *node, const struct kz_seen *seen, size_t count, struct kz_err *err);

/* One thing that the controller must do next, decided by Valkey. */
enum kz_task_kind { KZ_TASK_CREATE, KZ_TASK_DELETE, KZ_TASK_CHECK };
struct kz_task {
	enum kz_task_kind kind;
	char worker[KZ_WORKER_NAME];
	char instance[KZ_ID_HEX]; /* DELETE of an orphan or known instance; "" when unknown */
	char token[KZ_ID_HEX];
	char holder[160];         /* CHECK: a local holder whose life to check; lease id in token */
};
/*
 * One keeper step: expire what is due, retire idle or outdated warm workers, and
 * return up to max tasks of this node: creates to start (already counted and
 * tokened), retiring workers to delete, local holders to check.
 * in: names and tokens for new workers are made here (random).
 */
enum kz_rc kz_auth_step(struct kz_auth *a, const char *node, struct kz_task *tasks, size_t max, size_t *count, struct kz_err *err);
/* Outcome of a create: ready (with instance and observed image), failed for certain, or unknown [FENCE-4]. */
enum kz_rc kz_auth_ready(struct kz_auth *a, const char *worker, const char *token, const char *instance, const char *image, struct kz_err *err);
enum kz_rc kz_auth_create_failed(struct kz_auth *a, const char *worker, const char *token, struct kz_err *err);
enum kz_rc kz_auth_create_unknown(struct kz_auth *a, const char *worker, const char *token, struct kz_err *err);
/* The driver confirmed that this worker is absent: capacity is free [POOL-20]. */
enum kz_rc kz_auth_absent(struct kz_auth *a, const char *worker, const char *instance, struct kz_err *err);
/* A warm worker failed its health check, or died: warm -> retiring. */
enum kz_rc kz_auth_lost(struct kz_auth *a, const char *worker, const char *instance, struct kz_err *err);
/* The local holder of a lease is gone: expire it now. */
enum kz_rc kz_auth_holder_gone(struct kz_auth *a, const char *lease_id, struct kz_err *err);
/* Wait until there may be something to do (queue grew, worker retired) or the deadline passes; fd for poll instead. */
enum kz_rc kz_auth_wait_work(struct kz_auth *a, const char *node, struct kz_deadline until, struct kz_err *err);

/* One transition of the outbox, in the order Valkey made them. */
struct kz_transition {
	char store[KZ_ID_HEX];    /* life of the store: new after a loss */
	int64_t seq;              /* 1, 2, 3 ... within a store, no gaps */
	int64_t at_ms;
	char machine[16], from[24], event[24], to[24];
	char subject[KZ_WORKER_NAME]; /* worker name, lease id or ticket number */
	char worker[KZ_WORKER_NAME], lease[KZ_ID_HEX], actor[KZ_ID_HEX];
	char cause[40];
};
/* The next transitions not yet acknowledged (oldest first); ack after they are in the audit store. */
enum kz_rc kz_auth_outbox(struct kz_auth *a, struct kz_transition *out, size_t max, size_t *count, struct kz_err *err);
enum kz_rc kz_auth_outbox_ack(struct kz_auth *a, const char *store, int64_t seq, struct kz_err *err);

#endif
