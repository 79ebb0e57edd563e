/*
 * The shape of the audit store: one description of every kind of row, from which
 * the SQL schema, the inserts, the canonical form that is hashed and the JSON
 * form are all made, so that they cannot disagree [AUD-8].
 *
 * Every column is closed: a number, a digest, an identifier of fixed alphabet or
 * a code from a lookup table.  There is no free text [AUD-2].
 *
 * A table grows at its end only: columns that came after its first form are
 * optional and counted by later, and a kind may get child rows.  Files of an older
 * form stay as they are; they are read with nulls in those places, and the hash of
 * a row counts such a column only where it holds something, so that it is the same
 * before and after [AUD-9].  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_TABLE_H
#define KZ_CORE_AUDIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kz_audit_type {
	KZ_AUDIT_INT,    /* 0 or more */
	KZ_AUDIT_FLAG,   /* 0 or 1 */
	KZ_AUDIT_ID,     /* 32 hex digits */
	KZ_AUDIT_DIGEST, /* 64 hex digits */
	KZ_AUDIT_IMAGE,  /* "sha256:" and 64 hex digits */
	KZ_AUDIT_NAME,   /* [a-z0-9_-]{1,63}: worker, lease or ticket number */
	KZ_AUDIT_HOST,   /* a host in normal form: [a-z0-9._:-]{1,253} */
	KZ_AUDIT_CODE,   /* a code of the lookup table named by codes */
};

struct kz_audit_col {
	const char *name;
	enum kz_audit_type type;
	bool is_optional;
	const char *codes;
};

enum kz_audit_kind {
	KZ_AUDIT_TRANSITION,
	KZ_AUDIT_DISPATCH,
	KZ_AUDIT_RECORD,
	KZ_AUDIT_DENIAL,
	KZ_AUDIT_EVIDENCE,
	KZ_AUDIT_RUN_STEP,
	KZ_AUDIT_SEGMENT, /* rows first..last were moved to a closed file */
	KZ_AUDIT_REMOVED, /* a closed file was removed by age */
	KZ_AUDIT_BROKEN,  /* the chain did not continue what the head said */
	KZ_AUDIT_JOINED, /* from here on it follows Valkey; what came between went to other nodes */
	KZ_AUDIT_GRANT,  /* an execution may reach the network */
	KZ_AUDIT_REVOCATION,
	KZ_AUDIT_EVENT, /* something that operators are told of and that stopped nothing */
	KZ_AUDIT_KINDS
};

#define KZ_AUDIT_COLS 48      /* no table has more */
#define KZ_AUDIT_CHILDREN 256 /* no row has more */

struct kz_audit_table {
	const char *name; /* table, and code of the kind */
	const struct kz_audit_col *cols;
	size_t count;
	size_t later;      /* how many of them, at the end, came after the first form */
	const char *extra; /* further constraints, or NULL */
	const char *key;   /* another key than id as a condition on "new", or NULL */
	const struct kz_audit_table *child; /* rows that belong to one row, or NULL */
};

/* The description of a kind; static. */
const struct kz_audit_table *kz_audit_table(enum kz_audit_kind kind);
/* By code; -1 when there is none. */
int kz_audit_kind_find(const char *code);
/* The place of a column by name; -1 when there is none. */
int kz_audit_col_find(const struct kz_audit_table *t, const char *name);

#endif
