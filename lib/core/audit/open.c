/* Opening the store, making it when it is missing. */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "core/audit/store.h"

static enum kz_rc make_file(struct kz_audit *a, struct kz_err *err)
{
	kz_auto_close int fd = -1;
	kz_auto_db struct kz_db *db = NULL;
	struct stat st;
	enum kz_rc rc = kz_audit_head_make(a->dir, err);

	if (rc != KZ_OK)
		return rc;
	fd = openat(a->dir, "audit.db", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);
	if (fd < 0 || fstat(a->dir, &st) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot make the audit store");
	/* SQLite gives its log and index files the owner and mode of this one. */
	if (fchmod(fd, 0660) < 0 || (geteuid() == 0 && fchown(fd, st.st_uid, st.st_gid) < 0))
		return kz_err_sys(err, KZ_E_IO, "cannot set the mode of the audit store");
	rc = kz_db_open(&db, a->path, KZ_DB_WRITE, KZ_AUDIT_BUSY, err);
	if (rc == KZ_OK)
		rc = kz_db_exec(db, "PRAGMA journal_mode=WAL", err);
	return rc == KZ_OK ? kz_audit_schema(db, err) : rc;
}

/* Several programs may find that there is no store; one makes it. */
static enum kz_rc make_store(struct kz_audit *a, struct kz_err *err)
{
	kz_auto_close int lock = openat(a->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot lock the audit directory");
	if (fstatat(a->dir, "audit.db", &st, 0) == 0 && st.st_size > 0)
		return KZ_OK;
	return make_file(a, err);
}

static enum kz_rc open_store(struct kz_audit *a, const char *path, struct kz_err *err)
{
	const char *slash = strrchr(path, '/');
	char dir[sizeof(a->path)];
	struct stat st;
	enum kz_rc rc = kz_str_copy(a->path, sizeof(a->path), path, err);

	if (rc == KZ_OK && !slash)
		rc = kz_err_set(err, KZ_E_SOFTWARE, "the path is relative");
	if (rc != KZ_OK)
		return rc;
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = '\0';
	a->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->dir < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot open the audit directory");
	if (fstatat(a->dir, slash + 1, &st, 0) < 0 || st.st_size == 0)
		rc = make_store(a, err);
	if (rc == KZ_OK)
		rc = kz_db_open(&a->db, path, KZ_DB_WRITE, KZ_AUDIT_BUSY, err);
	return rc == KZ_OK ? kz_audit_schema(a->db, err) : rc;
}

static enum kz_rc prepare(struct kz_audit *a, struct kz_err *err)
{
	const struct {
		struct kz_stmt **at;
		const char *sql;
	} all[] = {
		{ &a->begin, "BEGIN IMMEDIATE" },
		{ &a->commit, "COMMIT" },
		{ &a->last, "SELECT id, hash FROM entry ORDER BY id DESC LIMIT 1" },
		{ &a->hash_of, "SELECT hash FROM entry WHERE id = ?" },
		{ &a->entry, "INSERT INTO entry (id, at_ms, kind, hash) VALUES (?, ?, ?, ?)" },
		{ &a->known,
		  "SELECT store, seq, valkey_ms, machine, from_state, event, to_state, subject, "
		  "worker, lease, actor, cause FROM transition WHERE store = ? AND seq = ?" },
		{ &a->closed, "SELECT max(seq) FROM segment WHERE store = ?" },
		{ &a->newest, KZ_AUDIT_NEWEST },
	};
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; rc == KZ_OK && i < sizeof(all) / sizeof(all[0]); i++)
		rc = kz_stmt_new(all[i].at, a->db, all[i].sql, err);
	return rc;
}

enum kz_rc kz_audit_open(struct kz_audit **out, const char *path, struct kz_err *err)
{
	kz_auto_audit struct kz_audit *a = calloc(1, sizeof(*a));
	struct stat st;
	enum kz_rc rc;

	if (!a)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	a->dir = -1;
	rc = kz_seal_init(err);
	if (rc == KZ_OK)
		rc = open_store(a, path, err);
	if (rc == KZ_OK)
		rc = prepare(a, err);
	if (rc == KZ_OK && stat(path, &st) < 0)
		rc = kz_err_sys(err, KZ_E_IO, "the store vanished");
	if (rc != KZ_OK)
		return kz_audit_fail(err);
	a->dev = st.st_dev;
	a->ino = st.st_ino;
	*out = kz_take(a);
	return KZ_OK;
}

void kz_audit_close(struct kz_audit *a)
{
	if (!a)
		return;
	kz_stmt_free(a->begin);
	kz_stmt_free(a->commit);
	kz_stmt_free(a->last);
	kz_stmt_free(a->hash_of);
	kz_stmt_free(a->entry);
	kz_stmt_free(a->known);
	kz_stmt_free(a->closed);
	kz_stmt_free(a->newest);
	for (int k = 0; k < KZ_AUDIT_KINDS; k++) {
		kz_stmt_free(a->insert[k]);
		kz_stmt_free(a->insert_child[k]);
	}
	kz_db_close(a->db);
	if (a->dir >= 0)
		close(a->dir);
	free(a);
}

bool kz_audit_is_current(const struct kz_audit *a)
{
	struct stat st;

	return stat(a->path, &st) == 0 && st.st_dev == a->dev && st.st_ino == a->ino;
}

enum kz_rc kz_audit_checkpoint(struct kz_audit *a, struct kz_err *err)
{
	return kz_db_checkpoint(a->db, err) == KZ_OK ? KZ_OK : kz_audit_fail(err);
}
