/*
 * Scope documents and live audiences: what the chat application says about one turn, as
 * text that is read strictly (docs/files.md, policy/schema/scope_document.json and
 * audience.json) and handed to the rules.  Reading believes nothing: the capability does
 * (core/files/capability.h).  Layer 3.
 * src: PRJ-35, PRJ-54, EXEC-19
 */
#ifndef KZ_CORE_FILES_TURN_H
#define KZ_CORE_FILES_TURN_H

#include "base/auto.h"
#include "base/err.h"
#include "port/json.h"
#include "port/seal.h"
#include "rule/projection.h"

#define KZ_TURN_MAX (1 << 20) /* bytes of either document */
#define KZ_TURN_DOCS 1024     /* entries of a list of files, links or ids */
#define KZ_TURN_ROSTER 4096   /* members */

/* A scope document. Strings are borrowed from json. */
struct kz_turn {
	struct kz_json *json;
	struct kz_prj_scope scope;
	const char *conversation, *manifest_sha256, *capability;
	char document_sha256[KZ_SHA256_HEX]; /* of all but the capability */
};

/*
 * Read p[0..n).
 * own: kz_turn_release, also after a failure.
 * err: scope_malformed; capability_missing when one of the fields that it is over is not
 * there; resource_manifest_mismatch when manifest_sha256 is not that of the manifest. wait: never
 */
enum kz_rc kz_turn_read(const char *p, size_t n, struct kz_turn *out, struct kz_err *err);
void kz_turn_release(struct kz_turn *t);
/* A live audience. */
struct kz_live {
	struct kz_json *json;
	struct kz_prj_live live;
};
/* Read p[0..n), against the turn that asks: its own links are left out of what is compared. own: kz_live_release, also after a failure. err: audience_unavailable. wait: never */
enum kz_rc kz_live_read(const char *p, size_t n, const struct kz_turn *t, struct kz_live *out,
			struct kz_err *err);
void kz_live_release(struct kz_live *l);

/* SHA-256 of a value's canonical text: of a manifest, for who makes scope documents. err: KZ_E_OS, KZ_E_DATA over KZ_TURN_MAX bytes twice */
enum kz_rc kz_turn_digest(const struct kz_json *j, char out[KZ_SHA256_HEX], struct kz_err *err);
/* The digest of a whole document without its member "capability". err: as above */
enum kz_rc kz_turn_document_digest(const struct kz_json *document, char out[KZ_SHA256_HEX],
				   struct kz_err *err);

#endif
