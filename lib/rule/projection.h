/*
 * Read-only projections: which files a run may see, decided over a scope document, the
 * live audience and what the code asks for.  Two admission paths, each with its own
 * rule: a private chat is refused where a room's private selection is withheld [PRJ-32].
 * No digest is computed here: the caller compares the room's with the admitted one and
 * brings the answer.  Layer 2, pure.
 * src: PRJ-1 to PRJ-3, PRJ-11 to PRJ-43, PRJ-47, PRJ-48, INV-38, INV-40 to INV-43
 */
#ifndef KZ_RULE_PROJECTION_H
#define KZ_RULE_PROJECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rule/reason.h"

#define KZ_PRJ_FILES 20           /* at most, over the merged set [PRJ-2] */
#define KZ_PRJ_BYTES (8LL << 20)  /* likewise */
#define KZ_PRJ_NAME 128           /* of a file name given here, with the final 0 */
#define KZ_PRJ_DIR "/work/shared" /* where the code finds them */
#define KZ_PRJ_ENV_DIR "KAIZEN_SHARED_RESOURCES_DIR"
#define KZ_PRJ_ENV_MANIFEST "KAIZEN_SHARED_RESOURCES_MANIFEST"

enum kz_prj_kind { KZ_PRJ_PRIVATE, KZ_PRJ_ROOM };
enum kz_prj_state { KZ_PRJ_READY, KZ_PRJ_PROCESSING, KZ_PRJ_FAILED, KZ_PRJ_UNREADABLE };

/* One file. Strings are the caller's; NULL where the document does not tell, which a ready one always does. */
struct kz_prj_doc {
	const char *id, *kind, *version, *root, *sha256, *filename, *media_type;
	const char *turn; /* of a retrieved one: the turn it is for */
	int64_t size;
	enum kz_prj_state state;
};
struct kz_prj_docs {
	const struct kz_prj_doc *at;
	size_t count;
};
struct kz_prj_ids {
	const char *const *at;
	size_t count;
};

/* How a file came into the room. */
struct kz_prj_link {
	const char *id, *root, *version, *turn, *member;
	int64_t position;
};
struct kz_prj_links {
	const struct kz_prj_link *at;
	size_t count;
};

/* What the turn was admitted with. */
struct kz_prj_scope {
	enum kz_prj_kind kind;
	const char *actor, *turn, *audience_version;
	int64_t position;
	struct kz_prj_ids roster, requested;
	struct kz_prj_docs manifest, selection, retrieved;
};

/* What is so now. */
struct kz_prj_live {
	bool is_known;     /* it was asked and answered */
	bool has_manifest; /* it told the room's files */
	const char *version;
	struct kz_prj_ids roster;
	struct kz_prj_docs manifest;
	struct kz_prj_links links;
	bool rest_matches; /* manifest without own links has the admitted digest [PRJ-35] */
};

/* Where a selection was withheld: before dispatch, or by the bound of the merged set [PRJ-29]. */
#define KZ_PRJ_EVENT_EARLY "run_code.private_selection_withheld"
#define KZ_PRJ_EVENT_MERGED "sandbox.private_selection_withheld"

struct kz_prj_file {
	const struct kz_prj_doc *doc;
	char name[KZ_PRJ_NAME]; /* unique in the set, safe anywhere */
};

struct kz_prj_set {
	enum kz_reason reason; /* KZ_R_NONE: the files may be loaded; else the run is refused */
	/* What the reason is about, for the member: a file or an id, NULL for none. */
	const struct kz_prj_doc *about;
	const char *about_id;
	int64_t count, bytes; /* of the set that was too large, as far as it was counted */
	struct kz_prj_file files[KZ_PRJ_FILES];
	size_t file_count;
	int64_t file_bytes;
	bool has_selection;      /* some of the files are of the member's private selection */
	const char *event;       /* the selection was withheld: KZ_PRJ_EVENT_*; else NULL */
	enum kz_reason withheld; /* why */
};

/*
 * Decide.
 * in: asks: the code names one of the two variables [PRJ-27].
 * out: whole set or none; strings borrowed from s and live
 */
void kz_prj_decide(const struct kz_prj_scope *s, const struct kz_prj_live *live, bool asks,
		   struct kz_prj_set *out);
/* Is this file of the live room a link that the run of this scope made itself since its admission [PRJ-36]? */
bool kz_prj_is_own(const struct kz_prj_scope *s, const struct kz_prj_live *live,
		   const struct kz_prj_doc *d);
/* Does the code ask for files [PRJ-27]? in: code[0..n) */
bool kz_prj_asks(const char *code, size_t n);
/* A file name that is safe in any shell, terminal and file system, from what a person called it [PRJ-3]. in: UTF-8 */
void kz_prj_name(const char *filename, char out[KZ_PRJ_NAME]);

#endif
