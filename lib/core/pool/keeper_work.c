/* What to do next, and what came of it. */
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/str.h"
#include "core/pool/keeper_parts.h"

#define TASKS 64

/* A driver's own reason, when it is one of ours. */
static void driver_error(const struct kz_json *reply, struct kz_err *err)
{
	enum kz_reason r;

	if (!kz_reason_find(kz_json_str(reply, "reason", ""), &r))
		r = KZ_R_DRIVER_FAILED;
	kz_refuse(err, r, "%.300s", kz_json_str(reply, "text", kz_reason_text(r)));
}

/*
 * Workers see the image's files as they are now: what is not as published is not served from [IMG-11],
 * and nothing is from an image that is not for this machine [IMG-3].
 */
static bool is_image_lost(struct kz_keeper *k, const struct kz_json *reply)
{
	const char *reason = kz_json_str(reply, "reason", "");

	if (!kz_str_eq(reason, kz_reason_code(KZ_R_IMAGE_INVALID)) &&
	    !kz_str_eq(reason, kz_reason_code(KZ_R_IMAGE_ARCHITECTURE)))
		return false;
	driver_error(reply, &k->bad_image);
	k->image[0] = '\0';
	k->is_published = false;
	return true;
}

static void probed(struct kz_keeper *k, const struct kz_json *reply)
{
	kz_json_free(k->probe);
	k->probe = NULL;
	k->next_driver = kz_deadline_in(KZ_SECONDS(2));
	if (!kz_json_flag(reply, "ok", false)) {
		if (!is_image_lost(k, reply))
			driver_error(reply, &k->bad_driver);
		return;
	}
	k->probe = kz_json_ref(kz_json_get(reply, "v") ? (struct kz_json *)(uintptr_t)reply : NULL);
	k->bad_driver = (struct kz_err)KZ_ERR_INIT;
	k->has_said = false; /* the posture is part of what is told */
}

static void identified(struct kz_keeper *k, const struct kz_json *reply)
{
	const char *identity = kz_json_str(reply, "identity", "");

	bool is_ok = kz_json_flag(reply, "ok", false);

	/* Otherwise the published one stays good: what is made from another is refused by its identity. */
	if (!is_ok && !is_image_lost(k, reply) && !k->image[0])
		driver_error(reply, &k->bad_driver);
	k->next_image = kz_deadline_in(KZ_SECONDS(k->image[0] ? 60 : 2));
	if (!is_ok)
		return;
	k->bad_image = (struct kz_err)KZ_ERR_INIT;
	if (kz_str_eq(identity, k->image))
		return;
	if (kz_str_copy(k->image, sizeof(k->image), identity, NULL) != KZ_OK || !identity[0]) {
		kz_refuse(&k->bad_driver, KZ_R_DRIVER_PROTOCOL,
			  "the driver's image identity is malformed");
		return;
	}
	k->next_image = kz_deadline_in(KZ_SECONDS(60));
	k->is_published = false;
	k->has_said = false;
}

/* An outcome that Valkey does not take any more: somebody else has settled it. */
static bool is_settled(const struct kz_err *err)
{
	return kz_str_eq(err->reason, "token_superseded") ||
	       kz_str_eq(err->reason, "create_unsettled") ||
	       kz_str_eq(err->reason, "image_mismatch");
}

static void told(struct kz_keeper *k, const struct kz_task *t, const char *what, enum kz_rc rc,
		 const struct kz_err *err)
{
	if (rc == KZ_OK) {
		kz_log(KZ_LOG_INFO, what, "worker", t->worker, NULL);
		return;
	}
	kz_log(KZ_LOG_WARNING, what, "worker", t->worker, "refused", err->reason, NULL);
	if (!is_settled(err))
		kz_keeper_fault(k, err);
}

static void created(struct kz_keeper *k, const struct kz_task *t, const struct kz_json *reply,
		    enum kz_answer answer)
{
	struct kz_err err = KZ_ERR_INIT;
	enum kz_rc rc;

	if (!k->auth)
		return; /* its deadline or the next inventory settles it */
	switch (answer) {
	case KZ_ANSWER_PRESENT:
		/* Valkey compares name, instance and image with what it asked for [POOL-16]. */
		rc = kz_auth_ready(k->auth, t->worker, t->token, kz_json_str(reply, "instance", ""),
				   kz_json_str(reply, "image", ""), &err);
		told(k, t, "worker ready", rc, &err);
		/* A driver that answers with another instance: nobody knows what is there. */
		if (rc != KZ_OK && k->auth && kz_str_eq(err.reason, "token_superseded") &&
		    !kz_str_eq(kz_json_str(reply, "instance", ""), t->instance))
			told(k, t, "create unknown",
			     kz_auth_create_unknown(k->auth, t->worker, t->token, &err), &err);
		return;
	case KZ_ANSWER_ABSENT:
		rc = kz_auth_create_failed(k->auth, t->worker, t->token, &err);
		told(k, t, "create failed", rc, &err);
		return;
	case KZ_ANSWER_UNKNOWN:
		rc = kz_auth_create_unknown(k->auth, t->worker, t->token, &err);
		told(k, t, "create unknown", rc, &err);
		return;
	}
}

static void deleted(struct kz_keeper *k, const struct kz_task *t, enum kz_answer answer)
{
	struct kz_err err = KZ_ERR_INIT;

	if (answer != KZ_ANSWER_ABSENT)
		return;
	if (k->gone_count < KZ_GONE_MOST) {
		struct kz_gone *g = &k->gone[k->gone_count];

		kz_str_copy(g->worker, sizeof(g->worker), t->worker, NULL);
		kz_str_copy(g->instance, sizeof(g->instance), t->instance, NULL);
	}
	k->gone_count++;
	if (!k->auth)
		return;
	told(k, t, "worker absent", kz_auth_absent(k->auth, t->worker, t->instance, &err), &err);
	k->next_step = (struct kz_deadline){ 0 };
}

void kz_keeper_done(struct kz_keeper *k, const struct kz_job *j, const struct kz_json *reply,
		    enum kz_answer answer)
{
	switch (j->kind) {
	case KZ_JOB_PROBE: probed(k, reply); return;
	case KZ_JOB_IMAGE: identified(k, reply); return;
	case KZ_JOB_LIST:
		if (answer == KZ_ANSWER_PRESENT) {
			kz_recover(k, j, reply);
			return;
		}
		/* Without a list nobody knows what runs [LEASE-19]. */
		kz_refuse(&k->bad_driver, KZ_R_INVENTORY_UNAVAILABLE,
			  "the driver gives no list: %.200s",
			  kz_json_str(reply, "text", "no answer"));
		k->is_reconciled = false;
		k->next_inventory = kz_deadline_in(KZ_SECONDS(1));
		return;
	case KZ_JOB_CREATE: created(k, &j->task, reply, answer); return;
	case KZ_JOB_DELETE: deleted(k, &j->task, answer); return;
	}
}

/* A local holder that is certainly dead loses its lease at once. */
static void check_holder(struct kz_keeper *k, const struct kz_task *t)
{
	struct kz_proc_id id;
	struct kz_err err = KZ_ERR_INIT;

	if (kz_proc_id_parse(t->holder, &id, NULL) != KZ_OK || kz_proc_id_alive(&id) != 0)
		return;
	kz_log(KZ_LOG_INFO, "holder gone", "worker", t->worker, NULL);
	if (kz_auth_holder_gone(k->auth, t->token, &err) != KZ_OK && !is_settled(&err))
		kz_keeper_fault(k, &err);
	k->next_step = (struct kz_deadline){ 0 };
}

void kz_keeper_step(struct kz_keeper *k)
{
	struct kz_task tasks[TASKS];
	struct kz_err err = KZ_ERR_INIT;
	size_t count = 0;

	if (!k->auth || !k->is_configured)
		return;
	k->next_step = kz_deadline_in(KZ_SECONDS(1));
	if (kz_auth_step(k->auth, k->conf.set.kz_node, tasks, TASKS, &count, &err) != KZ_OK) {
		kz_keeper_fault(k, &err);
		return;
	}
	for (size_t i = 0; i < count && k->auth; i++)
		switch (tasks[i].kind) {
		case KZ_TASK_CREATE: kz_job_add(k, KZ_JOB_CREATE, &tasks[i]); break;
		case KZ_TASK_DELETE: kz_job_add(k, KZ_JOB_DELETE, &tasks[i]); break;
		case KZ_TASK_CHECK: check_holder(k, &tasks[i]); break;
		}
}
