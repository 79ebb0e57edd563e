/* A thread that renews a lease. */
#include "core/run/heart.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>

#include "base/str.h"
#include "core/conf/keys.h"
#include "core/worker/client.h"
#include "port/json.h"
#include "rule/reason.h"

/* Longest time one beat may hang before it is given up and tried again. */
#define BEAT_MS 5000
#define RETRY_MS 1000

struct kz_heart {
	struct kz_conf conf;
	struct kz_lease lease;
	struct kz_ms period;
	atomic_int_least64_t sure; /* boot_ms */
	int lost_fd, stop_fd;
	pthread_t thread;
};

enum kz_rc kz_lease_connect(const struct kz_conf *conf, const struct kz_lease *lease,
			    struct kz_deadline until, struct kz_wk **out, struct kz_err *err)
{
	struct kz_secret key = { 0 };
	char suffix[KZ_WORKER_NAME + 40], path[512], secret[65];
	enum kz_rc rc;

	rc = kz_str_format(suffix, sizeof(suffix), err, "workers/%s/ctl/control.sock",
			   lease->worker);
	if (!rc)
		rc = kz_conf_path(conf, suffix, path, sizeof(path), err);
	if (!rc)
		rc = kz_keys_read(conf->state, KZ_KEY_WORKER, &key, err);
	if (rc)
		return rc;
	kz_worker_secret(&key, lease->worker, lease->instance, secret);
	kz_secret_release(&key);
	rc = kz_wk_open(out, path, secret, until, err);
	explicit_bzero(secret, sizeof(secret));
	return rc;
}

/* The worker's own deadline follows; when it cannot be told, the worker ends sooner, which is safe. */
static void extend(struct kz_heart *h, struct kz_wk *w, int64_t clock_ms, struct kz_deadline until)
{
	struct kz_err ignored = KZ_ERR_INIT;

	if (w)
		kz_wk_extend(w, h->lease.id, clock_ms, KZ_MS(h->lease.ttl_ms), until, &ignored);
}

static enum kz_rc beat(struct kz_heart *h, struct kz_err *err)
{
	kz_auto_auth struct kz_auth *auth = NULL;
	kz_auto_wk struct kz_wk *w = NULL;
	kz_auto_json struct kz_json *health = NULL;
	struct kz_deadline until = kz_deadline_in(KZ_MS(BEAT_MS));
	struct kz_err ignored = KZ_ERR_INIT;
	char url[300];
	int64_t before;
	enum kz_rc rc;

	if (!kz_lease_connect(&h->conf, &h->lease, until, &w, &ignored) &&
	    kz_wk_health(w, until, &health, &ignored)) {
		kz_wk_close(w);
		w = NULL;
	}
	rc = kz_conf_valkey_url(&h->conf, url, sizeof(url), err);
	if (!rc)
		rc = kz_auth_open(&auth, url, h->conf.set.kz_deployment_id, until, err);
	before = kz_time_boot_ms();
	if (!rc)
		rc = kz_auth_renew(auth, &h->lease, err);
	if (rc)
		return rc;
	atomic_store(&h->sure, before + h->lease.ttl_ms);
	extend(h, w, kz_json_num(health, "clock_ms", 0), until);
	return KZ_OK;
}

static void *run(void *arg)
{
	struct kz_heart *h = arg;
	struct kz_ms wait = h->period;
	uint64_t one = 1;

	for (;;) {
		struct pollfd p = { h->stop_fd, POLLIN, 0 };
		struct kz_err err = KZ_ERR_INIT;

		if (poll(&p, 1, (int)wait.ms) > 0)
			return NULL;
		wait = h->period;
		if (!beat(h, &err))
			continue;
		if (kz_str_eq(err.reason, kz_reason_code(KZ_R_LEASE_LOST))) {
			if (write(h->lost_fd, &one, sizeof(one)) < 0)
				return NULL;
			return NULL;
		}
		/* Valkey does not answer: what is sure stays sure, and is asked for again soon [LEASE-23]. */
		wait = KZ_MS(h->period.ms < RETRY_MS ? h->period.ms : RETRY_MS);
	}
}

enum kz_rc kz_heart_start(struct kz_heart **out, const struct kz_conf *conf,
			  const struct kz_lease *lease, struct kz_deadline sure,
			  struct kz_ms period, struct kz_err *err)
{
	struct kz_heart *h = calloc(1, sizeof(*h));
	sigset_t all, old;
	int failed;

	if (!h)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	h->conf = *conf;
	h->lease = *lease;
	h->period = period;
	atomic_store(&h->sure, sure.boot_ms);
	h->lost_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	h->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* The thread must take no signal: the main thread reads them from a descriptor. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = h->lost_fd < 0 || h->stop_fd < 0 || pthread_create(&h->thread, NULL, run, h);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed) {
		kz_auto_close_(&h->lost_fd);
		kz_auto_close_(&h->stop_fd);
		free(h);
		return kz_err_sys(err, KZ_E_OS, "cannot start the heartbeat");
	}
	*out = h;
	return KZ_OK;
}

int kz_heart_lost_fd(const struct kz_heart *h)
{
	return h->lost_fd;
}

struct kz_deadline kz_heart_sure_until(struct kz_heart *h)
{
	return (struct kz_deadline){ atomic_load(&h->sure) };
}

void kz_heart_free(struct kz_heart *h)
{
	uint64_t one = 1;

	if (!h)
		return;
	if (write(h->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(h->thread, NULL);
	kz_auto_close_(&h->lost_fd);
	kz_auto_close_(&h->stop_fd);
	free(h);
}
