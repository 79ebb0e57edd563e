/* The lease of a run: acquired for it, or the one in force around it. */
#include <string.h>
#include <sys/epoll.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/str.h"
#include "core/run/install.h"
#include "core/run/job.h"
#include "core/run/keep.h"
#include "rule/reason.h"

/* Between the wall bound, the reset and the end of the lease. */
#define MARGIN_MS 10000

static struct kz_ms wanted_ttl(const struct kz_job *j)
{
	int64_t keep = kz_job_keeps(j) ? 2 * KZ_KEEP_MS : 0;

	return KZ_MS(kz_job_packages_time(j).ms + j->wall.ms +
		     j->conf.set.kz_reset_timeout_seconds * 1000 + keep + MARGIN_MS);
}

static enum kz_rc open_stores(struct kz_job *j, struct kz_err *err)
{
	struct kz_err own = KZ_ERR_INIT, *why = err;
	char url[300], path[300];
	enum kz_rc rc = kz_conf_valkey_there(&j->conf, url, sizeof(url), err), opened;

	if (rc)
		return rc;
	rc = kz_auth_connect(&j->auth, url, j->conf.set.kz_deployment_id,
			     kz_deadline_in(KZ_AUTH_CALL), err);
	/* Without an authority all the same: that refusal is on record as any other [AUD-1]. */
	if (rc)
		why = &own;
	opened = kz_conf_path(&j->conf, "audit/audit.db", path, sizeof(path), why);
	/* Before a worker is taken: a store that cannot be written means that nothing may start [AUD-10]. */
	if (!opened)
		opened = kz_audit_open(&j->audit, path, why);
	return rc ? rc : opened;
}

static enum kz_rc start_heart(struct kz_job *j, struct kz_err *err)
{
	int64_t ttl = j->lease.ttl_ms, period = j->conf.set.sandbox_lease_heartbeat_seconds * 1000;
	struct epoll_event ev = { .events = EPOLLIN };
	enum kz_rc rc;

	if (wanted_ttl(j).ms <= ttl) /* the run ends before the first beat would be due */
		return KZ_OK;
	rc = kz_heart_start(&j->heart, &j->conf, &j->lease, j->sure,
			    KZ_MS(period < ttl / 3 ? period : ttl / 3), err);
	if (!rc && epoll_ctl(j->cancel_fd, EPOLL_CTL_ADD, kz_heart_lost_fd(j->heart), &ev))
		return kz_err_sys(err, KZ_E_OS, "cannot watch the lease");
	return rc;
}

static enum kz_rc acquire(struct kz_job *j, struct kz_err *err)
{
	struct kz_proc_id self;
	char holder[KZ_HOLDER_TEXT];
	struct kz_ms ttl = wanted_ttl(j);
	int64_t most = j->conf.set.sandbox_lease_ttl_seconds * 1000;
	struct kz_lease_ask ask = {
		.actor = j->who.actor_id,
		.conversation = j->who.conversation_id,
		.holder = holder,
		.wait = KZ_SECONDS(j->conf.set.sandbox_acquire_wait_seconds),
		.ttl = KZ_MS(ttl.ms < most ? ttl.ms : most),
		.cancel_fd = j->cancel_fd,
	};
	enum kz_rc rc = kz_proc_self_id(&self, err);

	if (rc)
		return rc;
	kz_proc_id_format(&self, holder, sizeof(holder));
	rc = kz_auth_acquire(j->auth, &ask, &j->lease, err);
	if (rc) {
		kz_who_tell(&j->who, err);
		return rc;
	}
	j->has_lease = j->is_lease_own = true;
	/* The grant was made at most one call ago. */
	j->sure = kz_deadline_in(KZ_MS(j->lease.ttl_ms - KZ_AUTH_CALL.ms));
	return start_heart(j, err);
}

enum kz_rc kz_job_lease_again(struct kz_job *j, const char *cause, struct kz_err *err)
{
	struct kz_err own = KZ_ERR_INIT;

	kz_heart_free(kz_take(j->heart));
	kz_wk_close(kz_take(j->worker));
	kz_json_free(kz_take(j->health));
	/* Also when it cannot be said: then the controller finds the worker dead, or its deadline does. */
	if (kz_auth_abandon(j->auth, &j->lease, cause, &own))
		kz_log(KZ_LOG_WARNING, "worker not given up", "reason", own.reason, NULL);
	j->has_lease = j->is_lease_own = false;
	return acquire(j, err);
}

/* Take the lease that stands around this run, if it is for the same actor and conversation. */
static enum kz_rc adopt(struct kz_job *j, struct kz_err *err)
{
	int64_t fence = 0, before;
	enum kz_rc rc;

	if (!j->ask->token || strlen(j->ask->token) >= sizeof(j->lease.token))
		return kz_refuse(err, KZ_R_TOKEN_MISSING,
				 "KZ_LEASE is set without a valid KZ_LEASE_TOKEN");
	rc = kz_auth_lease(j->auth, j->ask->lease, &j->lease, err);
	if (rc)
		return rc;
	if (j->ask->fence &&
	    (kz_str_int(j->ask->fence, 0, INT64_MAX, &fence, NULL) || fence != j->lease.fence))
		return kz_refuse(err, KZ_R_LEASE_MISMATCH,
				 "KZ_FENCE is not the fence of the lease in force");
	if (((j->ask->actor || j->ask->scope) && !kz_str_eq(j->who.actor_id, j->lease.actor)) ||
	    ((j->ask->conversation || j->ask->scope) &&
	     !kz_str_eq(j->who.conversation_id, j->lease.conversation)))
		return kz_refuse(err, KZ_R_LEASE_MISMATCH,
				 "the lease in KZ_LEASE is for another actor or conversation");
	memcpy(j->who.actor_id, j->lease.actor, sizeof(j->who.actor_id));
	memcpy(j->who.conversation_id, j->lease.conversation, sizeof(j->who.conversation_id));
	kz_str_copy(j->lease.token, sizeof(j->lease.token), j->ask->token, NULL);
	/* A renewal proves that the token is the current one. */
	before = kz_time_boot_ms();
	rc = kz_auth_renew(j->auth, &j->lease, err);
	j->has_lease = !rc;
	j->sure = (struct kz_deadline){ before + j->lease.ttl_ms };
	return rc;
}

enum kz_rc kz_job_lease(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc = open_stores(j, err);

	if (rc)
		return rc;
	return j->ask->lease ? adopt(j, err) : acquire(j, err);
}
