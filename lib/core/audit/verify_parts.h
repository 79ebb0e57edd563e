/*
 * What the files of verification share: the state of one walk, and its parts.  For
 * the files of core/audit only.  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_VERIFY_PARTS_H
#define KZ_CORE_AUDIT_VERIFY_PARTS_H

#include "core/audit/view.h"

#define KZ_VERIFY_TOLD 100 /* problems listed; more are counted */

/* A closed file as the chain names it. */
struct kz_verify_file {
	int64_t first, last;
	char sha256[KZ_SHA256_HEX], last_hash[KZ_SHA256_HEX];
	bool is_removed; /* by a row that says so */
	bool is_seen;    /* the file is there */
};

/* The last number of a store's transitions. */
struct kz_verify_seq {
	char store[KZ_ID_HEX];
	int64_t seq;
};

struct kz_verify {
	const struct kz_audit_view *view;
	struct kz_json *problems;
	int64_t problem_count, rows;
	int64_t id;               /* last row passed */
	char hash[KZ_SHA256_HEX]; /* its hash */
	bool has_start;
	int64_t start; /* first row there is */
	bool head_found;
	struct kz_verify_file *files;
	size_t file_count;
	struct kz_verify_seq *stores;
	size_t store_count;
	struct kz_json *joined; /* [{id, store, from, to}] */
};

/* Put a problem on the list. in: id is the row, or -1 */
void kz_verify_problem(struct kz_verify *c, const char *code, int64_t id, int64_t expected,
		       const char *text);
/* A column of a row: -1, or "", when it is null. */
int64_t kz_verify_number(const struct kz_audit_row *r, const char *col);
const char *kz_verify_text(const struct kz_audit_row *r, const char *col);
/* Remember the closed file that a segment or removed row names. */
enum kz_rc kz_verify_add_file(struct kz_verify *c, const struct kz_audit_row *r,
			      struct kz_err *err);
/* Rows of a kind without an entry in the chain, or the reverse. */
enum kz_rc kz_verify_counts(struct kz_verify *c, struct kz_db *db, struct kz_err *err);
/* Compare the closed files with what the chain says of them. */
void kz_verify_closed(struct kz_verify *c);
/* Compare the end of the chain with the head outside. */
void kz_verify_head(struct kz_verify *c);
/* out: the report (new) */
enum kz_rc kz_verify_report(const struct kz_verify *c, struct kz_json **report, struct kz_err *err);

#endif
