/* Outputs of a run: into the member's library, and linked to the one room, or held. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "core/room/parts.h"
#include "rule/path.h"
#include "rule/reason.h"

/* Whose run it was. */
struct origin {
	const char *turn;
	char room[256], member[256];
	bool is_private; /* the run saw a private selection, or may have found a copy of one */
};

static enum kz_rc origin_of(struct kz_room *r, struct origin *o, struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = false;
	enum kz_rc rc =
		kz_room_ask(r, &s, err, "SELECT room, member FROM turn WHERE id = ?", "s", o->turn);

	if (!rc)
		rc = kz_stmt_step(s, &row, err);
	if (!rc && !row)
		rc = kz_err_set(err, KZ_E_NOINPUT, "there is no turn %.100s", o->turn);
	if (!rc)
		rc = kz_str_copy(o->room, sizeof(o->room), kz_stmt_text(s, 0), err);
	return rc ? rc : kz_str_copy(o->member, sizeof(o->member), kz_stmt_text(s, 1), err);
}

/* A file of this name that the member has in the room already: what comes now is its next version. */
static enum kz_rc earlier(struct kz_room *r, const struct origin *o, const char *name, char id[64],
			  struct kz_err *err)
{
	kz_auto_stmt struct kz_stmt *s = NULL;
	bool row = false;
	enum kz_rc rc = kz_room_ask(
		r, &s, err,
		"SELECT d.id FROM link l JOIN document d ON d.id = l.document WHERE l.room = ? AND "
		"d.owner = ? AND d.filename = ? ORDER BY l.position DESC LIMIT 1",
		"sss", o->room, o->member, name);

	id[0] = '\0';
	if (!rc)
		rc = kz_stmt_step(s, &row, err);
	return rc || !row ? rc : kz_str_copy(id, 64, kz_stmt_text(s, 0), err);
}

/* The bytes of one output, which must be those of the record, and the record one of this turn [OUT-15]. */
static enum kz_rc take_bytes(struct kz_room *r, const struct origin *o, int dir,
			     const struct kz_json *output, struct kz_room_bytes *bytes,
			     struct kz_err *err)
{
	const char *name = kz_json_str(output, "name", "");
	char form[KZ_PATH_MAX + 1];
	enum kz_rc rc;

	if (!kz_str_eq(kz_json_str(output, "turn", ""), o->turn) ||
	    !kz_str_eq(kz_json_str(output, "member", ""), o->member))
		return kz_err_set(err, KZ_E_DATA, "the record is of another turn");
	if (kz_path_normal(name, strlen(name), form))
		return kz_err_set(err, KZ_E_DATA, "an output of the record has no name");
	rc = kz_room_take(r, dir, form, bytes, err);
	if (rc == KZ_E_NOINPUT)
		return kz_err_reason(err, kz_reason_code(KZ_R_OUTPUT_MISSING));
	if (!rc && !kz_str_eq(bytes->sha256, kz_json_str(output, "sha256", "")))
		rc = kz_refuse(err, KZ_R_RESOURCE_DIGEST_MISMATCH,
			       "%.100s is not the file of the record", form);
	return rc;
}

static enum kz_rc take_one(struct kz_room *r, const struct origin *o, const struct kz_json *output,
			   const struct kz_room_bytes *bytes, bool is_held, struct kz_json *list,
			   struct kz_err *err)
{
	const char *name = kz_path_base(kz_json_str(output, "name", ""));
	struct kz_room_upload u = { .owner = o->member, .name = name, .kind = "native" };
	struct kz_json *entry = NULL;
	char of[64], id[64];
	enum kz_rc rc = earlier(r, o, name, of, err);

	u.of = of[0] ? of : NULL;
	if (!rc)
		rc = kz_room_add(r, &u, bytes, id, err);
	if (!rc && is_held)
		rc = kz_room_do(r, err, "INSERT INTO held VALUES (?, ?)", "ss", o->turn, id);
	else if (!rc)
		rc = kz_room_put_link(r, o->room, id, o->member, o->turn, err);
	if (!rc)
		rc = kz_room_entry(r, id, NULL, &entry, err);
	if (!rc)
		kz_json_append(list, entry);
	return rc;
}

static enum kz_rc is_sole(struct kz_room *r, const struct origin *o, bool *out, struct kz_err *err)
{
	kz_auto_json struct kz_json *roster = NULL;
	enum kz_rc rc = kz_room_roster(r, o->room, &roster, err);

	*out = !rc && kz_json_count(roster) == 1 &&
	       kz_str_eq(kz_json_str_value(kz_json_at(roster, 0)), o->member);
	return rc;
}

/* The files that one run returned. out: list of entries, is_held */
static enum kz_rc take_all(struct kz_room *r, const struct origin *o, const struct kz_json *outputs,
			   const struct kz_room_bytes *bytes, bool *is_held, struct kz_json *list,
			   struct kz_err *err)
{
	bool is_alone = false;
	enum kz_rc rc = kz_room_begin(r, err);

	if (rc)
		return rc;
	rc = is_sole(r, o, &is_alone,
		     err); /* in the change that links: nobody joins between [PRJ-52] */
	*is_held = o->is_private && !is_alone;
	for (size_t i = 0; !rc && i < kz_json_count(outputs); i++)
		rc = take_one(r, o, kz_json_at(outputs, i), &bytes[i], *is_held, list, err);
	return kz_room_end(r, rc, err);
}

static struct kz_json *linked(const struct origin *o, const char *status, struct kz_json *list)
{
	struct kz_json *j = kz_room_object("room_outputs");

	kz_json_set_str(j, "turn", o->turn);
	kz_json_set_str(j, "status", status);
	kz_json_set_bool(j, "derived_private", o->is_private);
	kz_json_set(j, "documents", list);
	return j;
}

/* What does not say that it saw nothing saw something. */
static bool is_derived(const struct kz_json *record)
{
	const struct kz_json *outputs = kz_json_get(record, "outputs");
	bool is = kz_json_flag(record, "private_selection", true);

	for (size_t i = 0; !is && i < kz_json_count(outputs); i++)
		is = kz_json_flag(kz_json_at(outputs, i), "derived_private", true);
	return is;
}

enum kz_rc kz_room_outputs(struct kz_room *r, const char *turn, const struct kz_json *record,
			   const char *dir, struct kz_json **out, struct kz_err *err)
{
	struct origin o = { .turn = turn, .is_private = is_derived(record) };
	const struct kz_json *outputs = kz_json_get(record, "outputs");
	kz_auto_free struct kz_room_bytes *bytes = NULL;
	kz_auto_json struct kz_json *list = kz_json_array();
	kz_auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_held = false;
	enum kz_rc rc;

	if (fd < 0)
		return kz_err_sys(err, KZ_E_NOINPUT, "cannot open %.200s", dir);
	if (!kz_str_eq(kz_json_str(record, "type", ""), "record") || !kz_json_is_array(outputs))
		return kz_err_set(err, KZ_E_DATA, "that is no record of kz-run");
	bytes = calloc(kz_json_count(outputs) + 1, sizeof(*bytes));
	if (!bytes)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	rc = origin_of(r, &o, err);
	for (size_t i = 0; !rc && i < kz_json_count(outputs); i++) {
		bytes[i].is_derived = o.is_private;
		rc = take_bytes(r, &o, fd, kz_json_at(outputs, i), &bytes[i], err);
	}
	if (!rc)
		rc = take_all(r, &o, outputs, bytes, &is_held, list, err);
	if (rc)
		return rc;
	*out = linked(&o, is_held ? "held" : "linked", kz_take(list));
	return is_held ? kz_refuse(err, KZ_R_LINK_NOT_SOLE, NULL) : KZ_OK;
}

enum kz_rc kz_room_settle(struct kz_room *r, const char *turn, bool is_accept, struct kz_json **out,
			  struct kz_err *err)
{
	struct origin o = { .turn = turn, .is_private = true };
	kz_auto_stmt struct kz_stmt *s = NULL;
	kz_auto_json struct kz_json *list = kz_json_array();
	bool row = true;
	enum kz_rc rc = kz_room_begin(r, err);

	if (rc)
		return rc;
	rc = origin_of(r, &o, err);
	if (!rc)
		rc = kz_room_ask(r, &s, err, "SELECT document FROM held WHERE turn = ?", "s", turn);
	while (!rc && !(rc = kz_stmt_step(s, &row, err)) && row) {
		struct kz_json *entry = NULL;

		if (is_accept)
			rc = kz_room_put_link(r, o.room, kz_stmt_text(s, 0), o.member, turn, err);
		if (!rc)
			rc = kz_room_entry(r, kz_stmt_text(s, 0), NULL, &entry, err);
		if (!rc)
			kz_json_append(list, entry);
	}
	if (!rc && !kz_json_count(list))
		rc = kz_err_set(err, KZ_E_NOINPUT, "nothing of this turn is held");
	if (!rc)
		rc = kz_room_do(r, err, "DELETE FROM held WHERE turn = ?", "s", turn);
	rc = kz_room_end(r, rc, err);
	if (!rc)
		*out = linked(&o, is_accept ? "linked" : "dropped", kz_take(list));
	return rc;
}
