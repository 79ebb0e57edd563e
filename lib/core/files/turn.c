/* Scope documents and live audiences from text. */
#include "core/files/turn.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/files/turn_parts.h"

#define VERSION_MOST 128
#define CAPABILITY_MOST 4096

enum kz_rc kz_turn_digest(const struct kz_json *j, char out[KZ_SHA256_HEX], struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(2 * KZ_TURN_MAX);
	enum kz_rc rc = kz_json_write_canonical(j, &b, err);

	if (rc == KZ_OK)
		kz_sha256_hex(b.data, b.len, out);
	return rc;
}

enum kz_rc kz_turn_document_digest(const struct kz_json *document, char out[KZ_SHA256_HEX],
				   struct kz_err *err)
{
	kz_auto_json struct kz_json *rest = kz_json_object();
	const char *key;

	for (size_t i = 0; (key = kz_json_key(document, i)); i++)
		if (!kz_str_eq(key, "capability"))
			kz_json_set(rest, key, kz_json_ref(kz_json_get(document, key)));
	return kz_turn_digest(rest, out, err);
}

static enum kz_rc malformed(struct kz_err *err, const char *what)
{
	return kz_refuse(err, KZ_R_SCOPE_MALFORMED, "the scope document: %s", what);
}

/* The fields that a capability is over [EXEC-19]. */
static enum kz_rc check_fields(const struct kz_json *o, struct kz_err *err)
{
	static const char *const fields[] = { "actor",
					      "conversation",
					      "turn",
					      "admission_position",
					      "audience_version",
					      "manifest",
					      "manifest_sha256",
					      "capability" };

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!kz_json_get(o, fields[i]))
			return kz_refuse(err, KZ_R_CAPABILITY_MISSING,
					 "the scope document has no %s", fields[i]);
	return KZ_OK;
}

static bool take_kind(const char *s, enum kz_prj_kind *out)
{
	*out = kz_str_eq(s, "room") ? KZ_PRJ_ROOM : KZ_PRJ_PRIVATE;
	return kz_str_eq(s, "room") || kz_str_eq(s, "private_attachments");
}

static enum kz_rc take_fields(struct kz_turn *t, struct kz_err *err)
{
	const struct kz_json *o = t->json;
	struct kz_prj_scope *s = &t->scope;

	if (kz_json_num(o, "v", 0) != 1 || !kz_str_eq(kz_json_str(o, "type", ""), "scope_document"))
		return malformed(err, "v is not 1, or type not scope_document");
	s->actor = kz_turn_text(o, "actor", KZ_TURN_TEXT);
	s->turn = kz_turn_text(o, "turn", KZ_TURN_TEXT);
	s->audience_version = kz_turn_text(o, "audience_version", VERSION_MOST);
	s->position = kz_json_num(o, "admission_position", -1);
	t->conversation = kz_turn_text(o, "conversation", KZ_TURN_TEXT);
	t->manifest_sha256 = kz_json_str(o, "manifest_sha256", NULL);
	t->capability = kz_turn_text(o, "capability", CAPABILITY_MOST);
	if (!s->actor || !s->turn || !s->audience_version || !t->conversation || !t->capability)
		return malformed(err,
				 "an id is no text, is empty, too long or has control characters");
	if (s->position < 0 || s->position > KZ_TURN_POSITION_MOST)
		return malformed(err, "admission_position is not a position");
	if (!kz_turn_is_digest(t->manifest_sha256))
		return malformed(err, "manifest_sha256 is not a digest");
	if (!take_kind(kz_json_str(o, "kind", ""), &s->kind))
		return malformed(err, "kind is neither private_attachments nor room");
	return KZ_OK;
}

static enum kz_rc take_lists(struct kz_turn *t, struct kz_err *err)
{
	const struct kz_json *o = t->json;
	struct kz_prj_scope *s = &t->scope;
	struct kz_prj_links links = { NULL, 0 };
	bool ok = kz_turn_links(kz_json_get(o, "links"), &links);

	free((void *)(uintptr_t)links.at); /* what counts is how they are now */
	if (!ok)
		return malformed(err, "links");
	if (!kz_json_get(o, "roster") ||
	    !kz_turn_ids(kz_json_get(o, "roster"), KZ_TURN_ROSTER, &s->roster))
		return malformed(err, "roster");
	if (!kz_turn_ids(kz_json_get(o, "requested"), KZ_TURN_DOCS, &s->requested))
		return malformed(err, "requested");
	if (!kz_turn_docs(kz_json_get(o, "manifest"), false, &s->manifest))
		return malformed(err, "manifest");
	if (!kz_turn_docs(kz_json_get(o, "selection"), false, &s->selection))
		return malformed(err, "selection");
	if (!kz_turn_docs(kz_json_get(o, "retrieved"), true, &s->retrieved))
		return malformed(err, "retrieved");
	if (s->kind == KZ_PRJ_ROOM && s->retrieved.count)
		return malformed(err, "retrieved documents belong to a private chat");
	if (s->kind == KZ_PRJ_PRIVATE && s->selection.count)
		return malformed(err, "a selection belongs to a room");
	return KZ_OK;
}

static enum kz_rc check_digests(struct kz_turn *t, struct kz_err *err)
{
	char sha256[KZ_SHA256_HEX];
	enum kz_rc rc = kz_turn_digest(kz_json_get(t->json, "manifest"), sha256, err);

	if (rc == KZ_OK)
		rc = kz_turn_document_digest(t->json, t->document_sha256, err);
	if (rc != KZ_OK)
		return rc == KZ_E_DATA ? malformed(err, "it is too large") : rc;
	if (!kz_str_eq(sha256, t->manifest_sha256))
		return kz_refuse(err, KZ_R_RESOURCE_MANIFEST_MISMATCH,
				 "manifest_sha256 is not the digest of the manifest");
	return KZ_OK;
}

enum kz_rc kz_turn_read(const char *p, size_t n, struct kz_turn *out, struct kz_err *err)
{
	static const char *const members[] = {
		"v",          "type",      "actor",     "conversation",    "kind",
		"turn",       "roster",    "manifest",  "manifest_sha256", "admission_position",
		"links",      "selection", "requested", "retrieved",       "audience_version",
		"capability", NULL
	};
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc;

	memset(out, 0, sizeof(*out));
	if (n > KZ_TURN_MAX)
		return malformed(err, "it is too large");
	rc = kz_json_parse(p, n, &out->json, &why);
	if (rc == KZ_OK && kz_json_is_object(out->json))
		rc = kz_json_only(out->json, members, &why);
	if (rc == KZ_OK && !kz_json_is_object(out->json))
		return malformed(err, "it is not an object");
	if (rc != KZ_OK)
		return rc == KZ_E_OS ? kz_err_set(err, rc, "memory is out") :
				       malformed(err, why.text);
	rc = check_fields(out->json, err);
	if (rc == KZ_OK)
		rc = take_fields(out, err);
	if (rc == KZ_OK)
		rc = take_lists(out, err);
	return rc == KZ_OK ? check_digests(out, err) : rc;
}

/* A list was handed out as constant and is this module's all the same. */
static void drop(const void *list)
{
	free((void *)(uintptr_t)list);
}

void kz_turn_release(struct kz_turn *t)
{
	drop(t->scope.roster.at);
	drop(t->scope.requested.at);
	drop(t->scope.manifest.at);
	drop(t->scope.selection.at);
	drop(t->scope.retrieved.at);
	kz_json_free(t->json);
	memset(t, 0, sizeof(*t));
}

/* The room as it is now without what this run linked itself, compared with what it was admitted with [PRJ-35]. */
static enum kz_rc compare_rest(const struct kz_turn *t, struct kz_live *l, struct kz_err *err)
{
	const struct kz_json *list = kz_json_get(l->json, "manifest");
	kz_auto_json struct kz_json *rest = kz_json_array();
	char sha256[KZ_SHA256_HEX];
	enum kz_rc rc;

	for (size_t i = 0; i < l->live.manifest.count; i++)
		if (!kz_prj_is_own(&t->scope, &l->live, &l->live.manifest.at[i]))
			kz_json_append(rest, kz_json_ref(kz_json_at(list, i)));
	rc = kz_turn_digest(rest, sha256, err);
	l->live.rest_matches = rc == KZ_OK && kz_str_eq(sha256, t->manifest_sha256);
	return rc == KZ_E_OS ? rc : KZ_OK;
}

static bool take_live(struct kz_live *l)
{
	static const char *const members[] = { "v",        "type",  "version", "roster",
					       "manifest", "links", NULL };
	const struct kz_json *o = l->json;

	l->live.version = kz_turn_text(o, "version", VERSION_MOST);
	l->live.has_manifest = kz_json_get(o, "manifest") != NULL;
	return kz_json_is_object(o) && !kz_json_only(o, members, NULL) &&
	       kz_json_num(o, "v", 0) == 1 && kz_str_eq(kz_json_str(o, "type", ""), "audience") &&
	       l->live.version && kz_json_get(o, "roster") &&
	       kz_turn_ids(kz_json_get(o, "roster"), KZ_TURN_ROSTER, &l->live.roster) &&
	       kz_turn_docs(kz_json_get(o, "manifest"), false, &l->live.manifest) &&
	       kz_turn_links(kz_json_get(o, "links"), &l->live.links);
}

enum kz_rc kz_live_read(const char *p, size_t n, const struct kz_turn *t, struct kz_live *out,
			struct kz_err *err)
{
	memset(out, 0, sizeof(*out));
	if (n > KZ_TURN_MAX || kz_json_parse(p, n, &out->json, NULL) || !take_live(out))
		return kz_refuse(err, KZ_R_AUDIENCE_UNAVAILABLE,
				 "the live audience is not one (docs/files.md)");
	out->live.is_known = true;
	return compare_rest(t, out, err);
}

void kz_live_release(struct kz_live *l)
{
	drop(l->live.roster.at);
	drop(l->live.manifest.at);
	drop(l->live.links.at);
	kz_json_free(l->json);
	memset(l, 0, sizeof(*l));
}
