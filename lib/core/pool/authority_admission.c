/* The authority for the controller: settings, image, admission, inventory. */
#include <string.h>

#include "base/str.h"
#include "core/pool/authority_call.h"
#include "core/pool/authority_keeper.h"
#include "rule/reason.h"

#define PAGE 50 /* workers told in one call */

enum kz_rc kz_auth_configure(struct kz_auth *a, const struct kz_settings *s, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	char text[400];
	const char *const args[] = { text, NULL };
	/* A driver's verb is over at its timeout; what is written down lasts a little longer. */
	const long long margin = 5000;
	enum kz_rc rc = kz_str_format(text, sizeof(text), err,
				      "%lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld",
				      (long long)s->sandbox_warm_pool_min,
				      (long long)s->sandbox_pool_target_idle,
				      (long long)s->sandbox_pool_max_allocated,
				      (long long)s->sandbox_max_concurrent_creates,
				      (long long)s->sandbox_burst_idle_ttl_seconds * 1000,
				      (long long)s->sandbox_acquire_wait_seconds * 1000,
				      (long long)s->sandbox_acquire_queue_max,
				      (long long)s->sandbox_max_concurrent_per_member,
				      (long long)s->sandbox_lease_ttl_seconds * 1000,
				      (long long)s->kz_reset_timeout_seconds * 1000 + margin,
				      (long long)s->kz_create_timeout_seconds * 1000 + margin,
				      (long long)s->kz_delete_timeout_seconds * 1000 + margin);

	if (!rc)
		rc = kz_auth_call_text(a, "configure", args, &r, err);
	if (rc && kz_vk_count(r) > 1)
		return kz_err_wrap(err, "%s", kz_vk_str(kz_vk_at(r, 1)));
	return rc;
}

enum kz_rc kz_auth_image(struct kz_auth *a, const char *identity, struct kz_err *err)
{
	const char *const args[] = { identity, NULL };
	enum kz_rc rc = kz_auth_word(identity, 96, "image identity", err);

	if (!rc && strchr(identity, '|'))
		rc = kz_refuse(err, KZ_R_MALFORMED_INPUT, "image identity holds a bar");
	return rc ? rc : kz_auth_call_text(a, "image", args, NULL, err);
}

enum kz_rc kz_auth_open_admission(struct kz_auth *a, const char *node, struct kz_ms fresh,
				  struct kz_err *err)
{
	char span[24];
	const char *const args[] = { node, kz_vk_num(span, fresh.ms).p, kz_auth_me(a), NULL };

	for (;;) {
		kz_auto_vk_reply struct kz_vk_reply *r = NULL;
		enum kz_rc rc = kz_auth_call_text(a, "open", args, &r, err);

		/* It answers so once for each page of entries that an earlier life left. */
		if (rc || !kz_str_eq(kz_vk_str(kz_vk_at(r, 1)), "again"))
			return rc;
	}
}

enum kz_rc kz_auth_close_admission(struct kz_auth *a, const char *node, const char *reason,
				   struct kz_err *err)
{
	const char *const args[] = { node, reason, kz_auth_me(a), NULL };
	enum kz_reason known;

	if (!kz_reason_find(reason, &known))
		return kz_refuse(err, KZ_R_INTERNAL, "%.40s is no reason", reason);
	return kz_auth_call_text(a, "close", args, NULL, err);
}

enum kz_rc kz_auth_now(struct kz_auth *a, int64_t *now_ms, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	enum kz_rc rc = kz_auth_call(a, "now", NULL, 0, kz_deadline_in(KZ_AUTH_CALL), &r, err);

	if (!rc)
		*now_ms = kz_vk_int(r);
	return rc;
}

/* Tell one page of what was seen. in: count <= PAGE */
static enum kz_rc tell_seen(struct kz_auth *a, const char *node, const char *taken, const char *id,
			    const struct kz_seen *seen, size_t count, struct kz_err *err)
{
	struct kz_vk_arg args[4 + PAGE * 4] = { kz_vk_text(node), kz_vk_text(taken), kz_vk_text(id),
						kz_vk_text(kz_auth_me(a)) };
	char fences[PAGE][24];

	for (size_t i = 0; i < count; i++) {
		struct kz_vk_arg *at = args + 4 + i * 4;
		enum kz_rc rc = kz_auth_word(seen[i].worker, KZ_WORKER_NAME, "worker name", err);

		if (rc)
			return rc;
		at[0] = kz_vk_text(seen[i].worker);
		at[1] = kz_vk_text(seen[i].instance);
		at[2] = kz_vk_num(fences[i], seen[i].fence);
		at[3] = kz_vk_text(seen[i].is_bound ? "1" : "0");
	}
	return kz_auth_call(a, "seen", args, 4 + count * 4, kz_deadline_in(KZ_AUTH_CALL), NULL,
			    err);
}

/* Compare every entry of the node with what was told, page by page. */
static enum kz_rc judge_unseen(struct kz_auth *a, const char *node, const char *taken,
			       const char *id, struct kz_err *err)
{
	char after[KZ_WORKER_NAME] = "";
	const char *const args[] = { node, taken, id, after, kz_auth_me(a), NULL };

	for (;;) {
		kz_auto_vk_reply struct kz_vk_reply *r = NULL;
		enum kz_rc rc = kz_auth_call_text(a, "unseen", args, &r, err);

		if (!rc)
			rc = kz_str_copy(after, sizeof(after), kz_vk_str(kz_vk_at(r, 1)), err);
		if (rc || !after[0])
			return rc;
	}
}

enum kz_rc kz_auth_inventory(struct kz_auth *a, const char *node, int64_t taken_ms,
			     const struct kz_seen *seen, size_t count, struct kz_err *err)
{
	char taken[24], id[KZ_ID_HEX];
	enum kz_rc rc = kz_auth_word(node, KZ_WORKER_NAME, "node name", err);
	size_t at = 0;

	kz_vk_num(taken, taken_ms);
	kz_random_id(id);
	do { /* once also for an empty list: the node is made known */
		size_t n = count - at < PAGE ? count - at : PAGE;

		if (!rc)
			rc = tell_seen(a, node, taken, id, seen + at, n, err);
		at += n;
	} while (!rc && at < count);
	return rc ? rc : judge_unseen(a, node, taken, id, err);
}
