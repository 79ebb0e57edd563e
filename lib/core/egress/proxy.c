/* The egress proxy: its start, its watch over files, its end. */
#include "core/egress/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cell.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/sig.h"
#include "base/str.h"
#include "core/conf/listen.h"
#include "core/egress/health.h"
#include "core/egress/proxy_health.h"
#include "core/egress/proxy_loop.h"
#include "core/jail/service.h"

#define LOOPS 8
#define LOOK_MS 1000 /* between two looks at what no event tells of */
#define GRACE KZ_SECONDS(5)
#define BACKLOG 4096
#define RESERVE 384 /* descriptors that are for no connection */

struct proxy {
	struct kz_px_shared shared;
	struct kz_px_watch watch;
	struct kz_px_health health;
	struct kz_px_loop *loops[LOOPS];
	size_t count;   /* of loops */
	size_t running; /* of them, with a thread */
	int signals, files, health_listener;
	char audit[300];
	uid_t uid;
	gid_t gid;
};

static size_t cores(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

	return n < 1 ? 1 : n > LOOPS ? LOOPS : (size_t)n;
}

/* -- sockets -- */

static enum kz_rc listen_unix(struct proxy *p, const struct kz_conf *c, struct kz_err *err)
{
	gid_t group = p->gid;
	char path[300];
	enum kz_rc rc;

	if ((rc = kz_conf_path(c, KZ_PROXY_DIR, path, sizeof path, err)) ||
	    (rc = kz_dir_make(AT_FDCWD, path, 0711, (gid_t)-1, err)) ||
	    (rc = kz_conf_path(c, KZ_PROXY_SOCKET, path, sizeof path, err)) ||
	    (rc = kz_unix_listen(path, 0666, (gid_t)-1, BACKLOG, &p->shared.listen_unix, err)) ||
	    (rc = kz_conf_path(c, KZ_PROXY_HEALTH_SOCKET, path, sizeof path, err)))
		return rc;
	return kz_unix_listen(path, 0660, group, 64, &p->health_listener, err);
}

static enum kz_rc listen_tcp(struct proxy *p, const char *where, struct kz_err *err)
{
	enum kz_rc rc = where ? kz_tcp_listen(where, BACKLOG, &p->shared.listen_tcp, err) : KZ_OK;

	return rc == KZ_E_DATA ?
		       kz_refuse(err, KZ_R_USAGE, "-l takes ADDRESS:PORT, not %s", where) :
		       rc;
}

/* -- start -- */

/* A user id of its own, below those of the workers; the group of kz reads settings and writes the audit. */
static void choose_ids(struct proxy *p, const struct kz_settings *s)
{
	const struct group *g = s->kz_group[0] && geteuid() == 0 ? getgrnam(s->kz_group) : NULL;

	p->uid = (uid_t)s->kz_uid_base - 1;
	p->gid = g ? g->gr_gid : getegid();
}

/* It sees of the file system what it reads, and the audit; and it gives up calls that it does not need. */
static enum kz_rc leave(const struct proxy *p, const char *state, struct kz_err *err)
{
	char root[300], public[300], env[300], audit[300];
	const struct kz_cell_show shown[] = { { .path = public },
					      { .path = env },
					      { .path = audit, .is_written = true } };
	const struct kz_cell cell = { "kz-proxy", root, shown, 3, p->uid, p->gid };
	enum kz_rc rc;

	if ((rc = kz_str_format(root, sizeof root, err, "%s/run", state)) ||
	    (rc = kz_str_format(public, sizeof public, err, "%s/public", state)) ||
	    (rc = kz_str_format(env, sizeof env, err, "%s/env", state)) ||
	    (rc = kz_str_format(audit, sizeof audit, err, "%s/audit", state)))
		return rc;
	rc = kz_cell_enter(&cell, err);
	return rc == KZ_OK ? kz_jail_service(err) : rc;
}

static void watch_files(struct proxy *p)
{
	static const char *const names[] = { "public", "env" };
	const uint32_t changes = IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_ATTRIB;
	char path[300];

	p->files = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	for (size_t i = 0; p->files >= 0 && i < sizeof names / sizeof *names; i++)
		if (kz_str_format(path, sizeof path, NULL, "%s/%s", p->watch.state, names[i]) ==
		    KZ_OK)
			(void)inotify_add_watch(p->files, path, changes);
}

static enum kz_rc open_all(struct proxy *p, const struct kz_proxy_options *o, struct kz_err *err)
{
	static const int ends[] = { SIGTERM, SIGINT, 0 };
	struct kz_conf c;
	size_t limit = kz_cell_files();
	enum kz_rc rc;

	if ((rc = kz_seal_init(err)) || (rc = kz_conf_load(&c, o->state, err)) ||
	    (rc = kz_str_copy(p->watch.state, sizeof p->watch.state, c.state, err)) ||
	    (rc = kz_conf_path(&c, "audit/audit.db", p->audit, sizeof p->audit, err)))
		return rc;
	choose_ids(p, &c.set);
	kz_px_book_init(&p->shared.book, limit > RESERVE + 64 ? (limit - RESERVE) / 2 : 32);
	if ((rc = kz_sig_open(ends, &p->signals, err)) || (rc = listen_unix(p, &c, err)) ||
	    (rc = listen_tcp(p, o->listen, err)) || (rc = leave(p, c.state, err)))
		return rc;
	p->shared.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return p->shared.wake < 0 ? kz_err_sys(err, KZ_E_OS, "eventfd") : KZ_OK;
}

static void publish(struct proxy *p, struct kz_px_world *w)
{
	struct kz_px_world *last;

	pthread_mutex_lock(&p->shared.lock);
	last = p->shared.world;
	p->shared.world = w;
	pthread_mutex_unlock(&p->shared.lock);
	atomic_store(&p->shared.number, w->number);
	atomic_store(&p->shared.read_ms, p->watch.read_ms);
	kz_px_world_give(last);
	for (size_t i = 0; i < p->running; i++)
		kz_px_loop_wake(p->loops[i]);
}

static enum kz_rc look(struct proxy *p, bool force, struct kz_err *err)
{
	struct kz_px_world *next = NULL;
	enum kz_rc rc = kz_px_world_next(&p->watch, p->shared.world, force, &next, err);

	if (rc == KZ_OK && next)
		publish(p, next);
	return rc;
}

static enum kz_rc start_all(struct proxy *p, size_t pipes, struct kz_err *err)
{
	enum kz_rc rc;

	watch_files(p);
	if ((rc = look(p, true, err)) || (rc = kz_px_audit_start(&p->shared.audit, p->audit, err)))
		return rc;
	for (size_t i = 0; i < p->count; i++) {
		if ((rc = kz_px_loop_new(&p->loops[i], &p->shared, pipes / p->count, err)))
			return rc;
		if (pthread_create(&p->loops[i]->thread, NULL, kz_px_loop_run, p->loops[i]) != 0)
			return kz_err_set(err, KZ_E_OS, "no thread for a loop");
		p->running++;
	}
	return kz_px_health_start(&p->health, &p->shared, p->health_listener, err);
}

/* -- life -- */

static void drain_fd(int fd)
{
	char buf[4096];

	while (read(fd, buf, sizeof buf) > 0)
		;
}

/* Until somebody ends it: files that change, keys that are not known, addresses that come and go. */
static void watch(struct proxy *p)
{
	struct pollfd f[3] = { { .fd = p->signals, .events = POLLIN },
			       { .fd = p->shared.wake, .events = POLLIN },
			       { .fd = p->files, .events = POLLIN } };

	for (;;) {
		int n = poll(f, 3, p->files >= 0 ? LOOK_MS : LOOK_MS / 4);

		if (n > 0 && f[0].revents && kz_sig_next(p->signals) > 0)
			return;
		if (n > 0 && f[1].revents)
			drain_fd(p->shared.wake);
		if (n > 0 && f[2].revents)
			drain_fd(p->files);
		(void)look(p, atomic_exchange(&p->shared.is_unknown, false), NULL);
	}
}

static void wake_all(struct proxy *p)
{
	for (size_t i = 0; i < p->running; i++)
		kz_px_loop_wake(p->loops[i]);
}

/* Nobody new; who is there has a moment to finish. */
static void drain(struct proxy *p)
{
	struct kz_deadline until = kz_deadline_in(GRACE);

	kz_log(KZ_LOG_INFO, "ending", "connections",
	       kz_log_int((long long)atomic_load(&p->shared.book.connections)), NULL);
	atomic_store(&p->shared.is_draining, true);
	wake_all(p);
	/* what waits to be taken is refused by the kernel, and asks the next one */
	close(kz_take_fd(&p->shared.listen_unix));
	if (p->shared.listen_tcp >= 0)
		close(kz_take_fd(&p->shared.listen_tcp));
	while (atomic_load(&p->shared.book.connections) > 0 && !kz_deadline_passed(until)) {
		struct pollfd f = { .fd = p->signals, .events = POLLIN };

		if (poll(&f, 1, 50) > 0 && kz_sig_next(p->signals) > 0)
			break; /* asked twice */
	}
}

static void end_all(struct proxy *p)
{
	atomic_store(&p->shared.is_over, true);
	wake_all(p);
	for (size_t i = 0; i < p->running; i++)
		pthread_join(p->loops[i]->thread, NULL);
	for (size_t i = 0; i < p->count; i++)
		kz_px_loop_free(p->loops[i]);
	if (p->health.shared)
		kz_px_health_stop(&p->health);
	if (p->shared.audit.table)
		kz_px_audit_stop(&p->shared.audit);
	kz_px_world_give(p->shared.world);
	kz_px_book_release(&p->shared.book);
}

static void tell_ready(int fd)
{
	if (fd >= 0 && write(fd, "\n", 1) == 1)
		close(fd);
}

enum kz_rc kz_proxy_run(const struct kz_proxy_options *o, struct kz_err *err)
{
	static const char *const odd[] = { "RES_OPTIONS", "LOCALDOMAIN", "HOSTALIASES",
					   "CARES_HOSTS" };
	struct proxy *p = calloc(1, sizeof *p);
	size_t pipes = kz_pipes_budget();
	enum kz_rc rc;

	if (!p)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	/* no stranger's word about names */
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		unsetenv(odd[i]);
	p->count = cores();
	p->signals = p->files = p->health_listener = p->shared.wake = p->shared.listen_unix =
		p->shared.listen_tcp = -1;
	pthread_mutex_init(&p->shared.lock, NULL);
	if ((rc = open_all(p, o, err)) == KZ_OK && (rc = start_all(p, pipes, err)) == KZ_OK) {
		kz_log(KZ_LOG_INFO, "serving", "connections_most",
		       kz_log_int((long long)p->shared.book.most), "loops",
		       kz_log_int((long long)p->count), NULL);
		tell_ready(o->ready_fd);
		watch(p);
		drain(p);
	}
	end_all(p);
	free(p);
	return rc;
}
