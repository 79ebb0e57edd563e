/*
 * Writers: what a run prints is kept in memory and written by a thread of its own,
 * so that a slow reader never holds a worker.  The amount is bounded by the run's
 * output bound, which the worker keeps.  Layer 3.
 */
#ifndef KZ_CORE_RUN_WRITER_H
#define KZ_CORE_RUN_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/auto.h"
#include "base/err.h"
#include "base/time.h"

struct kz_writer;

/*
 * Make a writer on fd (borrowed); its thread starts with the first bytes. in: max, bytes it may hold unwritten.
 * safe: signals should be blocked already, the thread inherits the mask.
 */
enum kz_rc kz_writer_start(struct kz_writer **out, int fd, size_t max, struct kz_err *err);
/* Add bytes; after a failed write they are dropped. wait: never. err: KZ_E_DATA over max, KZ_E_OS */
enum kz_rc kz_writer_add(struct kz_writer *w, const void *p, size_t n, struct kz_err *err);
/* A descriptor that is readable once a write has failed (borrowed). */
int kz_writer_failed_fd(const struct kz_writer *w);
/* errno of the write that failed (EPIPE: nobody reads any more), 0 for none. */
int kz_writer_errno(struct kz_writer *w);
/*
 * Wait until everything is written. in: cancel_fd readable: give up (-1 none).
 * err: KZ_E_IO (a write failed), KZ_E_TEMPFAIL (given up; the rest will not be written)
 */
enum kz_rc kz_writer_drain(struct kz_writer *w, int cancel_fd, struct kz_err *err);
/* Stop the thread, drop what is unwritten, free. */
void kz_writer_free(struct kz_writer *w);
KZ_AUTO(kz_auto_writer_, struct kz_writer *, kz_writer_free)
#define kz_auto_writer kz_auto(kz_auto_writer_)

#endif
