/* The loop of kz-controller. */
#include "core/pool/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/sig.h"
#include "base/str.h"
#include "core/pool/keeper_parts.h"

static void take_signals(struct kz_keeper *k)
{
	int s;

	while ((s = kz_sig_next(k->signals)) > 0) {
		if (s != SIGTERM && s != SIGINT)
			continue;
		if (k->ends == 0) {
			kz_log(KZ_LOG_INFO, "ending", NULL);
			k->ends = 1;
			k->has_heard = false;
			k->next_inventory = (struct kz_deadline){ 0 };
			k->drain_until =
				kz_deadline_in(KZ_SECONDS(k->conf.set.sandbox_max_wall_seconds +
							  k->conf.set.kz_reset_timeout_seconds));
			if (s == SIGTERM)
				continue;
		}
		k->drain_until = (struct kz_deadline){ 0 };
	}
}

/* Ask the driver what is due: once for its runtime, now and then for its image and its workers. */
static void ask_driver(struct kz_keeper *k)
{
	if (!k->has_conf || k->ends == 2)
		return;
	if (!k->probe && kz_deadline_passed(k->next_driver))
		kz_job_add(k, KZ_JOB_PROBE, NULL);
	if (k->probe && kz_deadline_passed(k->next_image))
		kz_job_add(k, KZ_JOB_IMAGE, NULL);
	if (k->probe && ((k->auth && k->is_configured) || k->ends == 1) &&
	    kz_deadline_passed(k->next_inventory))
		kz_job_add(k, KZ_JOB_LIST, NULL);
}

static void tick(struct kz_keeper *k)
{
	take_signals(k);
	kz_keeper_conf(k);
	ask_driver(k);
	kz_job_tend(k);
	kz_keeper_connect(k);
	kz_keeper_step(k);
	kz_job_tend(k);
	kz_keeper_drain_outbox(k);
	kz_keeper_open(k);
	kz_keeper_end(k);
	kz_keeper_say(k);
}

/* Until something happens, at most a second. */
static void rest(struct kz_keeper *k)
{
	struct kz_deadline until = kz_deadline_in(KZ_SECONDS(1));
	struct pollfd p = { .fd = k->epoll, .events = POLLIN };
	struct kz_err err = KZ_ERR_INIT;

	if (!k->is_owner)
		until = kz_deadline_min(until, kz_deadline_in(KZ_MS(250)));
	until = kz_deadline_min(until, k->is_configured ? k->next_step : KZ_NEVER);
	for (const struct kz_job *j = k->jobs; j; j = j->next)
		if (!j->driver && !kz_deadline_passed(j->not_before))
			until = kz_deadline_min(until, j->not_before);
	if (!k->is_owner || k->ends == 2) {
		if (poll(&p, 1,
			 kz_deadline_poll_ms(
				 k->ends == 2 ? kz_deadline_min(until, kz_deadline_in(KZ_MS(100))) :
						until)) < 0)
			return; /* interrupted: as good as woken */
		return;
	}
	if (kz_auth_wait_work(k->auth, k->conf.set.kz_node, k->epoll, until, &err) != KZ_OK)
		kz_keeper_fault(k, &err);
	else if (!kz_deadline_passed(until))
		k->next_step = (struct kz_deadline){ 0 };
}

/* One controller for one state directory: two would delete each other's workers and close for both. */
static enum kz_rc be_alone(struct kz_keeper *k, struct kz_err *err)
{
	char path[300];
	enum kz_rc rc =
		kz_str_format(path, sizeof(path), err, "%s/run/controller.lock", k->conf.state);

	if (rc == KZ_OK)
		rc = kz_file_lock(AT_FDCWD, path, kz_deadline_in(KZ_MS(0)), &k->lock, err);
	if (rc == KZ_E_TEMPFAIL)
		return kz_refuse(err, KZ_R_TRY_LATER,
				 "another kz-controller serves %s; stop it with: kz down",
				 k->conf.state);
	return rc;
}

static enum kz_rc set_up(struct kz_keeper *k, const struct kz_keeper_options *o, struct kz_err *err)
{
	struct epoll_event ev = { .events = EPOLLIN };
	enum kz_rc rc = kz_seal_init(err);

	if (rc == KZ_OK && o->state)
		rc = kz_str_copy(k->conf.state, sizeof(k->conf.state), o->state, err);
	else if (rc == KZ_OK)
		rc = kz_conf_state(k->conf.state, err);
	if (rc == KZ_OK)
		rc = kz_keys_read(k->conf.state, KZ_KEY_WORKER, &k->worker_key, err);
	if (rc == KZ_OK)
		rc = be_alone(k, err);
	if (rc == KZ_OK)
		rc = kz_sig_open((const int[]){ SIGTERM, SIGINT, SIGHUP, 0 }, &k->signals, err);
	if (rc != KZ_OK)
		return rc;
	k->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (k->epoll < 0 || epoll_ctl(k->epoll, EPOLL_CTL_ADD, k->signals, &ev) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot watch descriptors");
	kz_random_id(k->me);
	kz_refuse(&k->why, KZ_R_NOT_RECONCILED, NULL);
	return KZ_OK;
}

static void take_down(struct kz_keeper *k)
{
	kz_job_free_all(k);
	kz_audit_close(k->audit);
	kz_auth_close(k->auth);
	kz_json_free(k->probe);
	kz_secret_release(&k->worker_key);
	free(k->silent);
	if (k->epoll >= 0)
		close(k->epoll);
	if (k->signals >= 0)
		close(k->signals);
	if (k->lock >= 0)
		close(k->lock);
}

enum kz_rc kz_keeper_run(const struct kz_keeper_options *o, struct kz_err *err)
{
	struct kz_keeper k = { .epoll = -1, .signals = -1, .lock = -1, .ready_fd = o->ready_fd };
	enum kz_rc rc = set_up(&k, o, err);

	while (rc == KZ_OK && k.ends < 3) {
		tick(&k);
		if (k.ends < 3)
			rest(&k);
	}
	if (rc == KZ_OK && k.auth)
		kz_keeper_drain_outbox(&k);
	if (rc == KZ_OK && k.is_owner)
		kz_auth_disown(k.auth, k.conf.set.kz_node, NULL); /* else its death is found out */
	take_down(&k);
	return rc;
}

enum kz_rc kz_keeper_prune(const char *state, int *removed, struct kz_err *err)
{
	kz_auto_auth struct kz_auth *a = NULL;
	struct kz_conf conf;
	char url[300];
	enum kz_rc rc = kz_conf_load(&conf, state, err);

	if (rc == KZ_OK)
		rc = kz_conf_valkey_url(&conf, url, sizeof(url), err);
	if (rc == KZ_OK)
		rc = kz_auth_open(&a, url, conf.set.kz_deployment_id, kz_deadline_in(KZ_SECONDS(5)),
				  err);
	return rc == KZ_OK ? kz_auth_prune(a, removed, err) : rc;
}
