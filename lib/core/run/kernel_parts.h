/*
 * Parts of core/run/kernel, included by nobody else.  Layer 3.
 */
#ifndef KZ_CORE_RUN_KERNEL_PARTS_H
#define KZ_CORE_RUN_KERNEL_PARTS_H

#include "core/run/kernel.h"
#include "core/run/tools.h"

struct kz_kernel {
	struct kz_tools tools;
	struct kz_buf config; /* of the shim, JSON text */
	struct kz_kernel_channel *channel;
	int64_t generation;     /* that the cell began with; -1: it did not say */
	struct kz_json *report; /* its last word, NULL: it said none */
};

/*
 * The other end of the cell's channel, served by a thread.
 * in: tools are used by the thread until kz_kernel_channel_free. out: fd, to relay to
 */
enum kz_rc kz_kernel_channel_start(struct kz_kernel_channel **out, struct kz_tools *tools, int *fd,
				   struct kz_err *err);
/* Calls are over. */
void kz_kernel_channel_over(struct kz_kernel_channel *c);
/* Waits for its end and gives what was said. out: generation -1 and report NULL when it was not */
void kz_kernel_channel_free(struct kz_kernel_channel *c, int64_t *generation,
			    struct kz_json **report);

#endif
