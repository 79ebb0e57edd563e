/*
 * The workspace of a run: restored before its code starts, saved after it ended by
 * itself.  A run without -C or a scope has a conversation of its own, and nothing is kept.  Parts
 * of core/run, included by nobody else.  Layer 3.
 *
 * Several runs under one held lease share a worker: its label says which generation is
 * in its workspace, so that it is loaded only when that is another one.  The worker
 * forgets the label when a program starts, and gets the next one after a save: what a
 * bound or kz ended is never taken for what is stored.
 * src: WS-7, WS-9, WS-12, WS-13, WS-15 to WS-17, BOUND-5, BOUND-9, INV-35 to INV-37
 */
#ifndef KZ_CORE_RUN_KEEP_H
#define KZ_CORE_RUN_KEEP_H

#include "core/run/job.h"

/* What restoring and saving may take of a lease. */
#define KZ_KEEP_MS 60000

/* Is the workspace of this run kept? */
bool kz_job_keeps(const struct kz_job *j);
/*
 * Bring the newest generation into the worker's workspace.
 * err: those of the store, object_damaged, archive_refused, cancelled; then no code may
 *   start. wait: until the lease is not sure any more, KZ_KEEP_MS at most
 */
enum kz_rc kz_job_restore(struct kz_job *j, struct kz_err *err);
/* Keep what the program left. A failure is kept with kz_job_fail, and the stored generation stays. wait: as kz_job_restore, and a commit */
void kz_job_save(struct kz_job *j);
/* What the record says: snapshot and workspace. */
void kz_job_keep_record(const struct kz_job *j, struct kz_json *o);
void kz_keep_free(struct kz_keep *k);

#endif
