/*
 * What the audit store is told of scopes: the facts of one that stand beside dispatches
 * and denials [AUD-1], and events, which stopped nothing but which operators are told of
 * [PRJ-29].  Codes, counts, bytes and digests: never a name, a key, a capability itself
 * or content [AUD-3, AUD-4, AUD-12].  Layer 3.
 *
 * Whoever withholds a private selection calls kz_audit_event.
 */
#ifndef KZ_CORE_AUDIT_EVENT_H
#define KZ_CORE_AUDIT_EVENT_H

#include <stdint.h>

#include "base/err.h"

struct kz_audit;
struct kz_audit_row;
struct kz_json;

/* Of the scope that a run was admitted with. The first two are opaque texts of which the store gets the digest only; NULL: none. */
struct kz_audit_scope {
	const char *audience_version; /* as the scope document has it */
	const char *capability;       /* the token */
	const char *manifest_sha256;  /* as the scope document has it */
	int64_t projected_count,
		projected_bytes; /* what the worker was shown; of dispatches only */
};

/* A refusal or fault before dispatch, or of what a run asks for. Ids are hashed ones; NULL and "" are not known. */
struct kz_audit_denial {
	const char *run, *actor, *conversation;
	const char *reason;                 /* a code of policy/reasons.tbl */
	const struct kz_audit_scope *scope; /* NULL: none */
	int64_t count, bytes;               /* of what was refused; -1: does not apply */
	const char *cause;              /* of packages not installed, a reason code; NULL: none */
	const struct kz_json *packages; /* their names, of which the digest is kept; NULL: none */
};
/* Append a denial with what is known of its scope. err: audit_unavailable, audit_refused */
enum kz_rc kz_audit_scope_denial(struct kz_audit *a, const struct kz_audit_denial *d,
				 struct kz_err *err);

enum kz_audit_event_code {
	KZ_AUDIT_SANDBOX_SELECTION_WITHHELD, /* sandbox.private_selection_withheld: with the room's files it is over a bound */
	KZ_AUDIT_RUN_CODE_SELECTION_WITHHELD, /* run_code.private_selection_withheld: a cause found earlier than dispatch */
	KZ_AUDIT_RUN_CODE_INSTALL, /* run_code.packages_install: an installer is about to run for a program, count packages were asked for */
	KZ_AUDIT_EVENT_CODES
};
/* The code as it stands in the store; static. */
const char *kz_audit_event_name(enum kz_audit_event_code code);

struct kz_audit_event {
	enum kz_audit_event_code code;
	const char *run, *actor, *conversation; /* hashed ids; NULL: not known */
	const char *reason;                     /* a code of policy/reasons.tbl */
	int64_t count, bytes;                   /* of the documents; -1: not known */
};
/* Append an event; also within kz_audit_together. err: audit_unavailable, audit_refused. src: PRJ-29, AUD-12 */
enum kz_rc kz_audit_event(struct kz_audit *a, const struct kz_audit_event *e, struct kz_err *err);

/* Set the columns that dispatches and denials have of a scope; NULL is none. */
void kz_audit_put_scope(struct kz_audit_row *r, const struct kz_audit_scope *s);

#endif
