/* Holding a lease: open, acquire, find, renew, release. */
#include "core/run/hold.h"

#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "core/reset/reset.h"
#include "core/run/heart.h"
#include "core/worker/client.h"
#include "port/json.h"
#include "rule/reason.h"

#define URL_TEXT 300

/* out: url, of the Valkey that there should be */
static enum kz_rc load(struct kz_hold *h, char url[URL_TEXT], struct kz_err *err)
{
	enum kz_rc rc = kz_seal_init(err);

	if (!rc)
		rc = kz_conf_load(&h->conf, NULL, err);
	return rc ? rc : kz_conf_valkey_there(&h->conf, url, URL_TEXT, err);
}

static enum kz_rc reach(struct kz_hold *h, const char *url, struct kz_err *err)
{
	return kz_auth_open(&h->auth, url, h->conf.set.kz_deployment_id,
			    kz_deadline_in(KZ_AUTH_CALL), err);
}

enum kz_rc kz_hold_open(struct kz_hold *h, struct kz_err *err)
{
	char url[URL_TEXT];
	enum kz_rc rc = load(h, url, err);

	return rc ? rc : reach(h, url, err);
}

void kz_hold_close(struct kz_hold *h)
{
	kz_auth_close(h->auth);
	kz_audit_close(h->audit);
	h->auth = NULL;
	h->audit = NULL;
	explicit_bzero(h->lease.token, sizeof(h->lease.token));
}

static enum kz_rc open_audit(struct kz_hold *h, struct kz_err *err)
{
	char path[300];
	enum kz_rc rc;

	if (h->audit)
		return KZ_OK;
	rc = kz_conf_path(&h->conf, "audit/audit.db", path, sizeof(path), err);
	return rc ? rc : kz_audit_open(&h->audit, path, err);
}

/* A refusal stands also where it cannot be put on record [AUD-1]. */
static void record_denial(struct kz_hold *h, const struct kz_err *why)
{
	struct kz_err err = KZ_ERR_INIT;

	if (!why || !why->reason[0] || kz_str_eq(why->reason, kz_reason_code(KZ_R_CANCELLED)))
		return;
	if (open_audit(h, &err) || kz_audit_denial(h->audit, "", h->who.actor_id,
						   h->who.conversation_id, why->reason, &err))
		kz_log(KZ_LOG_WARNING, "a refusal could not be recorded", "reason", err.reason,
		       NULL);
}

enum kz_rc kz_hold_open_to_acquire(struct kz_hold *h, struct kz_err *err)
{
	struct kz_err own = KZ_ERR_INIT;
	char url[URL_TEXT];
	enum kz_rc rc = load(h, url, err);

	if (rc)
		return rc;
	rc = reach(h, url, err);
	if (rc && !kz_who_hash(&h->who, h->conf.state, &own))
		record_denial(h, err);
	return rc;
}

enum kz_rc kz_hold_acquire(struct kz_hold *h, const struct kz_ms *wait, const char *holder,
			   int cancel_fd, struct kz_err *err)
{
	int64_t bound = h->conf.set.sandbox_acquire_wait_seconds * 1000;
	struct kz_lease_ask ask = {
		.actor = h->who.actor_id,
		.conversation = h->who.conversation_id,
		.holder = holder,
		.wait = KZ_MS(wait && wait->ms < bound ? wait->ms : bound),
		.ttl = KZ_SECONDS(h->conf.set.sandbox_lease_ttl_seconds),
		.cancel_fd = cancel_fd,
	};
	enum kz_rc rc = kz_who_hash(&h->who, h->conf.state, err);

	if (rc)
		return rc;
	rc = kz_auth_acquire(h->auth, &ask, &h->lease, err);
	if (rc) {
		record_denial(h, err);
		kz_who_tell(&h->who, err);
	}
	/* The grant was made at most one call ago. */
	if (!rc)
		h->sure = kz_deadline_in(KZ_MS(h->lease.ttl_ms - KZ_AUTH_CALL.ms));
	return rc;
}

enum kz_rc kz_hold_find(struct kz_hold *h, const char *id, const char *token, struct kz_err *err)
{
	enum kz_rc rc;

	if (strlen(id) != KZ_ID_HEX - 1 || strspn(id, "0123456789abcdef") != strlen(id))
		return kz_refuse(
			err, KZ_R_USAGE,
			"\"%.40s\" is no lease; those in force are shown by: kz-lease list", id);
	rc = kz_auth_lease(h->auth, id, &h->lease, err);
	if (rc || !token)
		return rc;
	if (kz_str_copy(h->lease.token, sizeof(h->lease.token), token, NULL))
		return kz_refuse(err, KZ_R_LEASE_LOST, "that is not the token of the lease");
	return KZ_OK;
}

/* Between two looks at a release that somebody else is at. */
#define LOOK_MS 20

enum kz_rc kz_hold_released(struct kz_hold *h, const char *id, const char *token, bool *is_clean,
			    struct kz_err *err)
{
	/* The authority gives a reset some seconds more than its bound; then the worker is retired. */
	struct kz_deadline until =
		kz_deadline_in(KZ_SECONDS(h->conf.set.kz_reset_timeout_seconds + 20));
	bool is_over = false;

	for (;;) {
		enum kz_rc rc = kz_auth_released(h->auth, id, token, &is_over, is_clean, err);

		if (rc || is_over)
			return rc;
		if (kz_deadline_passed(until))
			return kz_refuse(err, KZ_R_LEASE_RELEASED, NULL);
		kz_time_sleep(KZ_MS(LOOK_MS), until);
	}
}

enum kz_rc kz_hold_renew(struct kz_hold *h, struct kz_err *err)
{
	kz_auto_wk struct kz_wk *w = NULL;
	kz_auto_json struct kz_json *health = NULL;
	struct kz_deadline until = kz_deadline_in(KZ_AUTH_CALL);
	struct kz_err ignored = KZ_ERR_INIT;
	bool has_clock;
	int64_t before;
	enum kz_rc rc;

	has_clock = !kz_lease_connect(&h->conf, &h->lease, until, &w, &ignored) &&
		    !kz_wk_health(w, until, &health, &ignored);
	before = kz_time_boot_ms();
	rc = kz_auth_renew(h->auth, &h->lease, err);
	if (rc)
		return rc;
	h->sure = (struct kz_deadline){ before + h->lease.ttl_ms };
	/* A worker that cannot be told ends its tenant sooner, which is safe; one that nobody bound yet has no deadline. */
	if (has_clock)
		kz_wk_extend(w, h->lease.id, kz_json_num(health, "clock_ms", 0),
			     KZ_MS(h->lease.ttl_ms), until, &ignored);
	return KZ_OK;
}

enum kz_rc kz_hold_release(struct kz_hold *h, struct kz_wk *worker, struct kz_json **evidence,
			   struct kz_err *err)
{
	struct kz_reset_env env = {
		.auth = h->auth,
		.worker = worker,
		.state = h->conf.state,
		.timeout = KZ_SECONDS(h->conf.set.kz_reset_timeout_seconds),
	};
	enum kz_rc rc = open_audit(h, err);

	env.audit = h->audit;
	return rc ? rc : kz_reset_lease(&env, &h->lease, evidence, err);
}
