/*
 * A small chat application: members, Projects, rooms, documents, links, selections, turns, a journal.  It is what
 * stands on the other side of a scope document, for tests and as an example; kz trusts nothing of it but what its
 * key signed.  Its place is one SQLite file DB, the key DB.key and the bytes of documents in DB.docs/, each
 * file named by its SHA-256.  Every change is one transaction; every answer is one new JSON object.  Layer 3.
 * err, everywhere: input_missing for a name that there is not, malformed_input, io_failed, system_failed.
 * src: PRJ-16 to PRJ-18, PRJ-23, PRJ-36, PRJ-52 to PRJ-54, OUT-9, OUT-14, OUT-15, PROJ-1 to PROJ-13
 */
#ifndef KZ_CORE_ROOM_ROOM_H
#define KZ_CORE_ROOM_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"
#include "port/json.h"

struct kz_room;

/* Make the place: key, directory and database; fails where there is one. out: its public key */
enum kz_rc kz_room_init(const char *path, struct kz_json **out, struct kz_err *err);
/* Open it. */
enum kz_rc kz_room_open(const char *path, struct kz_room **out, struct kz_err *err);
void kz_room_close(struct kz_room *r);
KZ_AUTO(kz_auto_room_, struct kz_room *, kz_room_close)
#define kz_auto_room kz_auto(kz_auto_room_)

/* A member; a Project of members who are added or, with is_leave, leave. */
enum kz_rc kz_room_member(struct kz_room *r, const char *member, struct kz_json **out,
			  struct kz_err *err);
enum kz_rc kz_room_project(struct kz_room *r, const char *project, const char *member,
			   bool is_leave, struct kz_json **out, struct kz_err *err);
/* A chat of its owner. in: project: NULL, or where it is filed, whose members are then in the room [PROJ-12]; is_private: a private chat */
enum kz_rc kz_room_create(struct kz_room *r, const char *room, const char *owner,
			  const char *project, bool is_private, struct kz_json **out,
			  struct kz_err *err);
/*
 * A member of a room: out of it, into it, or what would be with it in it.
 * out: who joins, a Project too, is told with the documents that runs made which saw, or
 *   may have seen, a private selection, so that one can warn before they are shared [PRJ-53].
 */
enum kz_room_way { KZ_ROOM_LEAVE, KZ_ROOM_JOIN, KZ_ROOM_WOULD_JOIN };
enum kz_rc kz_room_join(struct kz_room *r, const char *room, const char *member,
			enum kz_room_way way, struct kz_json **out, struct kz_err *err);

/* What a new document is. NULL: a root of its own, found by the name, "upload", "ready". */
struct kz_room_upload {
	const char *owner, *file, *name, *of, *kind, *state;
};
/* Take a file into a member's library, as a new version of document "of" when given. */
enum kz_rc kz_room_upload(struct kz_room *r, const struct kz_room_upload *u, struct kz_json **out,
			  struct kz_err *err);
/* ready, processing, failed, unreadable */
enum kz_rc kz_room_state(struct kz_room *r, const char *document, const char *state,
			 struct kz_json **out, struct kz_err *err);
/* A member files a document of its own into a room, outside of a run; or takes it away. */
enum kz_rc kz_room_link(struct kz_room *r, const char *room, const char *document,
			const char *member, bool is_unlink, struct kz_json **out,
			struct kz_err *err);
/* A member's private selection in a room, which replaces the one before and is never linked [PRJ-18]. */
enum kz_rc kz_room_select(struct kz_room *r, const char *room, const char *member,
			  const char *const *documents, size_t count, struct kz_json **out,
			  struct kz_err *err);

/* File a document in a Project by a pointer (shared or private), withdraw it, ask for the grant. out: decision */
enum kz_rc kz_room_file(struct kz_room *r, const char *project, const char *document,
			const char *member, bool is_shared, struct kz_json **out,
			struct kz_err *err);
enum kz_rc kz_room_withdraw(struct kz_room *r, const char *project, const char *document,
			    const char *member, struct kz_json **out, struct kz_err *err);
/* err: the grant_* reason of a denial */
enum kz_rc kz_room_grant(struct kz_room *r, const char *project, const char *document,
			 const char *reader, const char *right, struct kz_json **out,
			 struct kz_err *err);

/*
 * Begin a turn: one transaction keeps position, audience version, roster and manifest of this moment.
 * in: requested and retrieved: ids that the request named, those of a retrieval result (private chats).
 * err: member_inactive when the member is not in the room
 */
struct kz_room_ids {
	const char *const *at;
	size_t count;
};
enum kz_rc kz_room_turn(struct kz_room *r, const char *room, const char *member,
			struct kz_room_ids requested, struct kz_room_ids retrieved,
			struct kz_json **out, struct kz_err *err);
/* The scope document of a turn, with a capability that is valid for life_s seconds from now. */
enum kz_rc kz_room_scope(struct kz_room *r, const char *turn, int64_t life_s, struct kz_json **out,
			 struct kz_err *err);
/* The live audience: what kz-run --audience asks for. */
enum kz_rc kz_room_audience(struct kz_room *r, const char *room, struct kz_json **out,
			    struct kz_err *err);

/*
 * Take the outputs of a turn's run: each becomes a document of the turn's member and is linked to the room, with
 * turn, member and position; nothing else of the run is.
 * in: record: kz-run's record; dir: where its outputs lie.
 * out: what was linked or held. err: link_not_sole when the run saw a private selection and the member is not
 * alone any more: the files are then in the member's library, linked nowhere, until settled; output_missing,
 * resource_digest_mismatch when a file is not the one of the record
 */
enum kz_rc kz_room_outputs(struct kz_room *r, const char *turn, const struct kz_json *record,
			   const char *dir, struct kz_json **out, struct kz_err *err);
/* The member's decision on what is held: link it after all, or leave it in the library. */
enum kz_rc kz_room_settle(struct kz_room *r, const char *turn, bool is_accept, struct kz_json **out,
			  struct kz_err *err);

/* What happened in a room, in order: an array of objects. */
enum kz_rc kz_room_journal(struct kz_room *r, const char *room, struct kz_json **out,
			   struct kz_err *err);

#endif
