/* Passing a program's connections on to the egress proxy. */
#include "worker/forward.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/flow.h"
#include "base/str.h"

#define QUEUE 16 /* connections that wait for a place */
/*
 * The kernel doubles these for its own bookkeeping: 320 KiB a connection; what was read
 * and waits is 64 KiB up and at most what the proxy may have sent (208 KiB) down.
 */
#define TCP_IN (32 << 10)
#define TCP_OUT (64 << 10)
#define UNIX_OUT (64 << 10)
#define PIPES_MOST 4
#define QUANTUM (256 << 10) /* then others have their turn */
/* The proxy's queue may be full for a moment. */
#define RETRY_PERIOD KZ_MS(10)
#define RETRY_MOST 300

struct link {
	struct kz_forward *f;
	int tcp, sock; /* the program's side, the proxy's (-1: not connected yet) */
	int tries;
	bool has_flows, is_up_done, is_down_done;
	bool is_up_dead;         /* nothing more goes up; the rest of what came down is passed on */
	struct kz_flow up, down; /* tcp to sock, sock to tcp */
	struct kz_watch *tcp_in, *tcp_out, *sock_in, *sock_out;
};

struct kz_forward {
	struct kz_serve *serve;
	int proxy_dir;
	int listener;
	char preamble[64];
	struct kz_watch *accepting;
	struct kz_timer *retry;
	struct kz_pipes pipes;
	struct link *links[KZ_FORWARD_MOST];
	int count;
	bool was_used;
};

bool kz_forward_is_execution(const char *text)
{
	return text && strlen(text) == KZ_EXECUTION_HEX &&
	       strspn(text, "0123456789abcdef") == KZ_EXECUTION_HEX;
}

static void set_size(int fd, int what, int bytes)
{
	/* a kernel that knows better is still bounded by its own maximum */
	(void)setsockopt(fd, SOL_SOCKET, what, &bytes, sizeof bytes);
}

int kz_forward_listen(void)
{
	kz_auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(KZ_FORWARD_PORT) };
	int on = 1;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return -1;
	/* what is accepted inherits these */
	set_size(fd, SO_RCVBUF, TCP_IN);
	set_size(fd, SO_SNDBUF, TCP_OUT);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, QUEUE) < 0)
		return -1;
	return kz_take_fd(&fd);
}

static void forget(struct link *l)
{
	struct kz_forward *f = l->f;

	for (int i = 0; i < f->count; i++)
		if (f->links[i] == l) {
			f->links[i] = f->links[--f->count];
			break;
		}
}

/* in: is_reset: the program's side learns it as a reset, and nothing of the connection outlives this call */
static void drop(struct link *l, bool is_reset)
{
	const struct linger none = { .l_onoff = 1, .l_linger = 0 };

	kz_watch_free(l->tcp_in);
	kz_watch_free(l->tcp_out);
	kz_watch_free(l->sock_in);
	kz_watch_free(l->sock_out);
	if (l->has_flows) {
		kz_flow_release(&l->up);
		kz_flow_release(&l->down);
	}
	if (is_reset)
		(void)setsockopt(l->tcp, SOL_SOCKET, SO_LINGER, &none, sizeof none);
	close(l->tcp);
	if (l->sock >= 0)
		close(l->sock);
	forget(l);
	/* a place is free */
	if (l->f->accepting)
		kz_watch_enable(l->f->accepting, true);
	free(l);
}

static enum kz_flow_what move(struct kz_flow *flow, struct kz_watch *in, struct kz_watch *out)
{
	enum kz_flow_what what = kz_flow_step(flow, QUANTUM);

	kz_watch_enable(in, what == KZ_FLOW_WANT_READ || what == KZ_FLOW_MORE);
	kz_watch_enable(out, what == KZ_FLOW_WANT_WRITE);
	return what;
}

static void go_down(void *arg)
{
	struct link *l = arg;
	enum kz_flow_what what = move(&l->down, l->sock_in, l->tcp_out);

	if (what == KZ_FLOW_FAILED || (what == KZ_FLOW_WANT_READ && l->is_up_dead))
		drop(l, true);
	else if (what == KZ_FLOW_DONE && (l->is_up_done || l->is_up_dead))
		drop(l, l->is_up_dead && !l->is_up_done);
	else if (what == KZ_FLOW_DONE)
		l->is_down_done = true;
}

static void go_up(void *arg)
{
	struct link *l = arg;
	enum kz_flow_what what = move(&l->up, l->tcp_in, l->sock_out);

	if (what == KZ_FLOW_DONE)
		l->is_up_done = true;
	if (what == KZ_FLOW_FAILED && !l->is_down_done) {
		/* the proxy may have answered and closed: what it said still goes down */
		l->is_up_dead = true;
		go_down(l);
	} else if (what == KZ_FLOW_FAILED || (l->is_up_done && l->is_down_done)) {
		drop(l, what == KZ_FLOW_FAILED);
	}
}

/* out: descriptor, or -1 and errno; EAGAIN: the proxy's queue is full */
static int connect_proxy(const struct kz_forward *f)
{
	kz_auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	/* by its name in the directory each time: a proxy that was started again has another socket there */
	if (fd < 0 || kz_str_format(at.sun_path, sizeof at.sun_path, NULL,
				    "/proc/self/fd/%d/proxy.sock", f->proxy_dir) != KZ_OK)
		return -1;
	set_size(fd, SO_SNDBUF, UNIX_OUT);
	if (connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
		return -1;
	return kz_take_fd(&fd);
}

static bool begin_flows(struct link *l)
{
	struct kz_forward *f = l->f;

	if (!kz_flow_init(&l->up, &f->pipes, l->tcp, l->sock, f->preamble, strlen(f->preamble)))
		return false;
	if (!kz_flow_init(&l->down, &f->pipes, l->sock, l->tcp, NULL, 0)) {
		kz_flow_release(&l->up);
		return false;
	}
	l->has_flows = f->was_used = true;
	l->tcp_in = kz_watch_new(f->serve, l->tcp, KZ_SERVE_READ, go_up, l);
	l->sock_out = kz_watch_new(f->serve, l->sock, KZ_SERVE_WRITE, go_up, l);
	l->sock_in = kz_watch_new(f->serve, l->sock, KZ_SERVE_READ, go_down, l);
	l->tcp_out = kz_watch_new(f->serve, l->tcp, KZ_SERVE_WRITE, go_down, l);
	if (!l->tcp_in || !l->sock_out || !l->sock_in || !l->tcp_out)
		return false;
	kz_watch_enable(l->tcp_out, false);
	return true;
}

/* out: false: it must be tried again; the link may be gone afterwards */
static bool try_link(struct link *l)
{
	l->sock = connect_proxy(l->f);
	if (l->sock < 0 && errno == EAGAIN && ++l->tries < RETRY_MOST)
		return false;
	/* a proxy that is not there: the program's connection is refused, the run goes on */
	if (l->sock < 0 || !begin_flows(l))
		drop(l, true);
	else
		go_up(l);
	return true;
}

static void retry_soon(struct kz_forward *f)
{
	if (kz_timer_at(f->retry, kz_deadline_in(RETRY_PERIOD), NULL) == KZ_OK)
		return;
	for (int i = f->count - 1; i >= 0; i--)
		if (f->links[i]->sock < 0)
			drop(f->links[i], true);
}

static void retry(void *arg)
{
	struct kz_forward *f = arg;
	bool again = false;

	/* backwards: dropping one puts the last in its place */
	for (int i = f->count - 1; i >= 0; i--)
		if (f->links[i]->sock < 0)
			again |= !try_link(f->links[i]);
	if (f->accepting && f->count < KZ_FORWARD_MOST)
		kz_watch_enable(f->accepting, true);
	if (again)
		retry_soon(f);
}

static void take(struct kz_forward *f, int tcp)
{
	struct link *l = calloc(1, sizeof *l);

	if (!l) {
		close(tcp);
		return;
	}
	l->f = f;
	l->tcp = tcp;
	l->sock = -1;
	f->links[f->count++] = l;
	if (!try_link(l))
		retry_soon(f);
}

static void accept_ready(void *arg)
{
	struct kz_forward *f = arg;

	while (f->count < KZ_FORWARD_MOST) {
		int tcp = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (tcp >= 0) {
			take(f, tcp);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			return;
		/* out of descriptors or memory: not at once again */
		kz_watch_enable(f->accepting, false);
		retry_soon(f);
		return;
	}
	kz_watch_enable(f->accepting, false);
}

struct kz_forward *kz_forward_new(struct kz_serve *s, int proxy_dir)
{
	struct kz_forward *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	f->serve = s;
	f->proxy_dir = proxy_dir;
	f->listener = -1;
	/* made once: descriptors of process 1 are counted */
	f->retry = kz_timer_new(s, retry, f);
	if (!f->retry) {
		free(f);
		return NULL;
	}
	return f;
}

void kz_forward_free(struct kz_forward *f)
{
	if (!f)
		return;
	kz_forward_end(f);
	kz_timer_free(f->retry);
	free(f);
}

enum kz_rc kz_forward_start(struct kz_forward *f, int listener, const char *execution,
			    struct kz_err *err)
{
	size_t budget = kz_pipes_budget();

	kz_forward_end(f);
	f->listener = listener;
	kz_pipes_init(&f->pipes, budget < PIPES_MOST ? budget : PIPES_MOST);
	f->accepting = kz_watch_new(f->serve, listener, KZ_SERVE_READ, accept_ready, f);
	if (!f->accepting || kz_str_format(f->preamble, sizeof f->preamble, err,
					   "KZ-EXECUTION %s\n", execution) != KZ_OK) {
		kz_forward_end(f);
		return kz_err_set(err, KZ_E_OS, "cannot listen for the program's connections");
	}
	return KZ_OK;
}

bool kz_forward_was_used(struct kz_forward *f)
{
	bool was = f->was_used;

	f->was_used = false;
	return was;
}

void kz_forward_end(struct kz_forward *f)
{
	if (f->listener < 0)
		return;
	kz_watch_free(f->accepting);
	f->accepting = NULL;
	while (f->count)
		drop(f->links[f->count - 1], true);
	kz_timer_at(f->retry, KZ_NEVER, NULL);
	kz_pipes_release(&f->pipes);
	close(f->listener);
	f->listener = -1;
	explicit_bzero(f->preamble, sizeof f->preamble);
}
