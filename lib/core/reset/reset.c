/* Reset: begin, measure, judge, record, publish or retire. */
#include "core/reset/reset.h"

#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/str.h"
#include "core/audit/audit.h"
#include "core/conf/keys.h"
#include "core/reset/judge.h"
#include "core/worker/client.h"
#include "port/json.h"
#include "rule/reason.h"

/* The authority waits this much longer than we do before it takes the worker for lost. */
#define MARGIN_MS 10000

/* How a reset ends at the authority. */
struct verdict {
	bool clean;
	bool quarantine; /* nothing could be read: a person may want to look */
	enum kz_reason cause;
};

static enum kz_rc connect_to(const struct kz_reset_env *env, const struct kz_lease *l,
			     struct kz_deadline until, struct kz_wk **w, struct kz_err *err)
{
	struct kz_secret key = { 0 };
	char secret[65], path[512];
	enum kz_rc rc = kz_keys_read(env->state, KZ_KEY_WORKER, &key, err);

	if (rc != KZ_OK)
		return rc;
	kz_worker_secret(&key, l->worker, l->instance, secret);
	kz_secret_release(&key);
	rc = kz_str_format(path, sizeof path, err, "%s/workers/%s/ctl/control.sock", env->state,
			   l->worker);
	if (rc == KZ_OK)
		rc = kz_wk_open(w, path, secret, until, err);
	explicit_bzero(secret, sizeof secret);
	return rc;
}

/*
 * A lease that was never used was never bound, and a clean worker takes no reset:
 * bind it now, so that it is measured and published instead of retired.
 */
static enum kz_rc reset_on(struct kz_wk *w, const struct kz_reset_env *env,
			   const struct kz_lease *l, struct kz_deadline until,
			   struct kz_json **readings, struct kz_err *err)
{
	if (w != env->worker || !env->is_bound)
		(void)kz_wk_bind(w, l->id, l->fence, env->timeout, until, NULL, NULL);
	return kz_wk_reset(w, l->id, l->token, until, readings, err);
}

static enum kz_rc ask(const struct kz_reset_env *env, const struct kz_lease *l,
		      struct kz_deadline until, struct kz_json **readings, struct kz_err *err)
{
	kz_auto_wk struct kz_wk *own = NULL;
	enum kz_rc rc;

	if (env->worker) {
		struct kz_err first = KZ_ERR_INIT;

		rc = reset_on(env->worker, env, l, until, readings, &first);
		/* that connection may have broken with the run; the worker can still be asked on another */
		if (rc == KZ_OK ||
		    !kz_str_eq(first.reason, kz_reason_code(KZ_R_WORKER_UNREACHABLE))) {
			if (rc != KZ_OK)
				*err = first;
			return rc;
		}
	}
	rc = connect_to(env, l, until, &own, err);
	return rc == KZ_OK ? reset_on(own, env, l, until, readings, err) : rc;
}

/* A worker that serves one lease is as good as its record says and is deleted, not suspected. */
static bool is_single_use(const struct kz_reset_env *env, const struct kz_lease *l,
			  struct kz_deadline until)
{
	kz_auto_wk struct kz_wk *w = NULL;
	kz_auto_json struct kz_json *h = NULL;

	if (connect_to(env, l, until, &w, NULL) != KZ_OK ||
	    kz_wk_health(w, until, &h, NULL) != KZ_OK)
		return false;
	return kz_json_flag(h, "single_use", false);
}

static struct verdict measure(const struct kz_reset_env *env, const struct kz_lease *l,
			      struct kz_json **evidence, struct kz_err *why)
{
	struct kz_deadline until = kz_deadline_in(env->timeout);
	kz_auto_json struct kz_json *readings = NULL;
	struct verdict v = { .clean = false, .quarantine = false, .cause = KZ_R_RESET_UNCLEAN };
	struct kz_evidence e;
	enum kz_rc rc = ask(env, l, until, &readings, why);

	/* late is missing [RESET-10] */
	if (rc == KZ_OK && kz_deadline_passed(until)) {
		kz_json_free(readings);
		readings = NULL;
		rc = kz_refuse(why, KZ_R_RESET_TIMEOUT, NULL);
	}
	kz_judge_read(readings, l, l->token, &e);
	*evidence = kz_judge_evidence(&e, l, l->token, &v.clean);
	if (rc == KZ_OK)
		return v;
	if (kz_str_eq(why->reason, kz_reason_code(KZ_R_WORKER_REFUSED)) &&
	    is_single_use(env, l, until)) {
		*why = (struct kz_err)KZ_ERR_INIT;
		v.cause = KZ_R_SINGLE_USE;
		return v;
	}
	v.quarantine = true;
	if (!kz_reason_find(why->reason, &v.cause))
		v.cause = KZ_R_RESET_UNCLEAN;
	return v;
}

enum kz_rc kz_reset_lease(const struct kz_reset_env *env, struct kz_lease *lease,
			  struct kz_json **evidence, struct kz_err *err)
{
	kz_auto_json struct kz_json *found = NULL;
	struct kz_err why = KZ_ERR_INIT, audit = KZ_ERR_INIT;
	struct kz_proc_id self;
	char holder[KZ_HOLDER_TEXT];
	struct verdict v;
	enum kz_rc rc = kz_proc_self_id(&self, err);

	if (rc != KZ_OK)
		return rc;
	/* Whoever resets is watched like a holder: killed half-way, the worker goes at once. */
	kz_proc_id_format(&self, holder, sizeof holder);
	rc = kz_auth_reset_begin(env->auth, lease, KZ_MS(env->timeout.ms + MARGIN_MS), holder, err);
	if (rc != KZ_OK)
		return rc;
	v = measure(env, lease, &found, &why);
	if (!found) {
		v = (struct verdict){ false, true, KZ_R_INTERNAL };
		kz_err_set(&why, KZ_E_OS, "out of memory");
	} else if (kz_audit_evidence(env->audit, found, &audit) != KZ_OK) {
		/* evidence that is not kept is none [AUD-10] */
		v = (struct verdict){ false, false, KZ_R_AUDIT_UNAVAILABLE };
		why = audit;
	}
	rc = v.clean ? kz_auth_publish(env->auth, lease, err) :
		       kz_auth_retire(env->auth, lease, v.quarantine, kz_reason_code(v.cause), err);
	/* the end of a worker that serves one lease is nothing to warn of */
	if (!v.clean && v.cause != KZ_R_SINGLE_USE)
		kz_log(KZ_LOG_WARNING, "worker retired after reset", "worker", lease->worker,
		       "reason", kz_reason_code(v.cause), "dirty",
		       kz_json_str(found, "dirty", NULL), NULL);
	if (rc != KZ_OK)
		return rc;
	if (found)
		*evidence = kz_take(found);
	if (why.rc != KZ_OK) {
		*err = why;
		return why.rc;
	}
	return KZ_OK;
}
