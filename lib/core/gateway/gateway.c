/* The gateway: its start, its address, its end. */
#include "core/gateway/gateway.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/cell.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/sig.h"
#include "base/str.h"
#include "core/broker/broker.h"
#include "core/conf/conf.h"
#include "core/conf/listen.h"
#include "core/gateway/pages.h"
#include "core/jail/service.h"

#define BACKLOG 1024
#define PACKAGE_KEY "keys/package.key" /* below STATE */
#define AGAIN KZ_SECONDS(10)           /* an address that is taken is tried again */
#define RESERVE 256                    /* descriptors that are for no connection */

struct gateway {
	struct kz_conf conf;
	struct kz_serve *serve;
	struct kz_gw *gw;
	struct kz_facts *facts;
	struct kz_share *share;
	struct kz_pages *pages;
	struct kz_broker *broker;
	struct kz_gw_address address;
	char hosts[256];
	int signals, files;
	struct kz_watch *signal_watch, *file_watch;
	struct kz_timer *again;
	bool is_lost; /* the process that asks ended, or the key it watches was replaced: we end, and are started again */
	uid_t uid;
	gid_t gid;
};

/* -- the TCP address -- */

static void try_address(void *arg)
{
	struct gateway *g = arg;
	struct kz_gw_address *a = &g->address;
	enum kz_reason before = a->reason;
	struct kz_err err = KZ_ERR_INIT;
	int fd = -1;

	a->reason = KZ_R_NONE;
	if (!a->at[0] || a->is_listening)
		return;
	if (kz_tcp_listen(a->at, BACKLOG, &fd, &err) == KZ_OK &&
	    kz_gw_listen(g->gw, fd, KZ_GW_OPERATOR, true, &err) == KZ_OK) {
		a->is_listening = true;
		kz_log(KZ_LOG_INFO, "listening", "address", a->at, NULL);
		return;
	}
	a->reason = KZ_R_GATEWAY_LISTEN;
	(void)kz_str_copy(a->text, sizeof a->text, kz_reason_text(a->reason), NULL);
	if (strlen(err.text) < sizeof a->text)
		(void)kz_str_copy(a->text, sizeof a->text, err.text, NULL);
	if (before == KZ_R_NONE)
		kz_log(KZ_LOG_WARNING,
		       "the address is not listened on; it is tried again every 10 s", "reason",
		       kz_reason_code(a->reason), "text", a->text, NULL);
	(void)kz_timer_at(g->again, kz_deadline_in(AGAIN), NULL);
}

/* What the settings say now of the address and the names. */
static void take_settings(struct gateway *g)
{
	const struct kz_settings *s = &g->conf.set;

	(void)kz_str_copy(g->hosts, sizeof g->hosts, s->kz_gateway_hosts, NULL);
	if (strcmp(g->address.at, s->kz_gateway_listen) == 0)
		return;
	if (g->address.is_listening)
		kz_gw_unlisten(g->gw);
	g->address.is_listening = false;
	g->address.reason = KZ_R_NONE;
	(void)kz_str_copy(g->address.at, sizeof g->address.at, s->kz_gateway_listen, NULL);
	(void)kz_timer_at(g->again, KZ_NEVER, NULL);
	try_address(g);
}

static void on_file(void *arg)
{
	struct gateway *g = arg;
	struct kz_conf next;
	char buf[4096];

	while (read(g->files, buf, sizeof buf) > 0)
		;
	kz_broker_changed(g->broker);
	/* settings that make no sense leave the former ones; kz status tells */
	if (kz_conf_load(&next, g->conf.state, NULL) != KZ_OK)
		return;
	g->conf.set = next.set;
	take_settings(g);
}

static void on_signal(void *arg)
{
	struct gateway *g = arg;

	if (kz_sig_next(g->signals) > 0)
		kz_serve_stop(g->serve);
}

static void on_lost(void *arg)
{
	struct gateway *g = arg;

	g->is_lost = true;
	kz_serve_stop(g->serve);
}

/* -- start -- */

/* A user id of its own, below those of the workers and kz-proxy's; the group of kz reads settings. */
static void choose_ids(struct gateway *g)
{
	const struct kz_settings *s = &g->conf.set;
	const struct group *gr = s->kz_group[0] && geteuid() == 0 ? getgrnam(s->kz_group) : NULL;

	g->uid = (uid_t)s->kz_uid_base - 2;
	g->gid = gr ? gr->gr_gid : getegid();
}

static enum kz_rc listen_unix(struct gateway *g, const char *suffix, mode_t mode, gid_t gid,
			      enum kz_gw_from from, struct kz_err *err)
{
	char path[300];
	int fd = -1;
	enum kz_rc rc;

	if ((rc = kz_conf_path(&g->conf, suffix, path, sizeof path, err)) ||
	    (rc = kz_unix_listen(path, mode, gid, BACKLOG, &fd, err)))
		return rc;
	return kz_gw_listen(g->gw, fd, from, false, err);
}

static enum kz_rc open_sockets(struct gateway *g, struct kz_err *err)
{
	char path[300];
	enum kz_rc rc;

	if ((rc = kz_conf_path(&g->conf, KZ_GATEWAY_DIR, path, sizeof path, err)) ||
	    (rc = kz_dir_make(AT_FDCWD, path, 0711, (gid_t)-1, err)) ||
	    (rc = listen_unix(g, KZ_GATEWAY_SOCKET, 0666, (gid_t)-1, KZ_GW_WORKER, err)))
		return rc;
	return listen_unix(g, KZ_GATEWAY_ADMIN, 0660, g->gid, KZ_GW_OPERATOR, err);
}

/*
 * Of the files: public keys, settings, the key of package tokens and no other, /etc, and code that is loaded
 * when somebody needs it (an HTTP client).  No socket: Valkey's would be the authority over every lease.
 * And the calls that would make one, or start a program.
 */
static enum kz_rc leave(const struct gateway *g, struct kz_err *err)
{
	char root[300], public[300], env[300], key[300];
	const struct kz_cell_show shown[] = { { .path = public },
					      { .path = env },
					      { .path = key, .is_file = true },
					      { .path = "/usr/lib", .is_code = true },
					      { .path = "/lib", .is_code = true } };
	const struct kz_cell cell = { "kz-gateway", root, shown, 5, g->uid, g->gid };
	enum kz_rc rc;

	if ((rc = kz_conf_path(&g->conf, "log", root, sizeof root, err)) ||
	    (rc = kz_conf_path(&g->conf, "public", public, sizeof public, err)) ||
	    (rc = kz_conf_path(&g->conf, "env", env, sizeof env, err)) ||
	    (rc = kz_conf_path(&g->conf, PACKAGE_KEY, key, sizeof key, err)))
		return rc;
	rc = kz_cell_enter(&cell, err);
	return rc == KZ_OK ? kz_jail_service(err) : rc;
}

static struct kz_gw_limits limits(void)
{
	struct kz_gw_limits m = kz_gw_limits_default;
	size_t files = kz_cell_files();

	files = files > RESERVE + 64 ? (files - RESERVE) / 2 : 32;
	if (m.connections > files)
		m.connections = files;
	return m;
}

static enum kz_rc watch_files(struct gateway *g, struct kz_err *err)
{
	char path[300];
	enum kz_rc rc = kz_conf_path(&g->conf, "env", path, sizeof path, err);

	if (rc != KZ_OK)
		return rc;
	g->files = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (g->files < 0 || inotify_add_watch(g->files, path, IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot watch the settings");
	g->file_watch = kz_watch_new(g->serve, g->files, KZ_SERVE_READ, on_file, g);
	g->signal_watch = kz_watch_new(g->serve, g->signals, KZ_SERVE_READ, on_signal, g);
	g->again = kz_timer_new(g->serve, try_address, g);
	return g->file_watch && g->signal_watch && g->again ?
		       KZ_OK :
		       kz_err_set(err, KZ_E_OS, "out of memory");
}

static enum kz_rc open_all(struct gateway *g, const char *state, struct kz_err *err)
{
	static const int ends[] = { SIGTERM, SIGINT, 0 };
	struct kz_gw_limits m;
	char key[300];
	enum kz_rc rc;

	if ((rc = kz_conf_load(&g->conf, state, err)) ||
	    (rc = kz_conf_path(&g->conf, PACKAGE_KEY, key, sizeof key, err)) ||
	    (rc = kz_facts_start(&g->facts, key, err)) ||
	    (rc = kz_share_start(&g->share, g->conf.state, err)))
		return rc;
	choose_ids(g);
	m = limits();
	if ((rc = kz_sig_open(ends, &g->signals, err)) || (rc = kz_serve_new(&g->serve, err)) ||
	    (rc = kz_gw_new(&g->gw, g->serve, &m, err)) ||
	    (rc = kz_facts_serve(g->facts, g->serve, on_lost, g, err)) ||
	    (rc = kz_pages_new(&g->pages, g->gw, g->facts, &g->address, g->conf.state, err)) ||
	    (rc = kz_broker_new(&g->broker, g->serve, g->gw, g->share, g->conf.state, err)) ||
	    (rc = open_sockets(g, err)) || (rc = watch_files(g, err)))
		return rc;
	kz_gw_hosts(g->gw, g->hosts, g->address.at);
	/* a port below 1024 needs the rights that go now */
	take_settings(g);
	return leave(g, err);
}

static void close_all(struct gateway *g)
{
	kz_broker_free(g->broker);
	kz_gw_free(g->gw);
	kz_pages_free(g->pages);
	kz_facts_free(g->facts);
	kz_share_free(g->share);
	kz_watch_free(g->signal_watch);
	kz_watch_free(g->file_watch);
	kz_timer_free(g->again);
	kz_serve_free(g->serve);
	if (g->signals >= 0)
		close(g->signals);
	if (g->files >= 0)
		close(g->files);
	free(g);
}

static void tell_ready(int fd)
{
	if (fd >= 0 && write(fd, "\n", 1) == 1)
		close(fd);
}

enum kz_rc kz_gateway_run(const struct kz_gateway_options *o, struct kz_err *err)
{
	struct gateway *g = calloc(1, sizeof *g);
	enum kz_rc rc;

	if (!g)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	g->signals = g->files = -1;
	g->address.reason = KZ_R_NONE;
	if ((rc = open_all(g, o->state, err)) == KZ_OK) {
		kz_log(KZ_LOG_INFO, "serving", "address",
		       g->address.is_listening ? g->address.at : "none", NULL);
		tell_ready(o->ready_fd);
		rc = kz_serve_run(g->serve, err);
		kz_log(KZ_LOG_INFO, "ending", "connections",
		       kz_log_int((long long)kz_gw_connections(g->gw)), NULL);
	}
	if (g->is_lost && kz_facts_is_replaced(g->facts))
		kz_log(KZ_LOG_INFO, "the key of package tokens was replaced; starting again", NULL);
	else if (rc == KZ_OK && g->is_lost)
		rc = kz_err_set(err, KZ_E_OS, "the process that asks for the status ended");
	close_all(g);
	return rc;
}
