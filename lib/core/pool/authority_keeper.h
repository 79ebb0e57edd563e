/*
 * The controller's side of the authority: settings, admission, inventory, the
 * keeper step and the outcomes of creates and deletes.  Only kz-controller calls
 * these, and it alone loads the library.  See authority.h.  Layer 3.
 */
#ifndef KZ_CORE_POOL_AUTHORITY_KEEPER_H
#define KZ_CORE_POOL_AUTHORITY_KEEPER_H

#include "core/pool/authority.h"
#include "gen/settings.h"

/* Load this build's library (no REPLACE), refuse an evicting server (valkey_evicts) [DEP-9]. */
enum kz_rc kz_auth_load(struct kz_auth **out, const char *url, const char *deployment,
			struct kz_deadline until, struct kz_err *err);
/* Delete libraries of kz with another digest that no deployment uses; out: how many. */
enum kz_rc kz_auth_prune(struct kz_auth *a, int *removed, struct kz_err *err);
/*
 * Speak for a node, as the controller with this random instance; every later call on a
 * says so, and is refused (node_taken) once another one speaks for it.  A controller
 * that is certainly dead, or was silent for 10 s, is followed at once.
 * out: is_over: what an earlier controller of the node had under way is over for certain.
 * err: node_taken; then nothing was changed
 */
enum kz_rc kz_auth_own(struct kz_auth *a, const char *node, const char *instance, bool *is_over,
		       struct kz_err *err);
/* The orderly end of that. */
enum kz_rc kz_auth_disown(struct kz_auth *a, const char *node, struct kz_err *err);
/* Tell the authority the settings it decides by (pool, queue, member bounds). */
enum kz_rc kz_auth_configure(struct kz_auth *a, const struct kz_settings *s, struct kz_err *err);
/* Publish the image identity that creates must carry [POOL-14]. */
enum kz_rc kz_auth_image(struct kz_auth *a, const char *identity, struct kz_err *err);
/*
 * Open admission for the workers of this node; only after an inventory of the node
 * was reported to this life of the library [FENCE-10].  The node serves until now +
 * fresh; each further inventory moves that on by itself [LEASE-19].  Idempotent.
 * err: not_reconciled, image_unpublished, setting_invalid (not configured)
 */
enum kz_rc kz_auth_open_admission(struct kz_auth *a, const char *node, struct kz_ms fresh,
				  struct kz_err *err);
/* Close it: for one node, or with node "" for the whole deployment until kz_auth_open_admission of any node. Anybody who is not another controller of the node may. in: reason is a code (audit_unavailable, deployment_closed) */
enum kz_rc kz_auth_close_admission(struct kz_auth *a, const char *node, const char *reason,
				   struct kz_err *err);

/* What a driver's list (or a worker's own word) says of one worker. */
struct kz_seen {
	char worker[KZ_WORKER_NAME];
	char instance[KZ_ID_HEX];
	int64_t fence; /* highest fence that worker ever saw, 0 when it did not answer */
	bool is_bound;
};
/* The server's clock, to be read before the driver is asked for its list. */
enum kz_rc kz_auth_now(struct kz_auth *a, int64_t *now_ms, struct kz_err *err);
/*
 * Report a complete and successful inventory of this node; taken_ms is what
 * kz_auth_now said before the driver was asked: entries whose worker is not in it and could no longer appear
 * become absent; unknown workers become orphans (retiring, counted) [FENCE-6, 7];
 * the fence is raised to the highest seen.  Idempotent [FENCE-13].
 */
enum kz_rc kz_auth_inventory(struct kz_auth *a, const char *node, int64_t taken_ms,
			     const struct kz_seen *seen, size_t count, struct kz_err *err);

/* One thing that the controller must do next, decided by Valkey. */
enum kz_task_kind { KZ_TASK_CREATE, KZ_TASK_DELETE, KZ_TASK_CHECK };
struct kz_task {
	enum kz_task_kind kind;
	char worker[KZ_WORKER_NAME];
	char instance
		[KZ_ID_HEX]; /* CREATE: the instance to make; DELETE: the one to delete, "" whatever has that name */
	char token
		[KZ_ID_HEX]; /* CREATE: operation token for the outcome calls; CHECK: the lease id */
	char image[96];      /* CREATE: the identity it must carry [POOL-15] */
	char holder[KZ_HOLDER_TEXT]; /* CHECK: a local holder whose life to check */
};
/*
 * One keeper step: expire what is due, retire idle or outdated warm workers, and
 * return up to max tasks of this node: creates to start (already counted and
 * tokened), retiring workers to delete, local holders to check.
 * in: names and tokens for new workers are made here (random).
 */
enum kz_rc kz_auth_step(struct kz_auth *a, const char *node, struct kz_task *tasks, size_t max,
			size_t *count, struct kz_err *err);
/* Outcome of a create: ready (with instance and observed image), failed for certain, or unknown [FENCE-4]. */
enum kz_rc kz_auth_ready(struct kz_auth *a, const char *worker, const char *token,
			 const char *instance, const char *image, struct kz_err *err);
enum kz_rc kz_auth_create_failed(struct kz_auth *a, const char *worker, const char *token,
				 struct kz_err *err);
enum kz_rc kz_auth_create_unknown(struct kz_auth *a, const char *worker, const char *token,
				  struct kz_err *err);
/*
 * Creates and deletes of this node that an earlier controller asked for are over: it
 * is dead, and so are its drivers.  What it was creating is deleted as any other, and
 * deletes are handed out anew, without waiting for their deadline.  To be called before the first kz_auth_step of a process [FENCE-14].
 */
enum kz_rc kz_auth_predecessor_over(struct kz_auth *a, const char *node, struct kz_err *err);
/*
 * The driver confirmed that this worker is absent: capacity is free [POOL-20].
 * err: create_unsettled (75) while a create of it could still take effect [FENCE-6];
 * KZ_OK when the entry is gone already.
 */
enum kz_rc kz_auth_absent(struct kz_auth *a, const char *worker, const char *instance,
			  struct kz_err *err);
/* A warm worker failed its health check, or died: warm -> retiring. */
enum kz_rc kz_auth_lost(struct kz_auth *a, const char *worker, const char *instance,
			struct kz_err *err);
/* The local holder of a lease is gone: expire it now. */
enum kz_rc kz_auth_holder_gone(struct kz_auth *a, const char *lease_id, struct kz_err *err);
/*
 * Wait until there may be something to do (queue grew, worker retired), other_fd
 * is readable (an epoll descriptor of the caller's own jobs, say; -1: none), or the
 * deadline passes; each is KZ_OK.  Cheap to call again and again.
 */
enum kz_rc kz_auth_wait_work(struct kz_auth *a, const char *node, int other_fd,
			     struct kz_deadline until, struct kz_err *err);

#endif
