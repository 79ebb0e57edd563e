/*
 * A projection from a scope document to sealed files: verify, resolve, stage.  In this
 * order, each once; nothing of a file is read before the decision, and the live audience
 * is asked directly before it.  Layer 3.
 * src: PRJ-1 to PRJ-10, PRJ-23, PRJ-46 to PRJ-55, INV-38, INV-40, INV-41
 */
#ifndef KZ_CORE_FILES_PROJECTION_H
#define KZ_CORE_FILES_PROJECTION_H

#include "core/files/capability.h"
#include "core/files/turn.h"

struct kz_projection {
	struct kz_turn turn;
	struct kz_capability capability;
	struct kz_live live;
	struct kz_prj_set set;
	int fds[KZ_PRJ_FILES]; /* sealed, at offset 0; in the order of set.files */
	size_t fd_count;
	struct kz_buf manifest;     /* what code gets to read: JSON text; empty without a file */
	char sha256[KZ_SHA256_HEX]; /* of that text */
	bool is_resolved;
};

/*
 * Read a document and verify its capability.
 * in: p[0..n); now_s: Unix time. own: kz_projection_release, also after a failure.
 * err: as kz_turn_read and kz_capability_verify
 */
enum kz_rc kz_projection_read(const char *p, size_t n, const struct kz_app_keys *keys,
			      int64_t now_s, struct kz_projection *out, struct kz_err *err);
void kz_projection_release(struct kz_projection *p);

/* Does the document name any file at all, so that a directory of documents is needed? */
bool kz_projection_has_files(const struct kz_projection *p);
/*
 * Ask for the live audience and decide.
 * in: audience: a checked source, NULL for none; asks: kz_prj_asks of the code.
 * out: p->set, and manifest with paths below dir.
 * err: audience_unavailable, and every reason of the rule, with the words for the member:
 * the file and the limit are named [PRJ-47]; they go to nobody else [AUD-4].
 */
enum kz_rc kz_projection_resolve(struct kz_projection *p, const char *audience, bool asks,
				 const char *dir, struct kz_err *err);
/*
 * Open, copy and hash each file of the set in one pass, out of a directory of files named
 * by their digests, into memory files that nobody can change any more [PRJ-55].
 * in: documents: that directory. out: p->fds, all or none
 * err: resource_unavailable (not there, not a file), resource_digest_mismatch (size or digest), projection_failed
 */
enum kz_rc kz_projection_stage(struct kz_projection *p, const char *documents, struct kz_err *err);

/* The decision as an object of type "projection" (policy/schema). in: err: the refusal, or one of code KZ_OK. out: new */
struct kz_json *kz_projection_object(const struct kz_projection *p, const struct kz_err *err);

#endif
