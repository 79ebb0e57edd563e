/* The authority: connection, and the call that all others go through. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/pool/authority_call.h"
#include "gen/library.h"
#include "rule/reason.h"

#define ARGS_MOST 250

enum kz_rc kz_auth_word(const char *s, size_t size, const char *what, struct kz_err *err)
{
	size_t n = s ? strlen(s) : 0;

	if (n == 0 || n >= size || strpbrk(s, " ") || kz_str_has_control(s))
		return kz_refuse(err, KZ_R_MALFORMED_INPUT,
				 "%s is empty, too long or holds a blank", what);
	return KZ_OK;
}

const char *kz_auth_me(const struct kz_auth *a)
{
	return a->owner[0] ? a->owner : "-";
}

static enum kz_rc make_tag(struct kz_auth *a, const char *deployment, struct kz_err *err)
{
	int db = kz_vk_db(a->vk);

	/* Functions cannot see the database number, and databases must not share an admission. */
	if (db)
		return kz_str_format(a->tag, sizeof(a->tag), err, "{kz:%s/%d}", deployment, db);
	return kz_str_format(a->tag, sizeof(a->tag), err, "{kz:%s}", deployment);
}

enum kz_rc kz_auth_connect(struct kz_auth **out, const char *url, const char *deployment,
			   struct kz_deadline until, struct kz_err *err)
{
	kz_auto_auth struct kz_auth *a = calloc(1, sizeof(*a));
	enum kz_rc rc;

	if (!a)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	if (!kz_str_is_name(deployment) || strlen(deployment) > 40)
		return kz_refuse(err, KZ_R_SETTING_INVALID,
				 "KZ_DEPLOYMENT_ID is not a name of at most 40 bytes");
	rc = kz_str_copy(a->url, sizeof(a->url), url, err);
	if (!rc)
		rc = kz_vk_open(&a->vk, url, until, err);
	if (!rc)
		rc = make_tag(a, deployment, err);
	if (!rc)
		*out = kz_take(a);
	return rc;
}

enum kz_rc kz_auth_open(struct kz_auth **out, const char *url, const char *deployment,
			struct kz_deadline until, struct kz_err *err)
{
	kz_auto_auth struct kz_auth *a = NULL;
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	enum kz_rc rc = kz_auth_connect(&a, url, deployment, until, err);

	if (!rc)
		rc = kz_auth_call(a, "now", NULL, 0, until, &r, err);
	if (!rc)
		*out = kz_take(a);
	return rc;
}

void kz_auth_close(struct kz_auth *a)
{
	if (!a)
		return;
	kz_vk_close(a->vk);
	kz_vk_close(a->waits);
	memset(a->url, 0, sizeof(a->url)); /* may hold a password */
	free(a);
}

/* An answer is a number, or an array that begins with ok, wait or a reason. */
static enum kz_rc refusal_of(const struct kz_vk_reply *r, struct kz_err *err)
{
	const char *word = kz_vk_str(kz_vk_at(r, 0));
	enum kz_reason reason;

	if (!kz_vk_count(r) || kz_str_eq(word, "ok") || kz_str_eq(word, "wait"))
		return KZ_OK;
	if (!kz_reason_find(word, &reason))
		return kz_refuse(err, KZ_R_INTERNAL, "valkey: unknown answer %.40s", word);
	return kz_refuse(err, reason, NULL);
}

enum kz_rc kz_auth_call(struct kz_auth *a, const char *function, const struct kz_vk_arg *args,
			size_t count, struct kz_deadline until, struct kz_vk_reply **reply,
			struct kz_err *err)
{
	struct kz_vk_arg all[ARGS_MOST + 4] = {
		kz_vk_text("FCALL"), { 0 }, kz_vk_text("1"), kz_vk_text(a->tag)
	};
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	char name[64];
	enum kz_rc rc;

	if (count > ARGS_MOST)
		return kz_refuse(err, KZ_R_INTERNAL, "too many arguments for %s", function);
	rc = kz_str_format(name, sizeof(name), err, "kz_%s_%s", KZ_LIBRARY_DIGEST, function);
	if (rc)
		return rc;
	all[1] = kz_vk_text(name);
	if (count)
		memcpy(all + 4, args, count * sizeof(*args));
	rc = kz_vk_call(a->vk, all, count + 4, until, &r, err);
	if (!rc)
		rc = refusal_of(r, err);
	else if (rc == KZ_E_PROTOCOL && err && kz_str_eq(err->reason, "library_missing"))
		kz_err_wrap(err, "the running kz is of another version: kz down, then kz up");
	if (reply)
		*reply = kz_take(r);
	return rc;
}

enum kz_rc kz_auth_call_text(struct kz_auth *a, const char *function, const char *const *args,
			     struct kz_vk_reply **reply, struct kz_err *err)
{
	struct kz_vk_arg list[16];
	size_t n = 0;

	for (; args[n]; n++) {
		if (n == sizeof(list) / sizeof(*list))
			return kz_refuse(err, KZ_R_INTERNAL, "too many arguments for %s", function);
		list[n] = kz_vk_text(args[n]);
	}
	return kz_auth_call(a, function, list, n, kz_deadline_in(KZ_AUTH_CALL), reply, err);
}

enum kz_rc kz_auth_pop(struct kz_auth *a, const char *key, struct kz_ms slice, int other_fd,
		       struct kz_deadline until, bool *taken, bool *other, struct kz_err *err)
{
	char full[192];
	enum kz_rc rc = kz_str_format(full, sizeof(full), err, "%s:%s", a->tag, key);

	*taken = *other = false;
	if (!rc && !a->waits)
		rc = kz_vk_open(&a->waits, a->url, kz_deadline_in(KZ_AUTH_CALL), err);
	if (!rc)
		rc = kz_vk_pop(a->waits, full, slice, other_fd, until, taken, other, err);
	return rc;
}

enum kz_rc kz_auth_take_lease(const struct kz_vk_reply *r, struct kz_lease *l, struct kz_err *err)
{
	if (kz_vk_count(r) < 8 ||
	    kz_str_copy(l->worker, sizeof(l->worker), kz_vk_str(kz_vk_at(r, 1)), err) ||
	    kz_str_copy(l->instance, sizeof(l->instance), kz_vk_str(kz_vk_at(r, 2)), err) ||
	    kz_str_copy(l->node, sizeof(l->node), kz_vk_str(kz_vk_at(r, 3)), err) ||
	    kz_str_copy(l->id, sizeof(l->id), kz_vk_str(kz_vk_at(r, 7)), err))
		return kz_refuse(err, KZ_R_INTERNAL, "valkey: malformed lease");
	l->fence = kz_vk_int(kz_vk_at(r, 4));
	l->expires_ms = kz_vk_int(kz_vk_at(r, 5));
	l->ttl_ms = kz_vk_int(kz_vk_at(r, 6));
	return KZ_OK;
}
