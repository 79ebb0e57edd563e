/* Loading the library: the only file that links its text. */
#include <string.h>

#include "base/str.h"
#include "core/pool/authority_call.h"
#include "core/pool/authority_keeper.h"
#include "gen/library.h"
#include "rule/reason.h"

static bool evicts(const char *info)
{
	const char *policy = strstr(info, "maxmemory_policy:");

	/* A server that does not say is not trusted to keep what it is given. */
	return !policy || !kz_str_has_prefix(policy + strlen("maxmemory_policy:"), "noeviction");
}

static enum kz_rc check_eviction(struct kz_auth *a, struct kz_deadline until, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	const struct kz_vk_arg args[] = { kz_vk_text("INFO"), kz_vk_text("memory") };
	enum kz_rc rc = kz_vk_call(a->vk, args, 2, until, &r, err);

	if (!rc && evicts(kz_vk_str(r)))
		rc = kz_refuse(err, KZ_R_VALKEY_EVICTS, NULL);
	return rc;
}

static enum kz_rc load_text(struct kz_auth *a, struct kz_deadline until, struct kz_err *err)
{
	const struct kz_vk_arg args[] = { kz_vk_text("FUNCTION"),
					  kz_vk_text("LOAD"),
					  { kz_library_text, kz_library_size } };
	struct kz_err first = KZ_ERR_INIT;

	if (kz_auth_call(a, "now", NULL, 0, until, NULL, &first) == KZ_OK)
		return KZ_OK;
	if (!kz_str_eq(first.reason, "library_missing")) {
		if (err)
			*err = first;
		return first.rc;
	}
	/* Another controller may load it in between: then it is there, and that is all we want. */
	if (kz_vk_call(a->vk, args, 3, until, NULL, err) == KZ_OK)
		return KZ_OK;
	return kz_auth_call(a, "now", NULL, 0, until, NULL, NULL) == KZ_OK ?
		       KZ_OK :
		       (err ? err->rc : KZ_E_SOFTWARE);
}

enum kz_rc kz_auth_load(struct kz_auth **out, const char *url, const char *deployment,
			struct kz_deadline until, struct kz_err *err)
{
	kz_auto_auth struct kz_auth *a = NULL;
	enum kz_rc rc = kz_auth_connect(&a, url, deployment, until, err);

	if (!rc)
		rc = check_eviction(a, until, err);
	if (!rc)
		rc = load_text(a, until, err);
	if (!rc)
		*out = kz_take(a);
	return rc;
}

/* kz_ and twelve hexadecimal digits: a library of ours. */
static bool is_ours(const char *name)
{
	return kz_str_has_prefix(name, "kz_") && strlen(name) == 15 &&
	       strspn(name + 3, "0123456789abcdef") == 12;
}

static const char *library_name(const struct kz_vk_reply *entry)
{
	for (size_t i = 0; i + 1 < kz_vk_count(entry); i += 2)
		if (kz_str_eq(kz_vk_str(kz_vk_at(entry, i)), "library_name"))
			return kz_vk_str(kz_vk_at(entry, i + 1));
	return "";
}

/* Does any deployment serve by this library? One that cannot say is left alone. */
static bool in_use(struct kz_auth *a, const char *library, struct kz_deadline until)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	char function[32];

	if (kz_str_format(function, sizeof(function), NULL, "%s_in_use", library))
		return true;
	if (kz_vk_call(a->vk,
		       (struct kz_vk_arg[]){ kz_vk_text("FCALL"), kz_vk_text(function),
					     kz_vk_text("1"), kz_vk_text(a->tag) },
		       4, until, &r, NULL))
		return true;
	return kz_vk_int(r) != 0;
}

enum kz_rc kz_auth_prune(struct kz_auth *a, int *removed, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *list = NULL;
	struct kz_deadline until = kz_deadline_in(KZ_AUTH_CALL);
	const struct kz_vk_arg args[] = { kz_vk_text("FUNCTION"), kz_vk_text("LIST"),
					  kz_vk_text("LIBRARYNAME"), kz_vk_text("kz_*") };
	enum kz_rc rc = kz_vk_call(a->vk, args, 4, until, &list, err);

	*removed = 0;
	for (size_t i = 0; !rc && i < kz_vk_count(list); i++) {
		const char *name = library_name(kz_vk_at(list, i));

		if (!is_ours(name) || kz_str_eq(name + 3, KZ_LIBRARY_DIGEST) ||
		    in_use(a, name, until))
			continue;
		rc = kz_vk_call(a->vk,
				(struct kz_vk_arg[]){ kz_vk_text("FUNCTION"), kz_vk_text("DELETE"),
						      kz_vk_text(name) },
				3, until, NULL, err);
		*removed += rc ? 0 : 1;
	}
	return rc;
}
