/*
 * Parts of core/run/keep, included by nobody else.  Layer 3.
 */
#ifndef KZ_CORE_RUN_KEEP_PARTS_H
#define KZ_CORE_RUN_KEEP_PARTS_H

#include "core/files/workspace.h"
#include "core/run/keep.h"

struct kz_keep {
	char key[KZ_ID_HEX];
	struct kz_objects *objects;
	struct kz_generation now; /* what is stored: restored from, later what was made of it */
	bool is_known;            /* now is */
	const char *snapshot;     /* as the record says it */
	int64_t skipped;          /* left out of the last save */
};

/* How the worker is told what is in its workspace. */
const char *kz_keep_label(const struct kz_job *j);
/* Until when the lease of the job (arg) is surely in force. */
struct kz_deadline kz_keep_sure(void *arg);
/* How long one step of it may take from now. */
struct kz_deadline kz_keep_until(struct kz_job *j);

#endif
