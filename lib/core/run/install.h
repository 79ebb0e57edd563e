/*
 * The packages of a run: what was asked for (-r) and what its imports name, found in the
 * worker's image, in what was installed before, or through the package broker, in a step
 * of its own before the program starts.
 *
 *   plan (requirements read, imports found; nothing outside this process)
 *   -> restore (packages of the conversation into the worker)
 *   -> decide (image and lock first; what they satisfy mints no token and starts nothing)
 *   -> install (an exec of its own: its own bound, environment from empty, the way to the
 *      gateway and no other) -> keep (a commit of its own, so that a run that fails later
 *      still has them; what the program changes there is never kept)
 *
 * A failure ends the run before its program starts, with a record of why.  Parts of
 * core/run, included by nobody else.  Layer 3.
 * src: BRK-9 to BRK-11, BRK-16 to BRK-26, BRK-29, BRK-33, EXEC-5 to EXEC-10, BOUND-2, BOUND-8
 */
#ifndef KZ_CORE_RUN_INSTALL_H
#define KZ_CORE_RUN_INSTALL_H

#include "core/audit/event.h"
#include "core/run/job.h"

/* Read what was asked for and find what the program imports. err: dependency_request_invalid */
enum kz_rc kz_job_packages_plan(struct kz_job *j, struct kz_err *err);
/* How much longer a lease has to be for it; 0 when nothing can come to be installed. */
struct kz_ms kz_job_packages_time(const struct kz_job *j);
/*
 * Bring what is kept into the worker, install what is missing, keep it, and show it to the program.
 * err: dependency_install_failed, dependency_baked_pin, packages_damaged, cancelled, those
 *   of the store and the worker; no code may start then.
 * wait: SANDBOX_DEPENDENCY_INSTALL_TIMEOUT_SECONDS and what a restore and a commit take
 */
enum kz_rc kz_job_packages(struct kz_job *j, struct kz_err *err);
/* What the record says: "packages" into o; the facts of a failure into not_run. */
void kz_job_packages_record(const struct kz_job *j, struct kz_json *o);
void kz_job_packages_not_run(const struct kz_job *j, struct kz_json *not_run);
/* What the audit row of a refusal says, when packages were the cause of it: why, how many, a digest of their names. */
void kz_job_packages_denial(const struct kz_job *j, struct kz_audit_denial *d);
void kz_job_packages_free(struct kz_job *j);

#endif
