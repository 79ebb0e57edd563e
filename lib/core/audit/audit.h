/*
 * The audit store: append-only rows in SQLite, chained by hash [AUD-8, AUD-9].
 *
 * Columns are typed and closed: ids, codes from generated tables, numbers and
 * digests; there is no free text [AUD-2].  A write that fails is reported and the
 * caller does not do the audited thing [AUD-10].  Any number of processes may
 * write.  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_AUDIT_H
#define KZ_CORE_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"
#include "core/audit/files.h"
#include "core/pool/authority_outbox.h"

struct kz_audit;
struct kz_audit_scope;
struct kz_json;

/* Open for appending, making the store if it is missing (0660, group kept). err: audit_unavailable */
enum kz_rc kz_audit_open(struct kz_audit **out, const char *path, struct kz_err *err);
void kz_audit_close(struct kz_audit *a);
KZ_AUTO(kz_auto_audit_, struct kz_audit *, kz_audit_close)
#define kz_auto_audit kz_auto(kz_auto_audit_)

/* Could a row be written now? Takes and gives back the write lock. err: audit_unavailable */
enum kz_rc kz_audit_probe(struct kz_audit *a, struct kz_err *err);
/* Is the open file still the one at its path? */
bool kz_audit_is_current(const struct kz_audit *a);
/* Move the write-ahead log into the file; for the one long-lived writer. wait: a disk flush */
enum kz_rc kz_audit_checkpoint(struct kz_audit *a, struct kz_err *err);

/*
 * Gather the rows that follow into one transaction, until kz_audit_end: all of them
 * or none.  A row that fails ends it.  wait: the write lock is held in between, so
 * nothing slow belongs there.  err: audit_unavailable
 */
enum kz_rc kz_audit_together(struct kz_audit *a, struct kz_err *err);
/* Commit what was gathered. err: audit_unavailable, also when a row failed before; none of the rows is there then */
enum kz_rc kz_audit_end(struct kz_audit *a, struct kz_err *err);
/* Get ready for the rows of the end of a run and of its reset, where there is time for it. A failure shows when they are written */
void kz_audit_get_ready(struct kz_audit *a);
/* Drop what was gathered; nothing gathered is fine. */
void kz_audit_abandon(struct kz_audit *a);

/*
 * Append transitions as Valkey numbered them, in one transaction; ones that are already
 * there are skipped (same content) or refused (audit_conflict).
 * in: starts: they need not follow the newest one of this store (kz_auth_outbox says
 * so); when they do not, a row of kind joined says it, and verify knows the gap.
 */
enum kz_rc kz_audit_transitions(struct kz_audit *a, const struct kz_transition *t, size_t count,
				bool starts, struct kz_err *err);

/* A dispatch: written before code starts [AUD-1]. Digests are hex of SHA-256. */
struct kz_audit_dispatch {
	const char *run, *lease, *worker, *actor,
		*conversation; /* ids; actor and conversation hashed */
	const char *code_sha256, *image, *language;
	const char *arguments_sha256; /* of the canonical JSON array of the program's arguments */
	int64_t fence, wall_ms, memory_bytes, output_bytes;
	int64_t open_files, artifact_bytes, env_count;
	/* What the worker said of itself when it was bound: the bounds it was made with, its posture.  NULL: it does not say. */
	const struct kz_json *limits, *posture;
	const struct kz_json *
		egress; /* as the record will have it: effective, reason, execution, revision, approval */
	const struct kz_audit_scope *scope; /* core/audit/event.h; NULL: none */
	struct kz_audit_file
		*inputs; /* they are sorted by this; more than 256 are not listed, only digested */
	size_t input_count;
};
enum kz_rc kz_audit_dispatch(struct kz_audit *a, const struct kz_audit_dispatch *d,
			     struct kz_err *err);
/* What the owner of a run counted itself and the record does not say, or not always. */
struct kz_audit_counted {
	int64_t stdin_bytes; /* what was sent to the program's standard input */
	char stdin_sha256[65];
	bool is_cell; /* of a kernel, so it could call tools: the next three hold */
	int64_t calls, calls_refused;
	int64_t call_bytes; /* arguments that tools were given and results that the cell got */
};
/* The end of a run: the numbers and codes of its terminal record (of names of outputs the digests are kept). in: own NULL: not known */
enum kz_rc kz_audit_record(struct kz_audit *a, const struct kz_json *record,
			   const struct kz_audit_counted *own, struct kz_err *err);
/* A refusal or fault before dispatch: reason code only. run may be "". */
enum kz_rc kz_audit_denial(struct kz_audit *a, const char *run, const char *actor,
			   const char *conversation, const char *reason, struct kz_err *err);
/* Egress that was refused; NULL and "" are not known. Nothing of a URL but host and port [PROXY-14]. */
struct kz_audit_egress {
	const char *run, *actor, *execution, *revision;
	const char *reason;
	const char *host; /* in normal form */
	int64_t port;     /* 0: not known */
	int64_t count;    /* the same within a second */
};
/* A denial with its egress part [AUD-6]. err: audit_unavailable */
enum kz_rc kz_audit_egress_denial(struct kz_audit *a, const struct kz_audit_egress *e,
				  struct kz_err *err);
/* Reset evidence: the verdict, and count and baseline of each surface [RESET-13]. */
enum kz_rc kz_audit_evidence(struct kz_audit *a, const struct kz_json *evidence,
			     struct kz_err *err);
/* A run's own state machine step. */
enum kz_rc kz_audit_run_step(struct kz_audit *a, const char *run, const char *from,
			     const char *event, const char *to, struct kz_err *err);

#endif
