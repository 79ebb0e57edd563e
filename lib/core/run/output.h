/*
 * Outputs of a run: names that were declared, what became of each, the one reference
 * that every reader gets, and what the model and the members are told.
 *
 * Declaring gives no access and makes nothing [OUT-5].  A file gets its name in the
 * output directory, and a reference, only when it came whole, is within its bound, is
 * what it was declared to be, and is on disk [OUT-1, NAT-1, INV-45].  Parts of
 * core/run, included by nobody else.  Layer 3.
 */
#ifndef KZ_CORE_RUN_OUTPUT_H
#define KZ_CORE_RUN_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/audit/event.h"
#include "rule/path.h"

struct kz_job;
struct kz_json;
struct kz_verdict;

/* What --scope says of the run. Without one: texts NULL, position -1. Texts are borrowed. */
struct kz_job_scope {
	const char *turn, *member; /* as the scope document has them */
	int64_t position;          /* at which the turn was admitted */
	bool is_private;           /* the program is shown the member's own selection [PRJ-53] */
	bool is_derived; /* that, or it may find a copy that a program before it left [PRJ-52] */
	struct kz_audit_scope audit;
	/* Of the files that a refusal is about, for the audit [AUD-4]; -1: it is about none. */
	int64_t refused_count, refused_bytes;
};
#define KZ_JOB_SCOPE_NONE                                                                          \
	{                                                                                          \
		.position = -1, .refused_count = -1, .refused_bytes = -1                           \
	}

struct kz_job_output {
	char name[KZ_PATH_MAX + 1];
	bool is_canvas; /* an editable text, no download */
	enum { KZ_OUTPUT_DECLARED, KZ_OUTPUT_RETAINED, KZ_OUTPUT_REFUSED } state;
	struct kz_err why;         /* refused: reason and text */
	struct kz_json *reference; /* retained: own */
};

/* Checks the names of outputs against each other, opens their directory. err: output_name_invalid, output_name_taken, canvas_not_text, output_uncreatable, usage */
enum kz_rc kz_job_outputs(struct kz_job *j, struct kz_err *err);
void kz_job_outputs_free(struct kz_job *j);
/* Copies what was declared out. err: of the first one that was refused; the others are still tried. wait: 30 s a file, and the check of documents */
enum kz_rc kz_job_collect(struct kz_job *j, struct kz_err *err);
/* How many declared ones were not retained. */
int64_t kz_job_refused_count(const struct kz_job *j);

/* With -j: a line for each declared output before the program starts [OUT-4]. A step. */
enum kz_rc kz_job_progress(struct kz_job *j, struct kz_err *err);
/* Ends each of them: validated or dropped [OUT-16]. Nothing where none was begun */
enum kz_rc kz_job_progress_end(struct kz_job *j, struct kz_err *err);

/* A file's reference. out: new, NULL when memory is out. in: media_type is static */
struct kz_json *kz_reference_new(const struct kz_job *j, const char *name, int64_t bytes,
				 const char *sha256, const char *media_type);
/* References of all that was retained, or of the canvases or downloads among them. out: new */
struct kz_json *kz_references(const struct kz_job *j, bool downloads, bool canvases);
/* Sets downloads, canvas_refs, model_view and member_view of the record; never given to the audit store. err: KZ_E_OS */
enum kz_rc kz_job_views(struct kz_job *j, const struct kz_verdict *v, struct kz_json *record,
			struct kz_err *err);

#endif
