/* Documents: bytes, versions, states, links, selections. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/room/parts.h"
#include "rule/media.h"
#include "rule/path.h"
#include "rule/reason.h"

/* Largest file that is taken: more than a projection may have, so that its bound can be tried. */
#define FILE_MOST (64 << 20)

enum kz_rc kz_room_take(struct kz_room *r, int dir, const char *file, struct kz_room_bytes *out,
			struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(FILE_MOST);
	enum kz_rc rc = kz_file_read(dir, file, &b, err);

	if (rc)
		return rc;
	kz_sha256_hex(kz_buf_str(&b), b.len, out->sha256);
	out->size = (int64_t)b.len;
	return kz_file_replace(r->docs_fd, out->sha256, kz_buf_str(&b), b.len, 0640, (gid_t)-1,
			       err);
}

/* The root of a document that another is a version of, which only its owner can make. */
static enum kz_rc root_of(struct kz_room *r, const char *of, const char *owner, char root[64],
			  struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = false;
	enum kz_rc rc =
		kz_room_ask(r, &s, err, "SELECT root FROM document WHERE id = ? AND owner = ?",
			    "ss", of, owner);

	if (!rc)
		rc = kz_stmt_step(s, &row, err);
	if (!rc && !row)
		rc = kz_err_set(err, KZ_E_NOINPUT, "there is no document %.60s of this member", of);
	return rc ? rc : kz_str_copy(root, 64, kz_stmt_text(s, 0), err);
}

enum kz_rc kz_room_add(struct kz_room *r, const struct kz_room_upload *u,
		       const struct kz_room_bytes *bytes, char id[64], struct kz_err *err)
{
	char root[64];
	int64_t position = 0;
	enum kz_rc rc = kz_room_note(r, NULL, u->owner, "document", u->name, NULL, &position, err);

	if (rc)
		return rc;
	snprintf(id, 64, "doc-%lld", (long long)position);
	snprintf(root, sizeof(root), "root-%lld", (long long)position);
	if (u->of && (rc = root_of(r, u->of, u->owner, root, err)))
		return rc;
	return kz_room_do(
		r, err,
		"INSERT INTO document VALUES (?1, ?2, (SELECT 1 + count(*) FROM document WHERE root = ?2),"
		" ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
		"ssssssissi", id, root, u->owner, u->kind ? u->kind : "upload", u->name,
		kz_media_type(u->name, NULL, 0), bytes->size, bytes->sha256,
		u->state ? u->state : "ready", (int64_t)bytes->is_derived);
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (kz_str_eq(word, *words))
			return true;
	return false;
}

static const char *const states[] = { "ready", "processing", "failed", "unreadable", NULL };

static struct kz_json *document_of(struct kz_room *r, const char *id, struct kz_err *err)
{
	struct kz_json *entry = NULL, *o = kz_room_object("room_document");

	if (kz_room_entry(r, id, NULL, &entry, err)) {
		kz_json_free(o);
		return NULL;
	}
	kz_json_set(o, "document", entry);
	return o;
}

enum kz_rc kz_room_upload(struct kz_room *r, const struct kz_room_upload *u, struct kz_json **out,
			  struct kz_err *err)
{
	static const char *const kinds[] = { "upload", "artifact", "native", NULL };
	struct kz_room_upload named = *u;
	struct kz_room_bytes bytes = { .size = 0 };
	char id[64] = "";
	enum kz_rc rc;

	named.name = u->name ? u->name : kz_path_base(u->file);
	if ((u->kind && !is_one_of(u->kind, kinds)) || (u->state && !is_one_of(u->state, states)))
		return kz_err_set(err, KZ_E_DATA, "kind or state is none that there is");
	rc = kz_room_name("a file", named.name, err);
	if (!rc)
		rc = kz_room_need(r, "SELECT 1 FROM member WHERE id = ?", "member", u->owner, err);
	if (!rc)
		rc = kz_room_take(r, AT_FDCWD, u->file, &bytes, err);
	if (!rc)
		rc = kz_room_begin(r, err);
	if (rc)
		return rc;
	rc = kz_room_end(r, kz_room_add(r, &named, &bytes, id, err), err);
	if (!rc)
		*out = document_of(r, id, err);
	return rc ? rc : *out ? KZ_OK : err->rc;
}

enum kz_rc kz_room_state(struct kz_room *r, const char *document, const char *state,
			 struct kz_json **out, struct kz_err *err)
{
	enum kz_rc rc;

	if (!is_one_of(state, states))
		return kz_err_set(err, KZ_E_DATA, "there is no state %.40s", state);
	rc = kz_room_need(r, "SELECT 1 FROM document WHERE id = ?", "document", document, err);
	if (!rc)
		rc = kz_room_do(r, err, "UPDATE document SET state = ? WHERE id = ?", "ss", state,
				document);
	if (!rc)
		*out = document_of(r, document, err);
	return rc ? rc : *out ? KZ_OK : err->rc;
}

enum kz_rc kz_room_entry(struct kz_room *r, const char *document, const char *member,
			 struct kz_json **out, struct kz_err *err)
{
	static const char *const names[] = { "kind",   "state",    "version",   "root",
					     "sha256", "filename", "media_type" };
	kz_auto_stmt struct kz_stmt *s = NULL;
	struct kz_json *o;
	bool row = false;
	enum kz_rc rc = kz_room_ask(
		r, &s, err,
		"SELECT kind, state, version, root, sha256, filename, media_type, size FROM document "
		"WHERE id = ?1 AND (?2 IS NULL OR owner = ?2)",
		"ss", document, member);

	if (!rc)
		rc = kz_stmt_step(s, &row, err);
	if (rc)
		return rc;
	o = kz_json_object();
	kz_json_set_str(o, "id", document);
	if (!row) /* what a member never could read is told by the id that it gave, and nothing else [PRJ-47] */
		kz_json_set_str(o, "state", "unreadable");
	for (size_t i = 0; row && i < sizeof(names) / sizeof(*names); i++)
		kz_json_set_str(o, names[i], kz_stmt_text(s, (int)i));
	if (row)
		kz_json_set_int(o, "size", kz_stmt_int(s, 7));
	*out = o;
	return KZ_OK;
}

enum kz_rc kz_room_put_link(struct kz_room *r, const char *room, const char *document,
			    const char *member, const char *turn, struct kz_err *err)
{
	int64_t position = 0;
	char outside[64];
	enum kz_rc rc = kz_room_note(r, room, member, "link", document, turn, &position, err);

	snprintf(outside, sizeof(outside), "filed-%lld", (long long)position);
	return rc ? rc :
		    kz_room_do(r, err, "INSERT OR IGNORE INTO link VALUES (?, ?, ?, ?, ?)", "ssssi",
			       room, document, turn ? turn : outside, member, position);
}

static enum kz_rc is_inside(struct kz_room *r, const char *room, const char *member,
			    struct kz_err *err)
{
	kz_auto_json struct kz_json *roster = NULL;
	enum kz_rc rc = kz_room_need(r, "SELECT 1 FROM room WHERE id = ?", "room", room, err);

	if (!rc)
		rc = kz_room_roster(r, room, &roster, err);
	for (size_t i = 0; !rc && i < kz_json_count(roster); i++)
		if (kz_str_eq(kz_json_str_value(kz_json_at(roster, i)), member))
			return KZ_OK;
	return rc ? rc : kz_refuse(err, KZ_R_MEMBER_INACTIVE, NULL);
}

enum kz_rc kz_room_link(struct kz_room *r, const char *room, const char *document,
			const char *member, bool is_unlink, struct kz_json **out,
			struct kz_err *err)
{
	int64_t position;
	enum kz_rc rc = kz_room_begin(r, err);

	if (rc)
		return rc;
	rc = is_inside(r, room, member, err);
	if (!rc && is_unlink) {
		rc = kz_room_do(r, err,
				"DELETE FROM link WHERE room = ? AND document = ? AND member = ?",
				"sss", room, document, member);
		if (!rc)
			rc = kz_room_note(r, room, member, "unlink", document, NULL, &position,
					  err);
	} else if (!rc) {
		char root[64];

		rc = root_of(r, document, member, root, err);
		if (!rc)
			rc = kz_room_put_link(r, room, document, member, NULL, err);
	}
	rc = kz_room_end(r, rc, err);
	if (!rc)
		*out = document_of(r, document, err);
	return rc ? rc : *out ? KZ_OK : err->rc;
}

enum kz_rc kz_room_select(struct kz_room *r, const char *room, const char *member,
			  const char *const *documents, size_t count, struct kz_json **out,
			  struct kz_err *err)
{
	struct kz_json *o;
	enum kz_rc rc = kz_room_begin(r, err);

	if (rc)
		return rc;
	rc = is_inside(r, room, member, err);
	if (!rc)
		rc = kz_room_do(r, err, "DELETE FROM selection WHERE room = ? AND member = ?", "ss",
				room, member);
	for (size_t i = 0; !rc && i < count; i++)
		rc = kz_room_do(r, err, "INSERT INTO selection VALUES (?, ?, ?, ?)", "sssi", room,
				member, documents[i], (int64_t)i);
	rc = kz_room_end(r, rc, err);
	if (rc)
		return rc;
	o = kz_room_object("room_change");
	kz_json_set_str(o, "what", "select");
	kz_json_set_str(o, "about", room);
	kz_json_set_str(o, "member", member);
	*out = o;
	return KZ_OK;
}

enum kz_rc kz_room_files(struct kz_room *r, const char *room, struct kz_json **manifest,
			 struct kz_json **links, struct kz_err *err)
{
	static const char *const names[] = { "id", "root", "version", "turn", "member" };
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = true;
	enum kz_rc rc = kz_room_ask(
		r, &s, err,
		"SELECT l.document, d.root, d.version, l.turn, l.member, l.position FROM link l "
		"JOIN document d ON d.id = l.document WHERE l.room = ? ORDER BY l.position",
		"s", room);

	*manifest = kz_json_array();
	*links = kz_json_array();
	while (!rc && !(rc = kz_stmt_step(s, &row, err)) && row) {
		struct kz_json *link = kz_json_object(), *entry = NULL;

		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			kz_json_set_str(link, names[i], kz_stmt_text(s, (int)i));
		kz_json_set_int(link, "position", kz_stmt_int(s, 5));
		kz_json_append(*links, link);
		rc = kz_room_entry(r, kz_stmt_text(s, 0), NULL, &entry, err);
		if (!rc)
			kz_json_append(*manifest, entry);
	}
	return rc;
}
