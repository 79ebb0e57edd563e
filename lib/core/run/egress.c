/* The network of a run: a grant when it was approved and the policy gives one, else nothing. */
#include "base/log.h"
#include "base/str.h"
#include "core/egress/view.h"
#include "core/run/egress.h"
#include "core/run/job.h"
#include "rule/reason.h"

#define PUT_MS 5000
#define PROXY_PORT 3128 /* where a worker listens for its program; docs/worker-boot.md */

/* Whose the worker is on this machine, by its own word: wrong, it only makes the grant useless. */
static enum kz_rc worker_ids(struct kz_job *j, struct kz_egress_ask *ask, struct kz_err *err)
{
	kz_auto_json struct kz_json *health = NULL;
	const struct kz_json *posture = kz_json_get(j->health, "posture");
	int64_t base, count;

	if (!posture) {
		enum kz_rc rc = kz_wk_health(j->worker, ask->until, &health, err);

		if (rc)
			return rc;
		posture = kz_json_get(health, "posture");
	}
	base = kz_json_num(posture, "uid_base", -1);
	count = kz_json_num(posture, "uid_count", -1);
	if (base < 1 || base > UINT32_MAX || count < 1 || count > UINT32_MAX - base)
		return kz_err_set(err, KZ_E_PROTOCOL, "the worker does not say whose it is");
	ask->uid_base = (uint32_t)base;
	ask->uid_count = (uint32_t)count;
	return KZ_OK;
}

static enum kz_rc issue(struct kz_job *j, struct kz_err *err)
{
	struct kz_egress_ask ask = {
		.run = j->run,
		.actor = j->who.actor_id,
		.worker = j->lease.worker,
		.approval = j->ask->approval,
		.until = kz_deadline_min(j->sure, kz_deadline_in(KZ_EGRESS_PATIENCE)),
		.audit = j->audit,
	};
	bool has_way = !kz_json_flag(j->health, "single_use", true);
	enum kz_rc rc = KZ_OK;

	if (ask.approval && has_way)
		rc = worker_ids(j, &ask, err);
	else
		ask.approval = NULL; /* only what is configured */
	if (rc)
		return rc;
	j->has_egress = true;
	rc = kz_egress_issue(&j->conf, &ask, &j->egress, err);
	if (!rc && j->ask->approval && !has_way) {
		j->egress.reason = KZ_R_EGRESS_UNAVAILABLE;
		kz_str_copy(j->egress.text, sizeof(j->egress.text),
			    "none: a worker of this runtime has no way to the proxy", NULL);
	}
	return rc;
}

/* What programs look for; some read only one of the two cases. */
static enum kz_rc set_variables(struct kz_job *j, struct kz_err *err)
{
	static const char *const ways[] = { "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
					    "http_proxy", "https_proxy", "all_proxy" };
	static const char *const none[] = { "NO_PROXY", "no_proxy" };
	const char *options = kz_job_env_get(j, "NODE_OPTIONS");
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && i < sizeof(ways) / sizeof(*ways); i++)
		rc = kz_job_env_set(j, ways[i], err, "http://grant:%s@127.0.0.1:%d",
				    kz_buf_str(&j->egress.token), PROXY_PORT);
	for (size_t i = 0; !rc && i < sizeof(none) / sizeof(*none); i++)
		rc = kz_job_env_set(j, none[i], err, "localhost,127.0.0.1,::1");
	if (!rc)
		rc = kz_job_env_set(j, "NODE_USE_ENV_PROXY", err, "1");
	if (!rc)
		rc = kz_job_env_set(j, "NODE_OPTIONS", err, "%s%s--require=%s/%s",
				    options ? options : "", options ? " " : "", KZ_SOURCE_DIR,
				    KZ_SOURCE_PROXY);
	return rc;
}

enum kz_rc kz_job_egress(struct kz_job *j, struct kz_err *err)
{
	size_t n = 0;
	const char *preload = kz_source_proxy(&n);
	enum kz_rc rc = issue(j, err);

	if (rc)
		return rc;
	if (j->egress.execution[0]) {
		rc = kz_job_put_text(j, KZ_SOURCE_PROXY, preload, n,
				     kz_deadline_min(j->sure, kz_deadline_in(KZ_MS(PUT_MS))), err);
		return rc ? rc : set_variables(j, err);
	}
	/* asked for and not there: said at once, because what the program sees does not tell */
	if (j->ask->approval)
		kz_log(KZ_LOG_WARNING, "the program runs without a network (see kz-grant scope)",
		       "reason", kz_reason_code(j->egress.reason), "text",
		       kz_reason_text(j->egress.reason), NULL);
	return KZ_OK;
}

static void set_text(struct kz_json *o, const char *key, const char *text)
{
	kz_json_set_str(o, key, text && *text ? text : NULL);
}

struct kz_json *kz_job_egress_record(const struct kz_job *j)
{
	struct kz_json *o = kz_json_object();
	const struct kz_egress *e = &j->egress;

	/* a run that ended before it came to this has none, and no policy was read for it */
	kz_json_set_str(o, "scope", j->has_egress ? e->text : "none");
	set_text(o, "configured", j->has_egress ? e->configured : NULL);
	kz_json_set_str(o, "effective", j->has_egress ? e->effective : "none");
	set_text(o, "reason",
		 j->has_egress && e->reason != KZ_R_NONE ? kz_reason_code(e->reason) : NULL);
	set_text(o, "execution", e->execution);
	set_text(o, "revision", e->revision);
	/* what was refused as malformed is no approval */
	set_text(o, "approval",
		 j->ask->approval && kz_approval_valid(j->ask->approval) ? j->ask->approval : NULL);
	return o;
}
