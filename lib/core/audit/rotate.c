/* Closing segments. */
#include "core/audit/rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "core/audit/lookup.h"
#include "core/audit/rotate_parts.h"
#include "core/audit/view.h"

#define TMP_NAME "closed/.new"

struct kz_audit_keep kz_audit_keep_default(int64_t keep_days)
{
	return (struct kz_audit_keep){ .segment_bytes = INT64_C(64) << 20,
				       .segment_days = keep_days < 7 ? keep_days : 7,
				       .keep_days = keep_days };
}

static enum kz_rc query(struct kz_audit *a, const char *sql, int64_t *out, struct kz_err *err)
{
	return kz_db_int(a->db, sql, 0, out, err);
}

static enum kz_rc is_due(struct kz_audit *a, const struct kz_audit_keep *keep, bool *due,
			 struct kz_err *err)
{
	int64_t pages = 0, free_pages = 0, page = 0, oldest = 0, rows = 0;
	enum kz_rc rc = query(a, "SELECT count(*) FROM (SELECT 1 FROM entry LIMIT 2)", &rows, err);

	if (rc == KZ_OK)
		rc = query(a, "PRAGMA page_count", &pages, err);
	if (rc == KZ_OK)
		rc = query(a, "PRAGMA freelist_count", &free_pages, err);
	if (rc == KZ_OK)
		rc = query(a, "PRAGMA page_size", &page, err);
	if (rc == KZ_OK)
		rc = query(a, "SELECT at_ms FROM entry ORDER BY id LIMIT 1", &oldest, err);
	/* A lone row is the one that closed the segment before. */
	*due = rows > 1 && (keep->is_forced || (pages - free_pages) * page >= keep->segment_bytes ||
			    kz_time_wall_ms() - oldest >= keep->segment_days * KZ_AUDIT_DAY_MS);
	return rc;
}

static enum kz_rc copy_all(struct kz_db *db, const char *name, const char *how, struct kz_err *err)
{
	char sql[160];

	snprintf(sql, sizeof(sql), "INSERT %s INTO main.%s SELECT * FROM src.%s", how, name, name);
	return kz_db_exec(db, sql, err);
}

/* By name: a store that grew may have its columns in another order than a new one. */
static enum kz_rc copy_table(struct kz_db *db, const struct kz_audit_table *t, bool is_child,
			     struct kz_err *err)
{
	kz_auto_buf struct kz_buf cols = KZ_BUF_INIT(4096), sql = KZ_BUF_INIT(16384);
	enum kz_rc rc = kz_audit_sql_cols(t, is_child, &cols, err);

	if (rc == KZ_OK)
		rc = kz_buf_printf(&sql, err,
				   "INSERT INTO main.%s (id, %s) SELECT id, %s FROM src.%s",
				   t->name, kz_buf_str(&cols), kz_buf_str(&cols), t->name);
	return rc == KZ_OK ? kz_db_exec(db, kz_buf_str(&sql), err) : rc;
}

static enum kz_rc copy_rows(struct kz_db *db, struct kz_err *err)
{
	enum kz_rc rc = kz_db_exec(db, "BEGIN", err);

	for (size_t i = 0; rc == KZ_OK && kz_audit_lookups[i]; i++)
		rc = copy_all(db, kz_audit_lookups[i], "OR IGNORE", err);
	if (rc == KZ_OK)
		rc = copy_all(db, "entry", "", err);
	for (int k = 0; rc == KZ_OK && k < KZ_AUDIT_KINDS; k++) {
		const struct kz_audit_table *t = kz_audit_table((enum kz_audit_kind)k);

		rc = copy_table(db, t, false, err);
		if (rc == KZ_OK && t->child)
			rc = copy_table(db, t->child, true, err);
	}
	return rc == KZ_OK ? kz_db_exec(db, "COMMIT", err) : rc;
}

static enum kz_rc write_copy(struct kz_audit *a, struct kz_err *err)
{
	kz_auto_db struct kz_db *db = NULL;
	kz_auto_stmt struct kz_stmt *attach = NULL;
	char path[64];
	bool row;
	enum kz_rc rc;

	if (unlinkat(a->dir, TMP_NAME, 0) < 0 && errno != ENOENT)
		return kz_err_sys(err, KZ_E_IO, "cannot remove an unfinished segment");
	snprintf(path, sizeof(path), "/proc/self/fd/%d/" TMP_NAME, a->dir);
	rc = kz_db_open(&db, path, KZ_DB_PLAIN, KZ_AUDIT_BUSY, err);
	if (rc == KZ_OK)
		rc = kz_audit_schema(db, err);
	if (rc == KZ_OK)
		rc = kz_stmt_new(&attach, db, "ATTACH ? AS src", err);
	if (rc == KZ_OK) {
		kz_stmt_bind_text(attach, 1, a->path);
		rc = kz_stmt_step(attach, &row, err);
	}
	return rc == KZ_OK ? copy_rows(db, err) : rc;
}

/* Only root may give files away; another owner's group is set where it is allowed. */
static enum kz_rc seal_copy(struct kz_audit *a, const char *name, char sha[KZ_SHA256_HEX],
			    struct kz_err *err)
{
	kz_auto_close int fd = openat(a->dir, TMP_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	kz_auto_close int closed = openat(a->dir, "closed", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	enum kz_rc rc;

	if (fd < 0 || closed < 0 || fstat(a->dir, &st) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot open the new segment");
	if (fchmod(fd, 0440) < 0 || (geteuid() == 0 && fchown(fd, st.st_uid, st.st_gid) < 0))
		return kz_err_sys(err, KZ_E_IO, "cannot set the mode of the new segment");
	rc = kz_audit_file_sha256(a->dir, TMP_NAME, sha, err);
	if (rc != KZ_OK)
		return rc;
	if (kz_sys_before(KZ_SYS_FILE_REPLACE)) {
		errno = EIO;
		return kz_err_sys(err, KZ_E_IO, "cannot name the new segment");
	}
	if (fsync(fd) < 0 || renameat(a->dir, TMP_NAME, a->dir, name) < 0 || fsync(closed) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot name the new segment");
	kz_sys_after(KZ_SYS_FILE_REPLACE);
	return KZ_OK;
}

static enum kz_rc delete_rows(struct kz_audit *a, int64_t last, struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(8192);
	enum kz_rc rc = KZ_OK;

	for (int k = 0; rc == KZ_OK && k < KZ_AUDIT_KINDS; k++) {
		const struct kz_audit_table *t = kz_audit_table((enum kz_audit_kind)k);

		if (t->child)
			rc = kz_buf_printf(&b, err, "DELETE FROM %s WHERE id <= %lld;\n",
					   t->child->name, (long long)last);
		if (rc == KZ_OK)
			rc = kz_buf_printf(&b, err, "DELETE FROM %s WHERE id <= %lld;\n", t->name,
					   (long long)last);
	}
	if (rc == KZ_OK)
		rc = kz_buf_printf(&b, err, "DELETE FROM entry WHERE id <= %lld;\n",
				   (long long)last);
	return rc == KZ_OK ? kz_db_exec(a->db, kz_buf_str(&b), err) : rc;
}

/* The last transition up to here: of this segment, else what the segment before said. */
static enum kz_rc last_seq(struct kz_audit *a, struct kz_audit_row *r, struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = false;
	enum kz_rc rc = kz_stmt_new(&s, a->db, KZ_AUDIT_NEWEST, err);

	if (rc == KZ_OK)
		rc = kz_stmt_step(s, &row, err);
	if (rc == KZ_OK && row) {
		kz_audit_row_text(r, "store", kz_stmt_text(s, 0));
		kz_audit_row_int(r, "seq", kz_stmt_int(s, 1));
	}
	return rc;
}

/* Under the write lock: copy, name the copy, then say so in the chain and let the rows go. */
static enum kz_rc close_segment(struct kz_audit *a, struct kz_audit_rotated *out,
				struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_SEGMENT);
	char name[48], sha[KZ_SHA256_HEX];
	int64_t newest = 0;
	enum kz_rc rc;

	if (!r)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	out->last = a->id;
	rc = query(a, "SELECT min(id) FROM entry", &out->first, err);
	if (rc == KZ_OK)
		rc = query(a, "SELECT max(at_ms) FROM entry", &newest, err);
	if (rc == KZ_OK)
		rc = write_copy(a, err);
	kz_audit_segment_name(out->first, name);
	if (rc == KZ_OK)
		rc = seal_copy(a, name, sha, err);
	if (rc == KZ_OK)
		rc = last_seq(a, r, err);
	if (rc != KZ_OK)
		return rc;
	kz_audit_row_int(r, "first_id", out->first);
	kz_audit_row_int(r, "last_id", out->last);
	kz_audit_row_text(r, "last_hash", a->hash);
	kz_audit_row_text(r, "file_sha256", sha);
	kz_audit_row_int(r, "newest_ms", newest);
	rc = kz_audit_append(a, r, err);
	return rc == KZ_OK ? delete_rows(a, out->last, err) : rc;
}

static enum kz_rc close_if_due(struct kz_audit *a, const struct kz_audit_keep *keep,
			       struct kz_audit_rotated *out, struct kz_err *err)
{
	enum kz_rc rc = is_due(a, keep, &out->is_closed, err);

	if (rc != KZ_OK || !out->is_closed)
		return rc;
	/* A break that begin notes must be committed before the copy, which sees committed rows only. */
	rc = kz_audit_begin(a, err);
	if (rc == KZ_OK)
		rc = kz_audit_commit(a, err);
	if (rc == KZ_OK)
		rc = kz_audit_begin(a, err);
	if (rc != KZ_OK)
		return rc;
	rc = close_segment(a, out, err);
	if (rc == KZ_OK)
		return kz_audit_commit(a, err);
	kz_audit_rollback(a);
	return rc;
}

static enum kz_rc rotate(struct kz_audit *a, const struct kz_audit_keep *keep,
			 struct kz_audit_rotated *out, struct kz_err *err)
{
	struct stat st;
	enum kz_rc rc;

	if (fstat(a->dir, &st) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot read the audit directory");
	rc = kz_dir_make(a->dir, "closed", st.st_mode & 07777, st.st_gid, err);
	if (rc == KZ_OK)
		rc = close_if_due(a, keep, out, err);
	return rc == KZ_OK ? kz_audit_remove_old(a, keep->keep_days, out, err) : rc;
}

enum kz_rc kz_audit_rotate(const char *path, const struct kz_audit_keep *keep,
			   struct kz_audit_rotated *out, struct kz_err *err)
{
	kz_auto_audit struct kz_audit *a = NULL;
	kz_auto_close int lock = -1;
	enum kz_rc rc = kz_audit_open(&a, path, err);

	memset(out, 0, sizeof(*out));
	if (rc != KZ_OK)
		return rc;
	lock = openat(a->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0) {
		kz_err_sys(err, KZ_E_IO, "cannot lock the audit directory");
		return kz_audit_fail(err);
	}
	if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
		out->is_busy = true;
		return KZ_OK;
	}
	rc = rotate(a, keep, out, err);
	return rc == KZ_OK ? KZ_OK : kz_audit_fail(err);
}
