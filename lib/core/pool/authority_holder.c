/* The authority for holders: acquire, renew, release, publish, give up. */
#include <poll.h>
#include <string.h>

#include "base/str.h"
#include "core/pool/authority_call.h"
#include "rule/reason.h"

#define SLICE_MS                                                                                   \
	1000 /* asking is the sign of life; the library passes silent waiters over after two of these */

/* How long admission that is only coming up is waited for, as when kz-controller begins anew. */
#define COMING_UP KZ_SECONDS(5)
#define COMING_UP_POLL KZ_MS(100)

struct asking {
	char id[KZ_ID_HEX]; /* names the ask, so that a repeated one is the same one */
	const struct kz_lease_ask *ask;
	struct kz_lease *lease;
	bool is_first;
	int64_t left_ms;
	struct kz_deadline until, patience;
};

/* Texts that name the limit and whose it is. */
static enum kz_rc explain(const struct kz_vk_reply *r, enum kz_rc rc, struct kz_err *err)
{
	long long active = (long long)kz_vk_int(kz_vk_at(r, 1)),
		  limit = (long long)kz_vk_int(kz_vk_at(r, 2));

	if (!err || limit <= 0 || active < limit ||
	    !(kz_str_eq(err->reason, "member_limit") || kz_str_eq(err->reason, "wait_timeout")))
		return rc;
	return kz_err_wrap(
		err, "%lld of %lld leases of this actor in use (SANDBOX_MAX_CONCURRENT_PER_MEMBER)",
		active, limit);
}

static enum kz_rc ask_once(struct kz_auth *a, struct asking *q, bool *granted, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	char wait[24], ttl[24];
	const struct kz_vk_arg args[] = {
		kz_vk_text(q->id),
		kz_vk_text(q->lease->token),
		kz_vk_text(q->ask->actor),
		kz_vk_text(q->ask->conversation),
		kz_vk_text(q->ask->holder ? q->ask->holder : ""),
		kz_vk_num(wait, kz_deadline_left(q->until).ms),
		kz_vk_num(ttl, q->ask->ttl.ms),
		kz_vk_text(q->is_first ? "1" : "0"),
	};
	enum kz_rc rc = kz_auth_call(a, "acquire", args, sizeof(args) / sizeof(*args),
				     kz_deadline_in(KZ_AUTH_CALL), &r, err);

	if (rc)
		return r ? explain(r, rc, err) : rc;
	*granted = kz_str_eq(kz_vk_str(kz_vk_at(r, 0)), "ok");
	q->left_ms = kz_vk_int(kz_vk_at(r, 2));
	return *granted ? kz_auth_take_lease(r, q->lease, err) : KZ_OK;
}

/* Leave no ticket behind, and no lease that was granted in an answer that never came. */
static void give_back(struct kz_auth *a, const struct asking *q)
{
	const char *const args[] = { q->id, q->lease->token, q->ask->actor, q->ask->conversation,
				     NULL };

	/* Best effort: what cannot be said now is ended by the ticket's or the lease's deadline. */
	(void)kz_auth_call_text(a, "leave", args, NULL, NULL);
}

static enum kz_rc wait_turn(struct kz_auth *a, struct asking *q, struct kz_err *err)
{
	char key[64];
	bool taken, other;
	int64_t slice = q->left_ms < SLICE_MS ? q->left_ms + 1 : SLICE_MS;
	enum kz_rc rc = kz_str_format(key, sizeof(key), err, "wake:%s", q->id);

	if (!rc)
		rc = kz_auth_pop(a, key, KZ_MS(slice), q->ask->cancel_fd, KZ_NEVER, &taken, &other,
				 err);
	if (!rc && other)
		rc = kz_refuse(err, KZ_R_CANCELLED, NULL);
	return rc;
}

/* Does a controller that begins keep admission closed, for a moment? It has no line to stand in, so it is asked again. */
static bool is_coming_up(const struct asking *q, const struct kz_err *err)
{
	return err && !kz_deadline_passed(q->patience) &&
	       (kz_str_eq(err->reason, kz_reason_code(KZ_R_NOT_RECONCILED)) ||
		kz_str_eq(err->reason, kz_reason_code(KZ_R_IMAGE_UNPUBLISHED)));
}

static enum kz_rc wait_up(struct asking *q, struct kz_err *err)
{
	struct pollfd p = { .fd = q->ask->cancel_fd, .events = POLLIN };

	q->is_first = true;
	*err = (struct kz_err)KZ_ERR_INIT;
	return poll(&p, 1, (int)COMING_UP_POLL.ms) > 0 ? kz_refuse(err, KZ_R_CANCELLED, NULL) :
							 KZ_OK;
}

static enum kz_rc check_ask(const struct kz_lease_ask *ask, struct kz_err *err)
{
	enum kz_rc rc = kz_auth_word(ask->actor, KZ_ID_HEX, "actor id", err);

	if (!rc)
		rc = kz_auth_word(ask->conversation, KZ_ID_HEX, "conversation id", err);
	if (!rc && ask->holder && ask->holder[0])
		rc = kz_auth_word(ask->holder, KZ_HOLDER_TEXT, "holder", err);
	if (!rc && (ask->ttl.ms <= 0 || ask->wait.ms < 0))
		rc = kz_refuse(err, KZ_R_MALFORMED_INPUT, "a lease needs a time to live");
	return rc;
}

enum kz_rc kz_auth_acquire(struct kz_auth *a, const struct kz_lease_ask *ask, struct kz_lease *out,
			   struct kz_err *err)
{
	struct kz_lease lease = { .fence = 0 };
	struct asking q = { .ask = ask, .lease = &lease, .is_first = true };
	bool granted = false;
	enum kz_rc rc = check_ask(ask, err);

	if (rc)
		return rc;
	q.until = kz_deadline_in(ask->wait);
	q.patience = kz_deadline_min(q.until, kz_deadline_in(COMING_UP));
	kz_random_id(q.id);
	kz_random_id(lease.token);
	(void)kz_str_copy(lease.actor, sizeof(lease.actor), ask->actor, NULL);
	(void)kz_str_copy(lease.conversation, sizeof(lease.conversation), ask->conversation, NULL);
	for (;;) {
		rc = ask_once(a, &q, &granted, err);
		if (!rc && granted) {
			*out = lease;
			return KZ_OK;
		}
		q.is_first = false;
		if (!rc)
			rc = wait_turn(a, &q, err);
		else if (is_coming_up(&q, err))
			rc = wait_up(&q, err);
		if (rc)
			break;
	}
	if (rc == KZ_E_UNAVAILABLE || (err ? kz_str_eq(err->reason, "cancelled") : true))
		give_back(a, &q);
	return rc;
}

enum kz_rc kz_auth_renew(struct kz_auth *a, struct kz_lease *l, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	const char *const args[] = { l->id, l->token, NULL };
	enum kz_rc rc = kz_auth_call_text(a, "renew", args, &r, err);

	return rc ? rc : kz_auth_take_lease(r, l, err);
}

enum kz_rc kz_auth_hand_over(struct kz_auth *a, struct kz_lease *l, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	const char *const args[] = { l->id, l->token, "1", NULL };
	enum kz_rc rc = kz_auth_call_text(a, "renew", args, &r, err);

	return rc ? rc : kz_auth_take_lease(r, l, err);
}

enum kz_rc kz_auth_lease(struct kz_auth *a, const char *id, struct kz_lease *out,
			 struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	const char *const args[] = { id, NULL };
	struct kz_lease l = { .fence = 0 };
	enum kz_rc rc = kz_auth_word(id, KZ_ID_HEX, "lease id", err);

	if (!rc)
		rc = kz_auth_call_text(a, "show", args, &r, err);
	if (!rc)
		rc = kz_auth_take_lease(r, &l, err);
	if (!rc)
		rc = kz_str_copy(l.actor, sizeof(l.actor), kz_vk_str(kz_vk_at(r, 8)), err);
	if (!rc)
		rc = kz_str_copy(l.conversation, sizeof(l.conversation), kz_vk_str(kz_vk_at(r, 9)),
				 err);
	if (!rc)
		*out = l;
	return rc;
}

enum kz_rc kz_auth_reset_begin(struct kz_auth *a, struct kz_lease *l, struct kz_ms ttl,
			       const char *holder, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	char fresh[KZ_ID_HEX], span[24];
	const char *const args[] = {
		l->id, l->token, fresh, kz_vk_num(span, ttl.ms).p, holder, NULL
	};
	enum kz_rc rc = KZ_OK;

	kz_random_id(fresh);
	if (*holder)
		rc = kz_auth_word(holder, KZ_HOLDER_TEXT, "holder", err);
	if (!rc)
		rc = kz_auth_call_text(a, "release", args, &r, err);
	if (!rc)
		rc = kz_str_copy(l->token, sizeof(l->token), kz_vk_str(kz_vk_at(r, 1)), err);
	if (!rc)
		rc = kz_str_copy(l->worker, sizeof(l->worker), kz_vk_str(kz_vk_at(r, 3)), err);
	if (!rc)
		l->expires_ms = kz_vk_int(kz_vk_at(r, 2));
	return rc;
}

enum kz_rc kz_auth_released(struct kz_auth *a, const char *id, const char *token, bool *is_over,
			    bool *is_clean, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	const char *const args[] = { id, token, NULL };
	enum kz_rc rc = kz_auth_word(id, KZ_ID_HEX, "lease id", err);

	if (!rc)
		rc = kz_auth_word(token, KZ_ID_HEX, "token", err);
	if (!rc)
		rc = kz_auth_call_text(a, "released", args, &r, err);
	if (rc)
		return rc;
	*is_over = !kz_str_eq(kz_vk_str(kz_vk_at(r, 1)), "resetting");
	*is_clean = kz_str_eq(kz_vk_str(kz_vk_at(r, 1)), "clean");
	return KZ_OK;
}

enum kz_rc kz_auth_publish(struct kz_auth *a, const struct kz_lease *l, struct kz_err *err)
{
	const char *const args[] = { l->id, l->token, NULL };

	return kz_auth_call_text(a, "publish", args, NULL, err);
}

static enum kz_rc give_up(struct kz_auth *a, const struct kz_lease *l, const char *event,
			  const char *cause, struct kz_err *err)
{
	const char *const args[] = { l->id, l->token, event, cause ? cause : "", NULL };
	enum kz_rc rc = cause && *cause ? kz_auth_word(cause, 40, "cause", err) : KZ_OK;

	return rc ? rc : kz_auth_call_text(a, "give_up", args, NULL, err);
}

enum kz_rc kz_auth_retire(struct kz_auth *a, const struct kz_lease *l, bool quarantine,
			  const char *cause, struct kz_err *err)
{
	return give_up(a, l, quarantine ? "quarantine" : "reset_failed", cause, err);
}

enum kz_rc kz_auth_abandon(struct kz_auth *a, const struct kz_lease *l, const char *cause,
			   struct kz_err *err)
{
	return give_up(a, l, "abandon", cause, err);
}
