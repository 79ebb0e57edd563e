/* The place of a room application: files, tables, changes, the journal. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/room/parts.h"
#include "port/seal-sign.h"
#include "rule/reason.h"

static const char tables[] =
	"CREATE TABLE member (id TEXT PRIMARY KEY) WITHOUT ROWID;"
	"CREATE TABLE project (id TEXT PRIMARY KEY) WITHOUT ROWID;"
	"CREATE TABLE project_member (project TEXT REFERENCES project, member TEXT REFERENCES member,"
	" PRIMARY KEY (project, member)) WITHOUT ROWID;"
	"CREATE TABLE room (id TEXT PRIMARY KEY, owner TEXT NOT NULL REFERENCES member,"
	" project TEXT REFERENCES project, is_private INTEGER NOT NULL,"
	" audience INTEGER NOT NULL DEFAULT 1) WITHOUT ROWID;"
	"CREATE TABLE room_member (room TEXT REFERENCES room, member TEXT REFERENCES member,"
	" PRIMARY KEY (room, member)) WITHOUT ROWID;"
	"CREATE TABLE document (id TEXT PRIMARY KEY, root TEXT NOT NULL, version TEXT NOT NULL,"
	" owner TEXT NOT NULL REFERENCES member, kind TEXT NOT NULL, filename TEXT NOT NULL,"
	" media_type TEXT NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL, state TEXT NOT NULL,"
	" is_derived INTEGER NOT NULL, UNIQUE (root, version)) WITHOUT ROWID;"
	"CREATE TABLE journal (position INTEGER PRIMARY KEY AUTOINCREMENT, room TEXT, member TEXT,"
	" what TEXT NOT NULL, about TEXT, turn TEXT);"
	"CREATE TABLE link (room TEXT REFERENCES room, document TEXT REFERENCES document,"
	" turn TEXT NOT NULL, member TEXT NOT NULL REFERENCES member, position INTEGER NOT NULL,"
	" PRIMARY KEY (room, document)) WITHOUT ROWID;"
	"CREATE TABLE selection (room TEXT REFERENCES room, member TEXT REFERENCES member,"
	" document TEXT NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (room, member, place)) WITHOUT ROWID;"
	"CREATE TABLE turn (id TEXT PRIMARY KEY, room TEXT NOT NULL REFERENCES room,"
	" member TEXT NOT NULL REFERENCES member, document TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE held (turn TEXT REFERENCES turn, document TEXT REFERENCES document,"
	" PRIMARY KEY (turn, document)) WITHOUT ROWID;"
	"CREATE TABLE pointer (project TEXT REFERENCES project, document TEXT REFERENCES document,"
	" member TEXT NOT NULL REFERENCES member, is_shared INTEGER NOT NULL,"
	" is_withdrawn INTEGER NOT NULL, PRIMARY KEY (project, document)) WITHOUT ROWID;";

static enum kz_rc bind(struct kz_stmt *s, const char *kinds, va_list args)
{
	for (int i = 0; kinds[i]; i++) {
		if (kinds[i] == 'i')
			kz_stmt_bind_int(s, i + 1, va_arg(args, int64_t));
		else
			kz_stmt_bind_text(s, i + 1, va_arg(args, const char *));
	}
	return KZ_OK;
}

enum kz_rc kz_room_ask(struct kz_room *r, struct kz_stmt **out, struct kz_err *err, const char *sql,
		       const char *kinds, ...)
{
	va_list args;
	enum kz_rc rc = kz_stmt_new(out, r->db, sql, err);

	if (rc)
		return rc;
	va_start(args, kinds);
	bind(*out, kinds, args);
	va_end(args);
	return KZ_OK;
}

enum kz_rc kz_room_do(struct kz_room *r, struct kz_err *err, const char *sql, const char *kinds,
		      ...)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = true;
	va_list args;
	enum kz_rc rc = kz_stmt_new(&s, r->db, sql, err);

	if (rc)
		return rc;
	va_start(args, kinds);
	bind(s, kinds, args);
	va_end(args);
	while (!rc && row)
		rc = kz_stmt_step(s, &row, err);
	return rc;
}

enum kz_rc kz_room_need(struct kz_room *r, const char *sql, const char *what, const char *name,
			struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = false;
	enum kz_rc rc = kz_room_ask(r, &s, err, sql, "s", name);

	if (!rc)
		rc = kz_stmt_step(s, &row, err);
	if (!rc && !row)
		rc = kz_err_set(err, KZ_E_NOINPUT, "there is no %s %.100s", what, name);
	return rc;
}

enum kz_rc kz_room_begin(struct kz_room *r, struct kz_err *err)
{
	return kz_db_exec(r->db, "BEGIN IMMEDIATE", err);
}

enum kz_rc kz_room_end(struct kz_room *r, enum kz_rc rc, struct kz_err *err)
{
	struct kz_err ignored = KZ_ERR_INIT;

	if (!rc)
		rc = kz_db_exec(r->db, "COMMIT", err);
	if (rc)
		kz_db_exec(r->db, "ROLLBACK", &ignored);
	return rc;
}

enum kz_rc kz_room_note(struct kz_room *r, const char *room, const char *member, const char *what,
			const char *about, const char *turn, int64_t *position, struct kz_err *err)
{
	enum kz_rc rc = kz_room_do(
		r, err,
		"INSERT INTO journal (room, member, what, about, turn) VALUES (?, ?, ?, ?, ?)",
		"sssss", room, member, what, about, turn);

	return rc ? rc : kz_db_int(r->db, "SELECT last_insert_rowid()", 0, position, err);
}

enum kz_rc kz_room_moved(struct kz_room *r, const char *room, const char *project,
			 struct kz_err *err)
{
	return kz_room_do(r, err,
			  "UPDATE room SET audience = audience + 1 WHERE id = ? OR project = ?",
			  "ss", room, project);
}

enum kz_rc kz_room_name(const char *what, const char *name, struct kz_err *err)
{
	size_t n = strlen(name);

	if (n && n <= 255 && kz_utf8_valid(name, n) && !kz_str_has_control(name))
		return KZ_OK;
	return kz_err_set(err, KZ_E_DATA, "%s has 1 to 255 bytes without control characters", what);
}

struct kz_json *kz_room_object(const char *type)
{
	struct kz_json *o = kz_json_object();

	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", type);
	return o;
}

static enum kz_rc place(const char *path, const char *suffix, char out[4096], struct kz_err *err)
{
	return kz_str_format(out, 4096, err, "%s%s", path, suffix);
}

static enum kz_rc make_files(const char *path, struct kz_secret *key, struct kz_err *err)
{
	char name[4096];
	enum kz_rc rc = place(path, ".docs", name, err);

	if (!rc)
		rc = kz_dir_make(AT_FDCWD, name, 0750, (gid_t)-1, err);
	if (!rc)
		rc = place(path, ".key", name, err);
	kz_random(key->bytes, sizeof(key->bytes));
	key->is_set = true;
	if (!rc)
		rc = kz_file_replace(AT_FDCWD, name, key->bytes, sizeof(key->bytes), 0600,
				     (gid_t)-1, err);
	return rc;
}

enum kz_rc kz_room_init(const char *path, struct kz_json **out, struct kz_err *err)
{
	kz_auto_db struct kz_db *db = NULL;
	struct kz_secret key = { .is_set = false };
	struct kz_public public;
	char text[KZ_PASERK_PUBLIC_TEXT];
	struct stat st;
	enum kz_rc rc = kz_seal_init(err);

	if (!rc && lstat(path, &st) == 0)
		rc = kz_err_set(err, KZ_E_CANTCREAT, "%.200s is there already", path);
	if (!rc)
		rc = make_files(path, &key, err);
	if (!rc)
		rc = kz_db_open(&db, path, KZ_DB_PLAIN, KZ_SECONDS(10), err);
	if (!rc)
		rc = kz_db_exec(db, tables, err);
	if (!rc) {
		kz_sign_public(&key, &public);
		kz_paserk_public(&public, text);
		*out = kz_room_object("room_key");
		kz_json_set_str(*out, "key", text);
	}
	kz_secret_release(&key);
	return rc;
}

static enum kz_rc read_key(struct kz_room *r, const char *name, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(64);
	enum kz_rc rc = kz_file_read(AT_FDCWD, name, &text, err);

	if (!rc && text.len != sizeof(r->key.bytes))
		rc = kz_err_set(err, KZ_E_DATA, "%.200s is no key", name);
	if (!rc) {
		memcpy(r->key.bytes, text.data, text.len);
		r->key.is_set = true;
		explicit_bzero(text.data, text.len);
	}
	return rc;
}

enum kz_rc kz_room_open(const char *path, struct kz_room **out, struct kz_err *err)
{
	kz_auto_room struct kz_room *r = calloc(1, sizeof(*r));
	char name[4096];
	enum kz_rc rc = r ? kz_seal_init(err) : kz_err_set(err, KZ_E_OS, "memory is out");

	if (rc)
		return rc;
	r->docs_fd = -1;
	rc = kz_str_copy(r->path, sizeof(r->path), path, err);
	if (!rc)
		rc = place(path, ".key", name, err);
	if (!rc)
		rc = read_key(r, name, err);
	if (!rc)
		rc = place(path, ".docs", name, err);
	if (!rc) {
		r->docs_fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (r->docs_fd < 0)
			rc = kz_err_sys(err, KZ_E_NOINPUT, "cannot open %.200s", name);
	}
	if (!rc)
		rc = kz_db_open(&r->db, path, KZ_DB_WRITE, KZ_SECONDS(10), err);
	if (!rc)
		*out = kz_take(r);
	return rc;
}

void kz_room_close(struct kz_room *r)
{
	if (!r)
		return;
	kz_db_close(r->db);
	kz_secret_release(&r->key);
	kz_auto_close_(&r->docs_fd);
	free(r);
}
