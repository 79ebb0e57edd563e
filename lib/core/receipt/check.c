/* Checking a receipt: whose it is, that it is whole, that it has the known form. */
#include <string.h>

#include "base/str.h"
#include "core/receipt/keys.h"
#include "port/json.h"
#include "rule/reason.h"

#define FOOTER_MAX 256

/* What a member holds. */
enum kind { INT, FLAG, DIGEST, ID, TEXT, TEXTS, FILES, OBJECT };

struct member {
	const char *name;
	enum kind kind;
	bool is_optional; /* null is fine */
	const struct member *in;
};

static const struct member code[] = { { "sha256", DIGEST, false, NULL },
				      { "language", TEXT, false, NULL },
				      { "arguments_sha256", DIGEST, true, NULL },
				      { NULL, INT, false, NULL } };
static const struct member posture[] = { { "sha256", DIGEST, true, NULL },
					 { "kernel", TEXT, true, NULL },
					 { "single_use", FLAG, true, NULL },
					 { NULL, INT, false, NULL } };
static const struct member egress[] = { { "mode", TEXT, true, NULL },
					{ "reason", TEXT, true, NULL },
					{ "execution", ID, true, NULL },
					{ "revision", DIGEST, true, NULL },
					{ "approval_sha256", DIGEST, true, NULL },
					{ NULL, INT, false, NULL } };
static const struct member lease[] = { { "id", ID, false, NULL },
				       { "fence", INT, false, NULL },
				       { "runs_before", INT, false, NULL },
				       { NULL, INT, false, NULL } };
static const struct member limits[] = { { "wall_ms", INT, false, NULL },
					{ "memory_bytes", INT, false, NULL },
					{ "pids", INT, true, NULL },
					{ "disk_bytes", INT, true, NULL },
					{ "inodes", INT, true, NULL },
					{ "cpus", INT, true, NULL },
					{ "open_files", INT, true, NULL },
					{ "output_bytes", INT, false, NULL },
					{ "artifact_bytes", INT, true, NULL },
					{ "sha256", DIGEST, false, NULL },
					{ NULL, INT, false, NULL } };
static const struct member files[] = { { "count", INT, false, NULL },
				       { "bytes", INT, false, NULL },
				       { "sha256", DIGEST, false, NULL },
				       { "files", FILES, true, NULL },
				       { NULL, INT, false, NULL } };
static const struct member given[] = { { "bytes", INT, true, NULL },
				       { "sha256", DIGEST, true, NULL },
				       { NULL, INT, false, NULL } };
static const struct member stream[] = { { "seen_bytes", INT, true, NULL },
					{ "kept_bytes", INT, true, NULL },
					{ "sha256", DIGEST, true, NULL },
					{ NULL, INT, false, NULL } };
static const struct member result[] = {
	{ "outcome", TEXT, false, NULL },     { "cause", TEXT, true, NULL },
	{ "reason", TEXT, true, NULL },       { "exit", INT, true, NULL },
	{ "signal", INT, true, NULL },        { "wall_ms", INT, true, NULL },
	{ "cpu_ms", INT, true, NULL },        { "peak_bytes", INT, true, NULL },
	{ "limits_hit", TEXTS, false, NULL }, { "stdout", OBJECT, false, stream },
	{ "stderr", OBJECT, false, stream },  { NULL, INT, false, NULL }
};
static const struct member reset[] = { { "state", TEXT, false, NULL },
				       { "sha256", DIGEST, true, NULL },
				       { NULL, INT, false, NULL } };
static const struct member row[] = { { "id", INT, false, NULL },
				     { "hash", DIGEST, false, NULL },
				     { NULL, INT, false, NULL } };
static const struct member audit[] = { { "dispatch", OBJECT, false, row },
				       { "record", OBJECT, false, row },
				       { "evidence", OBJECT, true, row },
				       { NULL, INT, false, NULL } };
static const struct member receipt[] = { { "v", INT, false, NULL },
					 { "iss", TEXT, false, NULL },
					 { "iat", TEXT, false, NULL },
					 { "deployment", TEXT, false, NULL },
					 { "run", ID, false, NULL },
					 { "actor", ID, false, NULL },
					 { "conversation", ID, false, NULL },
					 { "worker", TEXT, false, NULL },
					 { "lease", OBJECT, false, lease },
					 { "dispatched_ms", INT, false, NULL },
					 { "ended_ms", INT, false, NULL },
					 { "code", OBJECT, false, code },
					 { "image", TEXT, true, NULL },
					 { "env_count", INT, true, NULL },
					 { "posture", OBJECT, false, posture },
					 { "egress", OBJECT, false, egress },
					 { "stdin", OBJECT, false, given },
					 { "limits", OBJECT, false, limits },
					 { "inputs", OBJECT, true, files },
					 { "result", OBJECT, false, result },
					 { "outputs", OBJECT, false, files },
					 { "reset", OBJECT, false, reset },
					 { "audit", OBJECT, false, audit },
					 { NULL, INT, false, NULL } };

static bool is_hex(const struct kz_json *v, size_t n)
{
	const char *s = kz_json_is_string(v) ? kz_json_str_value(v) : "";

	return strlen(s) == n && strspn(s, "0123456789abcdef") == n;
}

static bool is_text(const struct kz_json *v)
{
	const char *s = kz_json_is_string(v) ? kz_json_str_value(v) : "";

	return *s && !kz_str_has_control(s);
}

static bool is_file(const struct kz_json *v)
{
	return kz_json_count(v) == 3 && kz_json_num(v, "bytes", -1) >= 0 &&
	       is_hex(kz_json_get(v, "name_sha256"), 64) && is_hex(kz_json_get(v, "sha256"), 64);
}

static bool is_list(const struct kz_json *v, bool (*is_one)(const struct kz_json *v))
{
	if (!kz_json_is_array(v))
		return false;
	for (size_t i = 0; i < kz_json_count(v); i++)
		if (!is_one(kz_json_at(v, i)))
			return false;
	return true;
}

static bool fits(const struct kz_json *v, const struct member *m)
{
	if (kz_json_is_null(v))
		return m->is_optional;
	switch (m->kind) {
	case INT: return kz_json_is_int(v) && kz_json_int_value(v) >= 0;
	case FLAG: return kz_json_is_bool(v);
	case DIGEST: return is_hex(v, 64);
	case ID: return is_hex(v, 32);
	case TEXT: return is_text(v);
	case TEXTS: return is_list(v, is_text);
	case FILES: return is_list(v, is_file);
	case OBJECT: return kz_json_is_object(v);
	}
	return false;
}

/* Every member, and no other. */
static enum kz_rc check_form(const struct kz_json *o, const struct member *m, struct kz_err *err)
{
	size_t count = 0;

	for (; m->name; m++, count++) {
		const struct kz_json *v = kz_json_get(o, m->name);

		if (!v || !fits(v, m))
			return kz_refuse(err, KZ_R_RECEIPT_INVALID,
					 "claim %s is missing or of another form", m->name);
		if (m->in && kz_json_is_object(v) && check_form(v, m->in, err) != KZ_OK)
			return err ? err->rc : KZ_E_NO;
	}
	if (kz_json_count(o) != count)
		return kz_refuse(err, KZ_R_RECEIPT_INVALID,
				 "it has claims that this version does not know");
	return KZ_OK;
}

static enum kz_rc find_key(const struct kz_receipt_keys *keys, const char *p, size_t n,
			   char kid[64], const struct kz_public **key, struct kz_err *err)
{
	kz_auto_buf struct kz_buf footer = KZ_BUF_INIT(FOOTER_MAX);
	kz_auto_json struct kz_json *o = NULL;

	if (kz_token_footer(p, n, &footer, NULL) != KZ_OK ||
	    kz_json_parse(kz_buf_str(&footer), footer.len, &o, NULL) != KZ_OK ||
	    kz_json_count(o) != 1 ||
	    kz_str_copy(kid, 64, kz_json_str(o, "kid", ""), NULL) != KZ_OK || !*kid)
		return kz_refuse(err, KZ_R_RECEIPT_INVALID,
				 "it is not a v4.public token that names its key");
	*key = kz_receipt_key_find(keys, kid);
	if (!*key)
		return kz_refuse(err, KZ_R_RECEIPT_INVALID,
				 "it is signed with %s, which is none of the keys given", kid);
	return KZ_OK;
}

enum kz_rc kz_receipt_check(const struct kz_receipt_keys *keys, const char *p, size_t n,
			    char kid[64], struct kz_json **claims, struct kz_err *err)
{
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_RECEIPT_MAX);
	kz_auto_json struct kz_json *o = NULL;
	const struct kz_public *key = NULL;
	enum kz_rc rc;

	if (n > KZ_RECEIPT_MAX)
		return kz_refuse(err, KZ_R_RECEIPT_INVALID, "it is longer than a receipt can be");
	rc = find_key(keys, p, n, kid, &key, err);
	if (rc != KZ_OK)
		return rc;
	rc = kz_token_verify(key, KZ_RECEIPT_ASSERTION, p, n, &payload, NULL);
	if (rc == KZ_E_OS)
		return kz_err_set(err, rc, "memory is out");
	if (rc != KZ_OK)
		return kz_refuse(err, KZ_R_RECEIPT_INVALID,
				 "its signature is not that of %s over a receipt", kid);
	if (kz_json_parse(kz_buf_str(&payload), payload.len, &o, NULL) != KZ_OK ||
	    kz_json_num(o, "v", 0) != 1 || !kz_str_eq(kz_json_str(o, "iss", ""), "kz"))
		return kz_refuse(err, KZ_R_RECEIPT_INVALID,
				 "it is no receipt of a version that is known here");
	rc = check_form(o, receipt, err);
	if (rc == KZ_OK)
		*claims = kz_take(o);
	return rc;
}
