/* The long verbs of drive: a controller whose workers are files, and clients that hold leases. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "port/seal.h"
#include "drive.h"

/* -- a controller whose workers are files -- */

static void worker_path(char out[256], const char *dir, const char *worker)
{
	if (kz_str_format(out, 256, &err, "%s/w/%s", dir, worker))
		exit(70);
}

static enum kz_rc take_inventory(struct kz_auth *a, const char *node, const char *dir)
{
	static struct kz_seen seen[512];
	char path[256];
	int64_t now;
	size_t n = 0;
	enum kz_rc rc = kz_auth_now(a, &now, &err);
	struct dirent *d;
	DIR *list;

	worker_path(path, dir, "");
	list = opendir(path);
	while (!rc && list && (d = readdir(list))) {
		struct kz_buf b = KZ_BUF_INIT(64);

		if (d->d_name[0] == '.')
			continue;
		worker_path(path, dir, d->d_name);
		if (kz_file_read(AT_FDCWD, path, &b, NULL) || b.len != KZ_ID_HEX - 1 || n == 512)
			exit(70);
		memset(&seen[n], 0, sizeof(seen[n]));
		if (kz_str_copy(seen[n].worker, sizeof(seen[n].worker), d->d_name, &err) ||
		    kz_str_copy(seen[n++].instance, KZ_ID_HEX, b.data, &err))
			exit(70);
		kz_buf_release(&b);
	}
	if (list)
		closedir(list);
	return rc ? rc : kz_auth_inventory(a, node, now, seen, n, &err);
}

/* One create: it works, certainly fails, or nobody knows; the unknown one is there or not. */
static void create(struct kz_auth *a, const char *dir, const struct kz_task *t)
{
	char path[256], temp[256];
	uint32_t luck = chance(20);

	worker_path(path, dir, t->worker);
	if (kz_str_format(temp, sizeof(temp), &err, "%s/tmp.%d", dir, (int)getpid()))
		exit(70);
	if (luck != 0 && luck != 1) {
		int fd = open(temp, O_CREAT | O_WRONLY | O_TRUNC, 0600);

		if (fd < 0 || write(fd, t->instance, strlen(t->instance)) < 0 || rename(temp, path))
			exit(74);
		close(fd);
	}
	if (luck == 0)
		(void)kz_auth_create_failed(a, t->worker, t->token, &err);
	else if (luck == 1 || luck == 2)
		(void)kz_auth_create_unknown(a, t->worker, t->token, &err);
	else
		(void)kz_auth_ready(a, t->worker, t->token, t->instance, IMAGE, &err);
}

/* A late create of a crashed controller is played by kills between file and ready. */
static void remove_worker(struct kz_auth *a, const char *dir, const struct kz_task *t)
{
	char path[256];

	worker_path(path, dir, t->worker);
	if (unlink(path) && errno != ENOENT)
		exit(74);
	(void)kz_auth_absent(a, t->worker, t->instance, &err);
}

static void check_holder(struct kz_auth *a, const struct kz_task *t)
{
	/* Holders here say pid-N. */
	if (kz_str_has_prefix(t->holder, "pid-") && kill((pid_t)number(t->holder + 4), 0) &&
	    errno == ESRCH)
		(void)kz_auth_holder_gone(a, t->token, &err);
}

static enum kz_rc one_round(struct kz_auth *a, const char *node, const char *dir, FILE *log)
{
	struct kz_task t[32];
	size_t n = 0;
	enum kz_rc rc = kz_auth_step(a, node, t, 32, &n, &err);

	for (size_t i = 0; !rc && i < n; i++) {
		if (t[i].kind == KZ_TASK_CREATE)
			create(a, dir, &t[i]);
		else if (t[i].kind == KZ_TASK_DELETE)
			remove_worker(a, dir, &t[i]);
		else
			check_holder(a, &t[i]);
	}
	return rc ? rc : drain(a, node, log);
}

static enum kz_rc reconcile(struct kz_auth *a, const char *node, const char *dir)
{
	enum kz_rc rc = take_inventory(a, node, dir);

	return rc ? rc : kz_auth_open_admission(a, node, KZ_SECONDS(10), &err);
}

int do_controller(int c, char **v)
{
	struct kz_auth *a = NULL;
	char path[256], stop[256];
	int64_t next = 0;
	FILE *log;

	if (c < 6)
		return 64;
	if (kz_str_format(path, sizeof(path), &err, "%s/outbox.%s", v[5], v[4]) ||
	    kz_str_format(stop, sizeof(stop), &err, "%s/stop", v[5]))
		return 64;
	log = fopen(path, "a");
	if (!log)
		return 73;
	while (access(stop, F_OK)) {
		enum kz_rc rc;
		struct kz_settings s = settings_of(v + 6);

		if (!a && (kz_auth_load(&a, v[2], v[3], kz_deadline_in(KZ_SECONDS(2)), &err) ||
			   kz_auth_configure(a, &s, &err) || kz_auth_image(a, IMAGE, &err))) {
			fprintf(stderr, "controller %s: %s %s\n", v[4], err.reason, err.text);
			kz_auth_close(kz_take(a));
			kz_time_sleep(KZ_MS(200), KZ_NEVER);
			continue;
		}
		rc = kz_time_boot_ms() >= next ? reconcile(a, v[4], v[5]) : KZ_OK;
		if (!rc && kz_time_boot_ms() >= next)
			next = kz_time_boot_ms() + 1000;
		if (!rc)
			rc = one_round(a, v[4], v[5], log);
		if (!rc)
			rc = kz_auth_wait_work(a, v[4], -1, kz_deadline_in(KZ_MS(100)), &err);
		if (rc) {
			fprintf(stderr, "controller %s: %s %s\n", v[4], err.reason, err.text);
			kz_auth_close(kz_take(a));
			next = 0;
		}
	}
	if (a && drain(a, v[4], log))
		return failed("outbox");
	return 0;
}

/* -- clients -- */

/* Be the tenant; false when somebody is or was it without a reset. */
static bool move_in(const char *dir, const struct kz_lease *l, char path[256])
{
	struct kz_buf b = KZ_BUF_INIT(64);
	char worker[256];
	int fd;

	worker_path(worker, dir, l->worker);
	if (kz_file_read(AT_FDCWD, worker, &b, NULL) || !kz_str_eq(kz_buf_str(&b), l->instance)) {
		printf("OVERLAP %s leased and not there\n", l->worker);
		return false;
	}
	if (kz_str_format(path, 256, &err, "%s/t/%s.%s", dir, l->worker, l->instance))
		exit(70);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd < 0) {
		printf("OVERLAP %s has a tenant\n", l->worker);
		return false;
	}
	close(fd);
	return true;
}

static int one_lease(struct kz_auth *a, const char *dir, const struct kz_lease_ask *ask,
		     int64_t hold)
{
	struct kz_lease l;
	char tenant[256];
	int64_t t0 = kz_time_boot_ms();

	if (kz_auth_acquire(a, ask, &l, &err))
		return failed("acquire");
	printf("served %lld\n", (long long)(kz_time_boot_ms() - t0));
	if (!move_in(dir, &l, tenant))
		return 1;
	kz_time_sleep(KZ_MS((int64_t)chance((uint32_t)hold + 1)), KZ_NEVER);
	if (kz_auth_reset_begin(a, &l, KZ_SECONDS(5), "", &err))
		return failed("release");
	if (chance(20) == 0)
		return kz_auth_retire(a, &l, chance(2), "reset_unclean", &err) ? failed("retire") :
										 0;
	unlink(tenant);
	return kz_auth_publish(a, &l, &err) ? failed("publish") : 0;
}

int do_client(int c, char **v)
{
	struct kz_auth *a;
	char conversation[KZ_ID_HEX], holder[32];
	struct kz_lease_ask ask = { .conversation = conversation,
				    .holder = holder,
				    .wait = KZ_SECONDS(25),
				    .ttl = KZ_SECONDS(10),
				    .cancel_fd = -1 };
	int bad = 0;

	if (c != 8)
		return 64;
	a = connect_in(v, 30); /* hundreds begin at once */
	snprintf(holder, sizeof(holder), "pid-%d", (int)getpid());
	ask.actor = v[5];
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int64_t i = number(v[6]); i > 0; i--) {
		kz_random_id(conversation);
		if (one_lease(a, v[4], &ask, number(v[7])))
			bad = 1;
	}
	kz_auth_close(a);
	return bad;
}
