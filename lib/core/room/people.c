/* Members, Projects and rooms: who can see what. */
#include <string.h>

#include "core/room/parts.h"
#include "rule/pointer.h"
#include "rule/reason.h"

#define MEMBER "SELECT 1 FROM member WHERE id = ?"
#define PROJECT "SELECT 1 FROM project WHERE id = ?"
#define ROOM "SELECT 1 FROM room WHERE id = ?"
#define DOCUMENT "SELECT 1 FROM document WHERE id = ?"

static struct kz_json *done(const char *what, const char *about, const char *member)
{
	struct kz_json *o = kz_room_object("room_change");

	kz_json_set_str(o, "what", what);
	kz_json_set_str(o, "about", about);
	kz_json_set_str(o, "member", member);
	return o;
}

enum kz_rc kz_room_member(struct kz_room *r, const char *member, struct kz_json **out,
			  struct kz_err *err)
{
	enum kz_rc rc = kz_room_name("a member", member, err);

	if (!rc)
		rc = kz_room_do(r, err, "INSERT OR IGNORE INTO member VALUES (?)", "s", member);
	if (!rc)
		*out = done("member", NULL, member);
	return rc;
}

/*
 * What a new member will see that a run made which saw a private selection, or may have:
 * the application warns with it [PRJ-53]. in: room, or NULL and the Project of rooms
 */
static enum kz_rc tell_derived(struct kz_room *r, const char *room, const char *project,
			       struct kz_json *change, struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	kz_auto_json struct kz_json *list = kz_json_array();
	bool row = true;
	enum kz_rc rc = kz_room_ask(
		r, &s, err,
		"SELECT DISTINCT d.id FROM document d JOIN link l ON l.document = d.id JOIN room r ON "
		"r.id = l.room WHERE d.is_derived AND (r.id = ?1 OR r.project = ?2) ORDER BY 1",
		"ss", room, project);

	while (!rc && !(rc = kz_stmt_step(s, &row, err)) && row)
		kz_json_append(list, kz_json_string(kz_stmt_text(s, 0)));
	if (!rc)
		kz_json_set(change, "derived_private", kz_take(list));
	return rc;
}

enum kz_rc kz_room_project(struct kz_room *r, const char *project, const char *member,
			   bool is_leave, struct kz_json **out, struct kz_err *err)
{
	const char *what = is_leave ? "project_leave" : "project_join";
	kz_auto_json struct kz_json *change = done(what, project, member);
	int64_t position;
	enum kz_rc rc = kz_room_name("a Project", project, err);

	if (rc || (rc = kz_room_begin(r, err)))
		return rc;
	rc = kz_room_need(r, MEMBER, "member", member, err);
	if (!rc)
		rc = kz_room_do(r, err, "INSERT OR IGNORE INTO project VALUES (?)", "s", project);
	if (!rc)
		rc = kz_room_do(
			r, err,
			is_leave ? "DELETE FROM project_member WHERE project = ? AND member = ?" :
				   "INSERT OR IGNORE INTO project_member VALUES (?, ?)",
			"ss", project, member);
	if (!rc)
		rc = kz_room_moved(r, NULL, project, err);
	if (!rc)
		rc = kz_room_note(r, NULL, member, what, project, NULL, &position, err);
	if (!rc && !is_leave)
		rc = tell_derived(r, NULL, project, change, err);
	rc = kz_room_end(r, rc, err);
	if (!rc)
		*out = kz_take(change);
	return rc;
}

enum kz_rc kz_room_create(struct kz_room *r, const char *room, const char *owner,
			  const char *project, bool is_private, struct kz_json **out,
			  struct kz_err *err)
{
	int64_t position;
	enum kz_rc rc = kz_room_name("a room", room, err);

	if (!rc && project && is_private)
		rc = kz_err_set(err, KZ_E_DATA, "a private chat is in no Project");
	if (rc || (rc = kz_room_begin(r, err)))
		return rc;
	rc = kz_room_need(r, MEMBER, "member", owner, err);
	if (!rc && project)
		rc = kz_room_need(r, PROJECT, "Project", project, err);
	if (!rc)
		rc = kz_room_do(
			r, err,
			"INSERT INTO room (id, owner, project, is_private) VALUES (?, ?, ?, ?)",
			"sssi", room, owner, project, (int64_t)is_private);
	if (!rc)
		rc = kz_room_do(r, err, "INSERT INTO room_member VALUES (?, ?)", "ss", room, owner);
	if (!rc)
		rc = kz_room_note(r, room, owner, "create", project, NULL, &position, err);
	rc = kz_room_end(r, rc, err);
	if (!rc)
		*out = done("create", room, owner);
	return rc;
}

static enum kz_rc change_roster(struct kz_room *r, const char *room, const char *member,
				bool is_leave, struct kz_err *err)
{
	int64_t position;
	enum kz_rc rc =
		kz_room_do(r, err,
			   is_leave ? "DELETE FROM room_member WHERE room = ? AND member = ?" :
				      "INSERT OR IGNORE INTO room_member VALUES (?, ?)",
			   "ss", room, member);

	if (!rc)
		rc = kz_room_moved(r, room, NULL, err);
	return rc ? rc :
		    kz_room_note(r, room, member, is_leave ? "leave" : "join", NULL, NULL,
				 &position, err);
}

enum kz_rc kz_room_join(struct kz_room *r, const char *room, const char *member,
			enum kz_room_way way, struct kz_json **out, struct kz_err *err)
{
	kz_auto_json struct kz_json *change = NULL;
	enum kz_rc rc = kz_room_begin(r, err);

	if (rc)
		return rc;
	change = done(way == KZ_ROOM_LEAVE ? "leave" :
		      way == KZ_ROOM_JOIN  ? "join" :
					     "would_join",
		      room, member);
	rc = kz_room_need(r, "SELECT 1 FROM room WHERE id = ? AND is_private = 0", "shared room",
			  room, err);
	if (!rc)
		rc = kz_room_need(r, MEMBER, "member", member, err);
	if (!rc && way != KZ_ROOM_WOULD_JOIN)
		rc = change_roster(r, room, member, way == KZ_ROOM_LEAVE, err);
	if (!rc && way != KZ_ROOM_LEAVE)
		rc = tell_derived(r, room, NULL, change, err);
	rc = kz_room_end(r, rc, err);
	if (!rc)
		*out = kz_take(change);
	return rc;
}

enum kz_rc kz_room_roster(struct kz_room *r, const char *room, struct kz_json **out,
			  struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	kz_auto_json struct kz_json *list = kz_json_array();
	bool row = true;
	enum kz_rc rc = kz_room_ask(
		r, &s, err,
		"SELECT member FROM room_member WHERE room = ?1 UNION SELECT p.member FROM "
		"project_member p JOIN room ON room.project = p.project WHERE room.id = ?1 ORDER BY 1",
		"s", room);

	while (!rc && !(rc = kz_stmt_step(s, &row, err)) && row)
		kz_json_append(list, kz_json_string(kz_stmt_text(s, 0)));
	if (!rc)
		*out = kz_take(list);
	return rc;
}

enum kz_rc kz_room_file(struct kz_room *r, const char *project, const char *document,
			const char *member, bool is_shared, struct kz_json **out,
			struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = false;
	enum kz_rc rc = kz_room_need(r, DOCUMENT, "document", document, err);

	if (!rc)
		rc = kz_room_need(r, PROJECT, "Project", project, err);
	if (!rc)
		rc = kz_room_ask(
			r, &s, err,
			"SELECT 1 FROM document d JOIN project_member p ON p.member = d.owner "
			"WHERE d.id = ? AND d.owner = ? AND p.project = ?",
			"sss", document, member, project);
	if (!rc)
		rc = kz_stmt_step(s, &row, err);
	if (!rc && !row) /* nobody files what is somebody else's, or where it is not a member */
		rc = kz_err_set(err, KZ_E_NOPERM, "only its owner, in the Project, can file it");
	if (!rc)
		rc = kz_room_do(r, err, "INSERT OR REPLACE INTO pointer VALUES (?, ?, ?, ?, 0)",
				"sssi", project, document, member, (int64_t)is_shared);
	if (!rc)
		*out = done("file", document, member);
	return rc;
}

enum kz_rc kz_room_withdraw(struct kz_room *r, const char *project, const char *document,
			    const char *member, struct kz_json **out, struct kz_err *err)
{
	enum kz_rc rc =
		kz_room_do(r, err,
			   "UPDATE pointer SET is_withdrawn = 1 WHERE project = ? AND document = ? "
			   "AND member = ?",
			   "sss", project, document, member);

	if (!rc)
		*out = done("withdraw", document, member);
	return rc;
}

enum kz_rc kz_room_grant(struct kz_room *r, const char *project, const char *document,
			 const char *reader, const char *right, struct kz_json **out,
			 struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	struct kz_pointer p = { document, project, false, true };
	struct kz_pointer_request q = { document, project, false };
	struct kz_json *entry = NULL;
	bool row = false;
	enum kz_reason reason;
	enum kz_rc rc;

	if (!kz_pointer_right(right, &q.is_read))
		return kz_err_set(err, KZ_E_DATA, "there is no right %.40s", right);
	rc = kz_room_ask(
		r, &s, err,
		"SELECT (SELECT count(*) FROM project_member WHERE project = ?1 AND member = ?3),"
		" is_shared, is_withdrawn, project FROM (SELECT ?2 AS want) LEFT JOIN pointer "
		"ON document = want ORDER BY project = ?1 DESC LIMIT 1",
		"sss", project, document, reader);
	if (!rc)
		rc = kz_stmt_step(s, &row, err);
	if (rc)
		return rc;
	if (!kz_stmt_is_null(s, 3)) { /* filed: here, or only elsewhere */
		p.is_shared = kz_stmt_int(s, 1);
		p.is_withdrawn = kz_stmt_int(s, 2);
		p.project = kz_stmt_text(s, 3);
	}
	reason = kz_pointer_decide(&p, kz_stmt_int(s, 0) > 0, &q);
	if (reason != KZ_R_NONE)
		return kz_refuse(err, reason, NULL);
	*out = kz_room_object("room_document");
	rc = kz_room_entry(r, document, NULL, &entry, err);
	kz_json_set(*out, "document", entry);
	return rc;
}
