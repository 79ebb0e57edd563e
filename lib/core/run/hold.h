/*
 * Holding a lease from a shell: what kz-lease does with one.
 *
 * release is the reset (core/reset), so that nobody can skip it; with keeps a lease
 * around a program, renews it while the program lives, and ends the program before
 * the lease could be given to anybody else.  Layer 3.
 */
#ifndef KZ_CORE_RUN_HOLD_H
#define KZ_CORE_RUN_HOLD_H

#include "base/err.h"
#include "base/time.h"
#include "core/audit/audit.h"
#include "core/conf/conf.h"
#include "core/pool/authority.h"
#include "core/run/who.h"

struct kz_json;
struct kz_wk;

struct kz_hold {
	struct kz_conf conf;
	struct kz_who who;
	struct kz_auth *auth;
	struct kz_audit *audit; /* opened by the calls that need it */
	struct kz_lease lease;
	struct kz_deadline sure; /* until when it certainly holds without a renewal */
};

/* Settings and Valkey. own: kz_hold_close, also after a failure. err: not_running, no_permission, coordination_*, library_missing */
enum kz_rc kz_hold_open(struct kz_hold *h, struct kz_err *err);
/* As kz_hold_open, for who acquires next for h->who (set already): an authority that cannot be reached is a refusal, and on record. */
enum kz_rc kz_hold_open_to_acquire(struct kz_hold *h, struct kz_err *err);
void kz_hold_close(struct kz_hold *h);
#define kz_auto_hold kz_auto(kz_hold_close)

/*
 * Acquire for h->who (set already). in: wait NULL: as the settings say, else at most
 * that; holder text of the process that holds it, "" for none; cancel_fd -1 none.
 * err: as kz_auth_acquire
 */
enum kz_rc kz_hold_acquire(struct kz_hold *h, const struct kz_ms *wait, const char *holder,
			   int cancel_fd, struct kz_err *err);
/* Look up a lease by id. in: token NULL to look only. err: usage when id is none of kz's; lease_lost, token_missing */
enum kz_rc kz_hold_find(struct kz_hold *h, const char *id, const char *token, struct kz_err *err);
/* Renew it, and move the worker's own deadline. err: lease_lost */
enum kz_rc kz_hold_renew(struct kz_hold *h, struct kz_err *err);
/* Reset and release. in: worker, an open connection or NULL. out: evidence (new). err: as kz_reset_lease */
enum kz_rc kz_hold_release(struct kz_hold *h, struct kz_wk *worker, struct kz_json **evidence,
			   struct kz_err *err);
/*
 * Somebody released this lease with this token, or is at it: wait until that is over [LEASE-20].
 * out: is_clean. err: lease_lost when nobody is known to have. wait: as long as a reset may take
 */
enum kz_rc kz_hold_released(struct kz_hold *h, const char *id, const char *token, bool *is_clean,
			    struct kz_err *err);

/*
 * Run a program under a lease of h->who and release it afterwards.
 * in: argv NULL-terminated, looked up in PATH; environ of the child: ours, and
 *   KZ_LEASE, KZ_LEASE_TOKEN, KZ_FENCE.
 * out: status of the child, or 128+n; untouched on failure, but 128+n when a
 *   signal came before the program was started.
 * err: lease_lost (the program was ended), cannot_execute, and those of acquire;
 *   a failure after the program ended (reset) is logged, its status stands.
 */
enum kz_rc kz_hold_with(struct kz_hold *h, const struct kz_ms *wait, char *const *argv, int *status,
			struct kz_err *err);

#endif
