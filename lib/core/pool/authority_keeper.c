/* The authority for the controller: the keeper step, outcomes, waiting for work. */
#include <string.h>

#include "base/str.h"
#include "core/pool/authority_call.h"
#include "core/pool/authority_keeper.h"
#include "rule/reason.h"

#define CREATES_A_STEP 16

static enum kz_rc take_task(const struct kz_vk_reply *r, struct kz_task *t, struct kz_err *err)
{
	const char *kind = kz_vk_str(kz_vk_at(r, 0));

	memset(t, 0, sizeof(*t));
	t->kind = kz_str_eq(kind, "create") ? KZ_TASK_CREATE :
		  kz_str_eq(kind, "delete") ? KZ_TASK_DELETE :
					      KZ_TASK_CHECK;
	if (kz_str_copy(t->worker, sizeof(t->worker), kz_vk_str(kz_vk_at(r, 1)), err) ||
	    kz_str_copy(t->instance, sizeof(t->instance), kz_vk_str(kz_vk_at(r, 2)), err) ||
	    kz_str_copy(t->token, sizeof(t->token), kz_vk_str(kz_vk_at(r, 3)), err) ||
	    kz_str_copy(t->image, sizeof(t->image), kz_vk_str(kz_vk_at(r, 4)), err) ||
	    kz_str_copy(t->holder, sizeof(t->holder), kz_vk_str(kz_vk_at(r, 5)), err))
		return kz_refuse(err, KZ_R_INTERNAL, "valkey: malformed task");
	return KZ_OK;
}

enum kz_rc kz_auth_step(struct kz_auth *a, const char *node, struct kz_task *tasks, size_t max,
			size_t *count, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	char ids[CREATES_A_STEP * 2][KZ_ID_HEX], most[24];
	struct kz_vk_arg args[3 + CREATES_A_STEP * 2] = { kz_vk_text(node),
							  kz_vk_num(most, (int64_t)max),
							  kz_vk_text(kz_auth_me(a)) };
	const struct kz_vk_reply *list;
	enum kz_rc rc;

	*count = 0;
	for (size_t i = 0; i < CREATES_A_STEP * 2; i++) {
		kz_random_id(ids[i]);
		args[3 + i] = kz_vk_text(ids[i]);
	}
	rc = kz_auth_call(a, "step", args, sizeof(args) / sizeof(*args),
			  kz_deadline_in(KZ_AUTH_CALL), &r, err);
	if (rc)
		return rc;
	list = kz_vk_at(r, 1);
	for (size_t i = 0; !rc && i < kz_vk_count(list) && i < max; i++) {
		rc = take_task(kz_vk_at(list, i), &tasks[i], err);
		*count = i + (rc ? 0 : 1);
	}
	return rc;
}

enum kz_rc kz_auth_ready(struct kz_auth *a, const char *worker, const char *token,
			 const char *instance, const char *image, struct kz_err *err)
{
	const char *const args[] = { worker, token, instance, image, NULL };

	return kz_auth_call_text(a, "ready", args, NULL, err);
}

enum kz_rc kz_auth_create_failed(struct kz_auth *a, const char *worker, const char *token,
				 struct kz_err *err)
{
	const char *const args[] = { worker, token, "create_failed", NULL };

	return kz_auth_call_text(a, "not_created", args, NULL, err);
}

enum kz_rc kz_auth_create_unknown(struct kz_auth *a, const char *worker, const char *token,
				  struct kz_err *err)
{
	const char *const args[] = { worker, token, "create_unknown", NULL };

	return kz_auth_call_text(a, "not_created", args, NULL, err);
}

enum kz_rc kz_auth_predecessor_over(struct kz_auth *a, const char *node, struct kz_err *err)
{
	const char *const args[] = { node, kz_auth_me(a), NULL };

	return kz_auth_call_text(a, "predecessor_over", args, NULL, err);
}

enum kz_rc kz_auth_absent(struct kz_auth *a, const char *worker, const char *instance,
			  struct kz_err *err)
{
	const char *const args[] = { worker, instance, NULL };

	return kz_auth_call_text(a, "absent", args, NULL, err);
}

enum kz_rc kz_auth_lost(struct kz_auth *a, const char *worker, const char *instance,
			struct kz_err *err)
{
	const char *const args[] = { worker, instance, NULL };

	return kz_auth_call_text(a, "lost", args, NULL, err);
}

enum kz_rc kz_auth_holder_gone(struct kz_auth *a, const char *lease_id, struct kz_err *err)
{
	const char *const args[] = { lease_id, NULL };

	return kz_auth_call_text(a, "holder_gone", args, NULL, err);
}

enum kz_rc kz_auth_wait_work(struct kz_auth *a, const char *node, int other_fd,
			     struct kz_deadline until, struct kz_err *err)
{
	char key[16 + KZ_WORKER_NAME];
	bool taken, other;
	enum kz_rc rc = kz_str_format(key, sizeof(key), err, "work:%s", node);

	return rc ? rc : kz_auth_pop(a, key, KZ_SECONDS(1), other_fd, until, &taken, &other, err);
}
