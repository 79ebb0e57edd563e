/* Actor and conversation: checked, defaulted, hashed. */
#include "core/run/who.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "core/conf/keys.h"
#include "rule/reason.h"

static enum kz_rc take(const char *what, const char *s, char out[KZ_WHO_MAX + 1],
		       struct kz_err *err)
{
	size_t n = strlen(s);

	if (n == 0)
		return kz_refuse(err, KZ_R_USAGE, "the %s is empty", what);
	if (n > KZ_WHO_MAX)
		return kz_refuse(err, KZ_R_USAGE, "the %s has %zu bytes, at most %d are allowed",
				 what, n, KZ_WHO_MAX);
	if (!kz_utf8_valid(s, n))
		return kz_refuse(err, KZ_R_USAGE, "the %s is not UTF-8", what);
	if (kz_str_has_control(s))
		return kz_refuse(err, KZ_R_USAGE, "the %s holds a control character", what);
	memcpy(out, s, n + 1);
	return KZ_OK;
}

static enum kz_rc calling_user(char *out, size_t size, struct kz_err *err)
{
	struct passwd pw, *found = NULL;
	char buf[4096];

	if (getpwuid_r(getuid(), &pw, buf, sizeof(buf), &found) == 0 && found && *found->pw_name)
		return kz_str_copy(out, size, found->pw_name, err);
	return kz_str_format(out, size, err, "uid-%u", (unsigned)getuid());
}

enum kz_rc kz_who_set(struct kz_who *w, const char *actor, const char *conversation,
		      struct kz_err *err)
{
	char user[KZ_WHO_MAX + 1], own[KZ_ID_HEX + 4];
	enum kz_rc rc;

	if (!actor) {
		rc = calling_user(user, sizeof(user), err);
		if (rc)
			return rc;
		actor = user;
	}
	if (!conversation) {
		memcpy(own, "run-", 4);
		kz_random_id(own + 4);
		conversation = own;
	}
	rc = take("actor", actor, w->actor, err);
	return rc ? rc : take("conversation", conversation, w->conversation, err);
}

enum kz_rc kz_who_hash(struct kz_who *w, const char *state, struct kz_err *err)
{
	struct kz_secret key = { 0 };
	enum kz_rc rc = kz_keys_read(state, KZ_KEY_IDENTITY, &key, err);

	if (rc)
		return rc;
	kz_actor_id(&key, w->actor, w->actor_id);
	kz_conversation_id(&key, w->actor, w->conversation, w->conversation_id);
	kz_secret_release(&key);
	return KZ_OK;
}

void kz_who_tell(const struct kz_who *w, struct kz_err *err)
{
	static const char what[] = "leases of this actor";
	const char *at = strstr(err->text, what);
	struct kz_err old = *err;

	if (!at)
		return;
	kz_err_set(err, old.rc, "%.*sleases of actor %s%s", (int)(at - err->text), old.text,
		   w->actor, old.text + (at - err->text) + strlen(what));
	memcpy(err->reason, old.reason, sizeof(err->reason));
}
