/*
 * Reset: end the tenant, collect evidence, judge it, publish or retire.
 *
 * The one implementation behind kz-reset, kz-lease release and kz-run, so that no
 * caller can skip a step [RESET-4..10].  Layer 3.
 */
#ifndef KZ_CORE_RESET_RESET_H
#define KZ_CORE_RESET_RESET_H

#include <stdbool.h>

#include <stdbool.h>

#include "base/err.h"
#include "base/time.h"
#include "core/pool/authority.h"

struct kz_audit;
struct kz_wk;
struct kz_json;

struct kz_reset_env {
	struct kz_auth *auth;
	struct kz_audit *audit;
	struct kz_wk *worker; /* an open connection, or NULL: it is opened */
	bool is_bound;        /* the lease was bound on that connection */
	const char *state;    /* state directory, for the socket and worker.key */
	struct kz_ms timeout; /* KZ_RESET_TIMEOUT_SECONDS [RESET-10] */
};

/*
 * Reset a leased worker: begin (the lease ends here), measure, judge, audit the
 * evidence, publish warm or retire with quarantine mark where it could not be read.
 * out: evidence (new): {"v":1,"type":"evidence","clean":bool,"surfaces":{...},"worker","lease"}; KZ_OK also when not clean.
 * err: lease_lost, token_superseded, coordination_*, audit_unavailable (the worker is then retired, never published)
 */
enum kz_rc kz_reset_lease(const struct kz_reset_env *env, struct kz_lease *lease,
			  struct kz_json **evidence, struct kz_err *err);

#endif
