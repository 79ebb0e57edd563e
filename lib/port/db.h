/*
 * SQLite: one connection, prepared statements, typed binding.  The only user of
 * sqlite3.  Waits for other writers are bounded by the busy time given at open.
 *
 * A statement belongs to its connection and is used by one caller at a time.
 * Layer 1.
 */
#ifndef KZ_PORT_DB_H
#define KZ_PORT_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"
#include "base/time.h"

struct kz_db;
struct kz_stmt;

enum kz_db_mode {
	KZ_DB_READ,  /* existing file, no writes */
	KZ_DB_WRITE, /* existing file */
	KZ_DB_PLAIN, /* made anew as one plain file: rollback journal, full sync */
};

/*
 * Open a database file. Foreign keys are enforced, double-quoted strings are not
 * strings, schema functions are not trusted, closing never checkpoints.
 * in: busy is the longest wait for another writer.
 * err: KZ_E_IO with SQLite's own words (never a value of a row).
 */
enum kz_rc kz_db_open(struct kz_db **out, const char *path, enum kz_db_mode mode, struct kz_ms busy,
		      struct kz_err *err);
void kz_db_close(struct kz_db *db);
KZ_AUTO(kz_auto_db_, struct kz_db *, kz_db_close)
#define kz_auto_db kz_auto(kz_auto_db_)

/* Run SQL text that has no parameters and no result. err: KZ_E_IO, KZ_E_TEMPFAIL when busy too long, KZ_E_DATA when a constraint refuses */
enum kz_rc kz_db_exec(struct kz_db *db, const char *sql, struct kz_err *err);
/* The first integer of the first row of a query, fallback when there is no row. */
enum kz_rc kz_db_int(struct kz_db *db, const char *sql, int64_t fallback, int64_t *out,
		     struct kz_err *err);

/* Compile one statement for repeated use. own: free with kz_stmt_free before kz_db_close */
enum kz_rc kz_stmt_new(struct kz_stmt **out, struct kz_db *db, const char *sql, struct kz_err *err);
void kz_stmt_free(struct kz_stmt *s);
KZ_AUTO(kz_auto_stmt_, struct kz_stmt *, kz_stmt_free)
#define kz_auto_stmt kz_auto(kz_auto_stmt_)

/* Bind parameter i (from 1); text is copied, NULL text binds NULL. A failure is reported by the next step. */
void kz_stmt_bind_int(struct kz_stmt *s, int i, int64_t n);
void kz_stmt_bind_text(struct kz_stmt *s, int i, const char *text);
void kz_stmt_bind_null(struct kz_stmt *s, int i);
/*
 * Advance. out: row says whether there is a row to read; without one the
 * statement is reset and its bindings are cleared.
 * err: KZ_E_IO, KZ_E_TEMPFAIL (busy too long), KZ_E_DATA (a constraint or trigger refused)
 */
enum kz_rc kz_stmt_step(struct kz_stmt *s, bool *row, struct kz_err *err);
/* Give up the rest of a result. */
void kz_stmt_reset(struct kz_stmt *s);
/* Column i (from 0) of the current row; text is borrowed until the next step and "" for NULL. */
bool kz_stmt_is_null(struct kz_stmt *s, int i);
bool kz_stmt_is_int(struct kz_stmt *s, int i);
int64_t kz_stmt_int(struct kz_stmt *s, int i);
const char *kz_stmt_text(struct kz_stmt *s, int i);
size_t kz_stmt_text_len(struct kz_stmt *s, int i);

/* Move what the write-ahead log holds into the file, as far as readers allow. wait: a disk flush */
enum kz_rc kz_db_checkpoint(struct kz_db *db, struct kz_err *err);

#endif
