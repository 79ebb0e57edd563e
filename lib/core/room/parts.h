/* What the parts of core/room share. Nobody else includes it. */
#ifndef KZ_CORE_ROOM_PARTS_H
#define KZ_CORE_ROOM_PARTS_H

#include "core/room/room.h"
#include "port/db.h"
#include "port/seal.h"

struct kz_room {
	struct kz_db *db;
	char path[4000];
	struct kz_secret key;
	int docs_fd;
};

/* A statement with its parameters. in: kinds: one letter a parameter, s (const char *) or i (int64_t). own: new */
enum kz_rc kz_room_ask(struct kz_room *r, struct kz_stmt **out, struct kz_err *err, const char *sql,
		       const char *kinds, ...);
/* The same to its end, for its effect. */
enum kz_rc kz_room_do(struct kz_room *r, struct kz_err *err, const char *sql, const char *kinds,
		      ...);
/* Is there a row? err: input_missing "WHAT NAME" when there is none; for queries with one parameter, which is name */
enum kz_rc kz_room_need(struct kz_room *r, const char *sql, const char *what, const char *name,
			struct kz_err *err);
/* Begin a change; end it: kept when rc is KZ_OK, undone else. returns rc, or the failure of keeping */
enum kz_rc kz_room_begin(struct kz_room *r, struct kz_err *err);
enum kz_rc kz_room_end(struct kz_room *r, enum kz_rc rc, struct kz_err *err);
/* One entry of the journal. in: NULLs are fine. out: its position */
enum kz_rc kz_room_note(struct kz_room *r, const char *room, const char *member, const char *what,
			const char *about, const char *turn, int64_t *position, struct kz_err *err);
/* The audience of a room, or of all rooms of a Project, is another one now. */
enum kz_rc kz_room_moved(struct kz_room *r, const char *room, const char *project,
			 struct kz_err *err);
/* A name that a person gives: 1 to 255 bytes of UTF-8 without control characters. err: malformed_input */
enum kz_rc kz_room_name(const char *what, const char *name, struct kz_err *err);
/* {"v":1,"type":TYPE}. own: new */
struct kz_json *kz_room_object(const char *type);

/* Members who can see a room now, through its Project too. own: new array */
enum kz_rc kz_room_roster(struct kz_room *r, const char *room, struct kz_json **out,
			  struct kz_err *err);
/* The files of a room now, and how they came. own: new arrays */
enum kz_rc kz_room_files(struct kz_room *r, const char *room, struct kz_json **manifest,
			 struct kz_json **links, struct kz_err *err);
/* One document as an entry of a scope document, seen by member: one that is not its own, or is not, is told by its id alone. */
enum kz_rc kz_room_entry(struct kz_room *r, const char *document, const char *member,
			 struct kz_json **out, struct kz_err *err);
/* Store a document, in a change that is under way. in: u; sha256 and size of bytes that are in DB.docs. out: its id */
struct kz_room_bytes {
	char sha256[KZ_SHA256_HEX];
	int64_t size;
	bool is_derived; /* computed by a run that saw a private selection [PRJ-53] */
};
enum kz_rc kz_room_add(struct kz_room *r, const struct kz_room_upload *u,
		       const struct kz_room_bytes *bytes, char id[64], struct kz_err *err);
/* Copy a file into DB.docs under its digest. */
enum kz_rc kz_room_take(struct kz_room *r, int dir, const char *file, struct kz_room_bytes *out,
			struct kz_err *err);
/* Link a document, in a change that is under way. in: turn NULL: outside of a run */
enum kz_rc kz_room_put_link(struct kz_room *r, const char *room, const char *document,
			    const char *member, const char *turn, struct kz_err *err);

#endif
