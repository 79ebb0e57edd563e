/*
 * The network of a run, and what it takes: a grant, variables of the program, a file
 * beside it.  Parts of core/run, included by nobody else.  Layer 3.
 * src: EXEC-17, GRANT-1, GRANT-7, GRANT-14, PROXY-1
 */
#ifndef KZ_CORE_RUN_EGRESS_H
#define KZ_CORE_RUN_EGRESS_H

#include "core/run/job.h"

/*
 * Asks for a grant when the run was approved, and opens the way to the proxy with it.  No
 * grant is no failure: the program runs without a network then.
 * err: audit_unavailable; a worker that cannot be reached
 */
enum kz_rc kz_job_egress(struct kz_job *j, struct kz_err *err);
/* What the record says of it. out: new */
struct kz_json *kz_job_egress_record(const struct kz_job *j);
/* Set a variable of the program, replacing one of that name; value as printf. err: KZ_E_OS */
enum kz_rc kz_job_env_set(struct kz_job *j, const char *name, struct kz_err *err, const char *fmt,
			  ...) __attribute__((format(printf, 4, 5)));
/* Take a variable of the program away; absent is fine. */
void kz_job_env_unset(struct kz_job *j, const char *name);
/* Wipe and free the environment. */
void kz_job_env_free(struct kz_job *j);
/* The value of a variable of the program; NULL: it has none. own: borrowed until it is set again */
const char *kz_job_env_get(const struct kz_job *j, const char *name);
/* Put a text beside the program under that name. err: as kz_wk_put */
enum kz_rc kz_job_put_text(struct kz_job *j, const char *name, const char *text, size_t n,
			   struct kz_deadline until, struct kz_err *err);

#endif
