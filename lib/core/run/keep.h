/*
 * The workspace of a run: restored before its code starts, saved after it ended by
 * itself.  Parts of core/run, included by nobody else.  Layer 3.
 * src: WS-7, WS-9, WS-12, WS-13, WS-15 to WS-17, BOUND-5, BOUND-9, INV-35 to INV-37
 */
#ifndef KZ_CORE_RUN_KEEP_H
#define KZ_CORE_RUN_KEEP_H

#include "core/run/job.h"

/* Bring the newest generation into the worker's workspace. err: those of the store, object_damaged, archive_refused; then no code may start */
enum kz_rc kz_job_restore(struct kz_job *j, struct kz_err *err);
/* Keep what the program left. A failure is kept with kz_job_fail; the stored generation stays. */
void kz_job_save(struct kz_job *j);

#endif
