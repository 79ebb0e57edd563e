/*
 * The read-only files of a run: its scope document verified before a worker is asked for,
 * its files decided, staged and announced directly before they are put.  A part of
 * core/run, included by nobody else.  Layer 3.
 * src: EXEC-19, PRJ-9, PRJ-23, PRJ-29, PRJ-34, PRJ-46, PRJ-52, AUD-1, AUD-12
 */
#ifndef KZ_CORE_RUN_SHARED_H
#define KZ_CORE_RUN_SHARED_H

#include "core/audit/event.h"
#include "core/files/projection.h"
#include "core/run/job.h"

struct kz_job_shared {
	struct kz_projection projection;
	struct kz_json *told; /* what the exec says of them; NULL: there are none */
};

/*
 * Reads and verifies the document of --scope, whose actor and conversation the run takes.
 * Without one nothing is done: the run has a scope of its own, without a file.
 * err: usage (another -A or -C, no --documents), scope_unreadable's, app_keys_missing, and as kz_projection_read
 */
enum kz_rc kz_job_scope(struct kz_job *j, const char **actor, const char **conversation,
			struct kz_err *err);
/* Decides, stages and puts the files, and tells the program of them. err: as kz_projection_resolve and _stage; projection_failed */
enum kz_rc kz_job_stage(struct kz_job *j, struct kz_err *err);
/* What the exec says of the files; borrowed, NULL: none. */
struct kz_json *kz_job_shared_told(const struct kz_job *j);
/* What the record says of it: null, or an object. out: new */
struct kz_json *kz_job_shared_record(const struct kz_job *j);
void kz_job_shared_free(struct kz_job *j);

#endif
