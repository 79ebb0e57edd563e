/*
 * What a run tells: to its caller, in its record, to the audit store.  For the files
 * of core/run only.  Layer 3.
 */
#ifndef KZ_CORE_RUN_JOB_TELL_H
#define KZ_CORE_RUN_JOB_TELL_H

#include <stddef.h>

#include "base/err.h"
#include "core/run/run.h"
#include "rule/result.h"

struct kz_job;
struct kz_json;

/* Print bytes of stream 1 or 2: as they are, or as an event with -j. */
enum kz_rc kz_job_print(struct kz_job *j, int stream, const void *p, size_t n, struct kz_err *err);
/* Flush characters that were cut at the end of a stream (with -j). */
enum kz_rc kz_job_print_rest(struct kz_job *j, struct kz_err *err);
/* Queue one JSON line on standard output. */
enum kz_rc kz_job_print_json(struct kz_job *j, const struct kz_json *o, struct kz_err *err);
/* The terminal record as it stands. out: new, NULL when memory is out */
struct kz_json *kz_job_record(struct kz_job *j, struct kz_verdict *verdict);
/* What the caller is told of a verdict; a bound with the setting it comes from. */
void kz_job_explain(const struct kz_job *j, const struct kz_verdict *v, struct kz_run_result *out);
/* A run that was not audited as dispatched: the row of why. err: audit_unavailable */
enum kz_rc kz_job_audit_denial(struct kz_job *j, const char *reason, struct kz_err *err);
/* The rows of its dispatch (what runs, with what, within what bounds) and of its end. err: audit_unavailable, audit_refused */
enum kz_rc kz_job_audit_dispatch(struct kz_job *j, struct kz_err *err);
enum kz_rc kz_job_audit_record(struct kz_job *j, const struct kz_json *record, struct kz_err *err);

#endif
