/*
 * A run as one cell of a persistent kernel (kz-run -k; docs/kernels.md).
 *
 * The cell is a run like any other: a fresh worker, the conversation's workspace, no
 * process kept.  A shim in front of it restores the state from hidden files of the
 * workspace and saves it there; this side puts the shim, answers calls of tools over the
 * run's channel, and takes the shim's report.  It never looks into the state itself.
 * Parts of core/run, included by nobody else.  Layer 3.
 * src: KRN-1 to KRN-18, CB-1 to CB-11, INV-34, INV-44
 */
#ifndef KZ_CORE_RUN_KERNEL_H
#define KZ_CORE_RUN_KERNEL_H

#include "core/run/job.h"

struct kz_kernel_channel;

/*
 * May this run be a cell? Nothing for a run that is none.
 * err: usage (no conversation), kernel_language, kernel_egress, resource_persistent_kernel,
 *   kernel_not_kept, tools_invalid
 */
enum kz_rc kz_kernel_check(struct kz_job *j, struct kz_err *err);
/* Puts the cell and its shim. err: as kz_wk_put */
enum kz_rc kz_kernel_put(struct kz_job *j, struct kz_deadline until, struct kz_err *err);
/* The command of the cell. out: new array of borrowed strings, NULL-terminated; NULL: memory is out */
const char **kz_kernel_argv(struct kz_job *j);
/* Begins to listen to the cell. out: the socket that the run relays to (borrowed); -1 for a run that is no cell. err: KZ_E_OS */
enum kz_rc kz_kernel_begin(struct kz_job *j, int *fd, struct kz_err *err);
/* The program has ended (arg is the job): a call under way is ended, and no other is answered [CB-8]. */
void kz_kernel_over(void *arg);
/* Waits for the last word of the cell and takes its report. wait: until the channel is shut */
void kz_kernel_end(struct kz_job *j);
/* What the record says: null, or an object. out: new */
struct kz_json *kz_kernel_record(const struct kz_job *j);
/* Says on standard error, without -j, what was lost: one line each. */
void kz_kernel_tell(struct kz_job *j);
void kz_kernel_free(struct kz_job *j);

/* The shim of a language. out: static text and its length */
const char *kz_kernel_shim(enum kz_language l, size_t *n);

#endif
