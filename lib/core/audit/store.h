/*
 * Inside the audit store: the open file, its schema, the head outside it.  For
 * the files of core/audit only.
 *
 * STATE/audit/ holds audit.db (the open segment), closed/FIRST.db (closed ones,
 * named by their first row), head (number and hash of the newest row known to be
 * committed).  Rows are appended under SQLite's write lock; the head is written
 * after the commit, in place and under its own lock, and never goes back: after
 * kill -9 between the two it lags, and the next append or verify can tell that
 * from a cut tail, because the row it names is still in the chain.  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_STORE_H
#define KZ_CORE_AUDIT_STORE_H

#include "base/time.h"
#include "core/audit/audit.h"
#include "core/audit/row.h"

#define KZ_AUDIT_BUSY KZ_SECONDS(10) /* longest wait for another writer */

/* The newest transition that this store has: of the open segment, else what closed the one before. */
#define KZ_AUDIT_NEWEST                                                                            \
	"SELECT store, seq FROM (SELECT id, store, seq FROM transition UNION ALL SELECT id, "      \
	"store, seq FROM segment WHERE store IS NOT NULL) ORDER BY id DESC LIMIT 1"

struct kz_audit {
	struct kz_db *db;
	int dir; /* STATE/audit */
	char path[512];
	uint64_t dev, ino; /* of the file that was opened */
	struct kz_stmt *begin, *commit, *last, *hash_of, *entry, *known, *closed, *newest;
	struct kz_stmt *insert[KZ_AUDIT_KINDS], *insert_child[KZ_AUDIT_KINDS];
	bool is_together; /* rows are gathered into one transaction */
	/* the chain inside an open transaction */
	int64_t id;
	char hash[KZ_SHA256_HEX];
};

/* -- schema.c -- */

/* Make or complete tables, triggers and lookup rows unless the file has this build's schema. */
enum kz_rc kz_audit_schema(struct kz_db *db, struct kz_err *err);
/* -- sql.c -- */

/* Has a file this table, and this column of it (NULL: any)? A file of an older form may not. */
enum kz_rc kz_audit_has(struct kz_db *db, const char *table, const char *col, bool *yes,
			struct kz_err *err);
/* "[n,] cols" / "INSERT INTO t (id, [n,] cols) VALUES (?,...)" / "SELECT cols FROM t WHERE id = ? [ORDER BY n]", NULL for columns that the file has not */
enum kz_rc kz_audit_sql_cols(const struct kz_audit_table *t, bool is_child, struct kz_buf *b,
			     struct kz_err *err);
enum kz_rc kz_audit_sql_insert(const struct kz_audit_table *t, bool is_child, struct kz_buf *b,
			       struct kz_err *err);
enum kz_rc kz_audit_sql_select(struct kz_db *db, const struct kz_audit_table *t, bool is_child,
			       struct kz_buf *b, struct kz_err *err);

/* -- head.c -- */

struct kz_audit_head {
	bool is_present;
	int64_t id;
	char hash[KZ_SHA256_HEX];
};
/* Read STATE/audit/head; absent is no error, malformed counts as absent. */
enum kz_rc kz_audit_head_read(int dir, struct kz_audit_head *out, struct kz_err *err);
/* Move the head forward to a committed row; one that is further on stays. */
enum kz_rc kz_audit_head_write(int dir, int64_t id, const char *hash, struct kz_err *err);
/* Make the first head (row 0) if there is none, flushed to disk. */
enum kz_rc kz_audit_head_make(int dir, struct kz_err *err);

/* -- append.c -- */

/* Begin: take the write lock, find the end of the chain, note a break if the head is not in it. */
enum kz_rc kz_audit_begin(struct kz_audit *a, struct kz_err *err);
/* Put a row at the end of the chain (number, time and hash are set here). */
enum kz_rc kz_audit_append(struct kz_audit *a, struct kz_audit_row *r, struct kz_err *err);
/* Commit and move the head. err: audit_unavailable; nothing was recorded unless the commit itself was cut off */
enum kz_rc kz_audit_commit(struct kz_audit *a, struct kz_err *err);
void kz_audit_rollback(struct kz_audit *a);
/* One row in a transaction of its own. */
enum kz_rc kz_audit_add(struct kz_audit *a, struct kz_audit_row *r, struct kz_err *err);
/* Give a failure of the store its reason (audit_unavailable, audit_refused), keeping one it has. */
enum kz_rc kz_audit_fail(struct kz_err *err);

/* -- load.c -- */

/* Reads rows of one file in order. */
struct kz_audit_cursor;
/* in: db borrowed; rows with id > after. */
enum kz_rc kz_audit_cursor_new(struct kz_audit_cursor **out, struct kz_db *db, int64_t after,
			       struct kz_err *err);
/* out: row (new), NULL at the end. A row whose parts are missing comes with null columns. */
enum kz_rc kz_audit_cursor_next(struct kz_audit_cursor *c, struct kz_audit_row **out,
				struct kz_err *err);
void kz_audit_cursor_free(struct kz_audit_cursor *c);
KZ_AUTO(kz_auto_cursor_, struct kz_audit_cursor *, kz_audit_cursor_free)
#define kz_auto_cursor kz_auto(kz_auto_cursor_)

#endif
