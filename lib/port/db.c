/* SQLite behind kz_db: open modes, statements, error codes. */
#include "port/db.h"

#include <sqlite3.h>
#include <string.h>

struct kz_db {
	sqlite3 *db;
};

struct kz_stmt {
	sqlite3_stmt *stmt;
	sqlite3 *db;
	int bind_rc; /* first binding that failed */
};

static enum kz_rc fail(sqlite3 *db, int code, const char *what, struct kz_err *err)
{
	enum kz_rc rc = KZ_E_IO;

	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED: rc = KZ_E_TEMPFAIL; break;
	case SQLITE_CONSTRAINT: rc = KZ_E_DATA; break;
	case SQLITE_NOMEM: rc = KZ_E_OS; break;
	default: break;
	}
	return kz_err_set(err, rc, "%s: %s", what, db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
}

static int configure(sqlite3 *db, enum kz_db_mode mode, struct kz_ms busy)
{
	int rc = sqlite3_extended_result_codes(db, 1);

	if (rc == SQLITE_OK)
		rc = sqlite3_busy_timeout(db, (int)(busy.ms > 600000 ? 600000 : busy.ms));
	/* A one-shot program must not pay for a flush because it happens to be the last. */
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
	if (rc == SQLITE_OK && mode == KZ_DB_WRITE)
		rc = sqlite3_exec(db, "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=4000",
				  NULL, NULL, NULL);
	if (rc == SQLITE_OK && mode == KZ_DB_PLAIN)
		rc = sqlite3_exec(db, "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL", NULL,
				  NULL, NULL);
	return rc;
}

enum kz_rc kz_db_open(struct kz_db **out, const char *path, enum kz_db_mode mode, struct kz_ms busy,
		      struct kz_err *err)
{
	int flags = SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOMUTEX;
	struct kz_db *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	/* Without effect after the first open; an open is mostly small allocations for the schema. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
	flags |= mode == KZ_DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	if (mode == KZ_DB_PLAIN)
		flags |= SQLITE_OPEN_CREATE;
	rc = sqlite3_open_v2(path, &d->db, flags, NULL);
	if (rc == SQLITE_OK)
		rc = configure(d->db, mode, busy);
	if (rc != SQLITE_OK) {
		enum kz_rc r = fail(d->db, rc, "cannot open the database", err);

		kz_db_close(d);
		return r;
	}
	*out = d;
	return KZ_OK;
}

void kz_db_close(struct kz_db *db)
{
	if (!db)
		return;
	sqlite3_close_v2(db->db);
	free(db);
}

enum kz_rc kz_db_exec(struct kz_db *db, const char *sql, struct kz_err *err)
{
	int rc = sqlite3_exec(db->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? KZ_OK : fail(db->db, rc, "database", err);
}

enum kz_rc kz_db_int(struct kz_db *db, const char *sql, int64_t fallback, int64_t *out,
		     struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = false;
	enum kz_rc rc = kz_stmt_new(&s, db, sql, err);

	if (rc == KZ_OK)
		rc = kz_stmt_step(s, &row, err);
	if (rc == KZ_OK)
		*out = row && !kz_stmt_is_null(s, 0) ? kz_stmt_int(s, 0) : fallback;
	return rc;
}

enum kz_rc kz_stmt_new(struct kz_stmt **out, struct kz_db *db, const char *sql, struct kz_err *err)
{
	struct kz_stmt *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	s->db = db->db;
	rc = sqlite3_prepare_v3(db->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt, NULL);
	if (rc != SQLITE_OK) {
		free(s);
		return fail(db->db, rc, "database", err);
	}
	*out = s;
	return KZ_OK;
}

void kz_stmt_free(struct kz_stmt *s)
{
	if (!s)
		return;
	sqlite3_finalize(s->stmt);
	free(s);
}

static void note(struct kz_stmt *s, int rc)
{
	if (rc != SQLITE_OK && s->bind_rc == SQLITE_OK)
		s->bind_rc = rc;
}

void kz_stmt_bind_int(struct kz_stmt *s, int i, int64_t n)
{
	note(s, sqlite3_bind_int64(s->stmt, i, n));
}

void kz_stmt_bind_text(struct kz_stmt *s, int i, const char *text)
{
	if (text)
		note(s, sqlite3_bind_text(s->stmt, i, text, -1, SQLITE_TRANSIENT));
	else
		kz_stmt_bind_null(s, i);
}

void kz_stmt_bind_null(struct kz_stmt *s, int i)
{
	note(s, sqlite3_bind_null(s->stmt, i));
}

void kz_stmt_reset(struct kz_stmt *s)
{
	sqlite3_reset(s->stmt);
	sqlite3_clear_bindings(s->stmt);
	s->bind_rc = SQLITE_OK;
}

enum kz_rc kz_stmt_step(struct kz_stmt *s, bool *row, struct kz_err *err)
{
	enum kz_rc r = KZ_OK;
	int rc = s->bind_rc == SQLITE_OK ? sqlite3_step(s->stmt) : s->bind_rc;

	*row = rc == SQLITE_ROW;
	if (rc == SQLITE_ROW)
		return KZ_OK;
	if (rc != SQLITE_DONE)
		r = fail(s->db, rc, "database", err);
	kz_stmt_reset(s);
	return r;
}

bool kz_stmt_is_null(struct kz_stmt *s, int i)
{
	return sqlite3_column_type(s->stmt, i) == SQLITE_NULL;
}

bool kz_stmt_is_int(struct kz_stmt *s, int i)
{
	return sqlite3_column_type(s->stmt, i) == SQLITE_INTEGER;
}

int64_t kz_stmt_int(struct kz_stmt *s, int i)
{
	return sqlite3_column_int64(s->stmt, i);
}

const char *kz_stmt_text(struct kz_stmt *s, int i)
{
	const unsigned char *t = sqlite3_column_text(s->stmt, i);

	return t ? (const char *)t : "";
}

size_t kz_stmt_text_len(struct kz_stmt *s, int i)
{
	return (size_t)sqlite3_column_bytes(s->stmt, i);
}

enum kz_rc kz_db_checkpoint(struct kz_db *db, struct kz_err *err)
{
	int rc = sqlite3_wal_checkpoint_v2(db->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);

	/* Busy means that another one is at it. */
	if (rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED)
		return KZ_OK;
	return fail(db->db, rc, "checkpoint", err);
}
