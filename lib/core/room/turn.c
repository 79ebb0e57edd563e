/* Turns: the snapshot of an admission, its scope document, the audience of the moment. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/files/capability.h"
#include "core/room/parts.h"
#include "rule/reason.h"

static enum kz_rc version_of(struct kz_room *r, const char *room, char out[64], bool *is_private,
			     struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = false;
	enum kz_rc rc = kz_room_ask(
		r, &s, err, "SELECT audience, is_private FROM room WHERE id = ?", "s", room);

	if (!rc)
		rc = kz_stmt_step(s, &row, err);
	if (!rc && !row)
		rc = kz_err_set(err, KZ_E_NOINPUT, "there is no room %.100s", room);
	if (rc)
		return rc;
	snprintf(out, 64, "audience-%lld", (long long)kz_stmt_int(s, 0));
	*is_private = kz_stmt_int(s, 1);
	return KZ_OK;
}

static enum kz_rc selection_of(struct kz_room *r, const char *room, const char *member,
			       struct kz_json *document, struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	kz_auto_json struct kz_json *list = kz_json_array();
	bool row = true;
	enum kz_rc rc = kz_room_ask(
		r, &s, err,
		"SELECT document FROM selection WHERE room = ? AND member = ? ORDER BY place", "ss",
		room, member);

	while (!rc && !(rc = kz_stmt_step(s, &row, err)) && row) {
		struct kz_json *entry = NULL;

		rc = kz_room_entry(r, kz_stmt_text(s, 0), member, &entry, err);
		if (!rc)
			kz_json_append(list, entry);
	}
	if (!rc)
		kz_json_set(document, "selection", kz_take(list));
	return rc;
}

static enum kz_rc retrieved_of(struct kz_room *r, const char *member, const char *turn,
			       struct kz_room_ids ids, struct kz_json *document, struct kz_err *err)
{
	kz_auto_json struct kz_json *list = kz_json_array();
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && i < ids.count; i++) {
		struct kz_json *entry = NULL;

		rc = kz_room_entry(r, ids.at[i], member, &entry, err);
		kz_json_set_str(entry, "turn", turn);
		if (!rc)
			kz_json_append(list, entry);
	}
	if (!rc)
		kz_json_set(document, "retrieved", kz_take(list));
	return rc;
}

static enum kz_rc files_of(struct kz_room *r, const char *room, struct kz_json *document,
			   struct kz_err *err)
{
	struct kz_json *manifest = NULL, *links = NULL;
	char digest[KZ_SHA256_HEX];
	enum kz_rc rc = kz_room_files(r, room, &manifest, &links, err);

	if (!rc)
		rc = kz_turn_digest(manifest, digest, err);
	kz_json_set(document, "manifest", manifest);
	if (!rc)
		kz_json_set_str(document, "manifest_sha256", digest);
	kz_json_set(document, "links", links);
	return rc;
}

static bool has(const struct kz_json *list, const char *member)
{
	for (size_t i = 0; i < kz_json_count(list); i++)
		if (kz_str_eq(kz_json_str_value(kz_json_at(list, i)), member))
			return true;
	return false;
}

/* All that is of one moment, inside one transaction. */
static enum kz_rc snapshot(struct kz_room *r, const char *room, const char *member,
			   struct kz_room_ids requested, struct kz_room_ids retrieved,
			   struct kz_json *o, struct kz_err *err)
{
	struct kz_json *roster = NULL, *ids = NULL;
	char version[64], turn[64];
	bool is_private = false;
	int64_t position = 0;
	enum kz_rc rc = version_of(r, room, version, &is_private, err);

	if (!rc)
		rc = kz_room_roster(r, room, &roster, err);
	if (!rc && !has(roster, member))
		rc = kz_refuse(err, KZ_R_MEMBER_INACTIVE, NULL);
	if (!rc)
		rc = kz_room_note(r, room, member, "turn", NULL, NULL, &position, err);
	snprintf(turn, sizeof(turn), "turn-%lld", (long long)position);
	kz_json_set_str(o, "actor", member);
	kz_json_set_str(o, "conversation", room);
	kz_json_set_str(o, "kind", is_private ? "private_attachments" : "room");
	kz_json_set_str(o, "turn", turn);
	kz_json_set_int(o, "admission_position", position);
	kz_json_set_str(o, "audience_version", version);
	kz_json_set(o, "roster", roster ? roster : kz_json_array());
	if (!rc)
		rc = files_of(r, room, o, err);
	if (!rc)
		rc = is_private ? retrieved_of(r, member, turn, retrieved, o, err) :
				  selection_of(r, room, member, o, err);
	ids = kz_json_array();
	for (size_t i = 0; i < requested.count; i++)
		kz_json_append(ids, kz_json_string(requested.at[i]));
	kz_json_set(o, "requested", ids);
	return rc;
}

enum kz_rc kz_room_turn(struct kz_room *r, const char *room, const char *member,
			struct kz_room_ids requested, struct kz_room_ids retrieved,
			struct kz_json **out, struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_room_object("scope_document");
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_TURN_MAX);
	enum kz_rc rc = kz_room_begin(r, err);

	if (rc)
		return rc;
	rc = snapshot(r, room, member, requested, retrieved, o, err);
	if (!rc)
		rc = kz_json_write(o, &text, err);
	if (!rc)
		rc = kz_room_do(r, err, "INSERT INTO turn VALUES (?, ?, ?, ?)", "ssss",
				kz_json_str(o, "turn", ""), room, member, kz_buf_str(&text));
	rc = kz_room_end(r, rc, err);
	if (rc)
		return rc;
	*out = kz_room_object("room_turn");
	kz_json_set_str(*out, "turn", kz_json_str(o, "turn", ""));
	kz_json_set_int(*out, "position", kz_json_num(o, "admission_position", 0));
	kz_json_set_str(*out, "audience_version", kz_json_str(o, "audience_version", ""));
	return KZ_OK;
}

enum kz_rc kz_room_scope(struct kz_room *r, const char *turn, int64_t life_s, struct kz_json **out,
			 struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	kz_auto_json struct kz_json *o = NULL;
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_CAPABILITY_MAX);
	int64_t now = kz_time_wall_ms() / 1000;
	bool row = false;
	enum kz_rc rc =
		kz_room_ask(r, &s, err, "SELECT document FROM turn WHERE id = ?", "s", turn);

	if (!rc)
		rc = kz_stmt_step(s, &row, err);
	if (!rc && !row)
		rc = kz_err_set(err, KZ_E_NOINPUT, "there is no turn %.100s", turn);
	if (!rc)
		rc = kz_json_parse(kz_stmt_text(s, 0), kz_stmt_text_len(s, 0), &o, err);
	if (!rc)
		rc = kz_capability_mint(&r->key, o, now, now + life_s, &token, err);
	if (rc)
		return rc;
	kz_json_set_str(o, "capability", kz_buf_str(&token));
	*out = kz_take(o);
	return KZ_OK;
}

enum kz_rc kz_room_audience(struct kz_room *r, const char *room, struct kz_json **out,
			    struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_room_object("audience");
	struct kz_json *roster = NULL, *manifest = NULL, *links = NULL;
	char version[64];
	bool is_private;
	/* one moment: nobody joins between the parts */
	enum kz_rc rc = kz_db_exec(r->db, "BEGIN", err);

	if (rc)
		return rc;
	rc = version_of(r, room, version, &is_private, err);
	if (!rc)
		rc = kz_room_roster(r, room, &roster, err);
	if (!rc)
		rc = kz_room_files(r, room, &manifest, &links, err);
	rc = kz_room_end(r, rc, err);
	if (!rc) {
		kz_json_set_str(o, "version", version);
		kz_json_set(o, "roster", kz_take(roster));
		kz_json_set(o, "manifest", kz_take(manifest));
		kz_json_set(o, "links", kz_take(links));
		*out = kz_take(o);
	}
	kz_json_free(roster);
	kz_json_free(manifest);
	kz_json_free(links);
	return rc;
}

enum kz_rc kz_room_journal(struct kz_room *r, const char *room, struct kz_json **out,
			   struct kz_err *err)
{
	static const char *const names[] = { "room", "member", "what", "about", "turn" };
	kz_auto_stmt struct kz_stmt *s = NULL;
	kz_auto_json struct kz_json *list = kz_json_array();
	bool row = true;
	enum kz_rc rc = kz_room_ask(r, &s, err,
				    "SELECT position, room, member, what, about, turn FROM journal "
				    "WHERE room = ? ORDER BY position",
				    "s", room);

	while (!rc && !(rc = kz_stmt_step(s, &row, err)) && row) {
		struct kz_json *o = kz_room_object("room_journal");

		kz_json_set_int(o, "position", kz_stmt_int(s, 0));
		for (int i = 0; i < 5; i++)
			kz_json_set_str(o, names[i],
					kz_stmt_is_null(s, i + 1) ? NULL : kz_stmt_text(s, i + 1));
		kz_json_append(list, o);
	}
	if (!rc)
		*out = kz_take(list);
	return rc;
}
