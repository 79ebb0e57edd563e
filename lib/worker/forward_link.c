/* One connection of the program: its other half outside, and the bytes between them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "worker/forward_parts.h"

#define UNIX_OUT (64 << 10)
#define QUANTUM (256 << 10) /* then others have their turn */
#define RETRY_MOST 300

struct kz_link {
	struct kz_forward *f;
	int tcp, sock; /* the program's side, the other (-1: not connected yet) */
	int tries;
	bool has_flows, is_up_done, is_down_done;
	bool is_up_dead;         /* nothing more goes up; the rest of what came down is passed on */
	struct kz_flow up, down; /* tcp to sock, sock to tcp */
	struct kz_watch *tcp_in, *tcp_out, *sock_in, *sock_out;
};

void kz_link_size(int fd, int what, int bytes)
{
	/* a kernel that knows better is still bounded by its own maximum */
	(void)setsockopt(fd, SOL_SOCKET, what, &bytes, sizeof bytes);
}

static void forget(struct kz_link *l)
{
	struct kz_forward *f = l->f;

	for (int i = 0; i < f->count; i++)
		if (f->links[i] == l) {
			f->links[i] = f->links[--f->count];
			break;
		}
}

void kz_link_drop(struct kz_link *l, bool is_reset)
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
	struct kz_link *l = arg;
	enum kz_flow_what what = move(&l->down, l->sock_in, l->tcp_out);

	if (what == KZ_FLOW_FAILED || (what == KZ_FLOW_WANT_READ && l->is_up_dead))
		kz_link_drop(l, true);
	else if (what == KZ_FLOW_DONE && (l->is_up_done || l->is_up_dead))
		kz_link_drop(l, l->is_up_dead && !l->is_up_done);
	else if (what == KZ_FLOW_DONE)
		l->is_down_done = true;
}

static void go_up(void *arg)
{
	struct kz_link *l = arg;
	enum kz_flow_what what = move(&l->up, l->tcp_in, l->sock_out);

	if (what == KZ_FLOW_DONE)
		l->is_up_done = true;
	if (what == KZ_FLOW_FAILED && !l->is_down_done) {
		/* the proxy may have answered and closed: what it said still goes down */
		l->is_up_dead = true;
		go_down(l);
	} else if (what == KZ_FLOW_FAILED || (l->is_up_done && l->is_down_done)) {
		kz_link_drop(l, what == KZ_FLOW_FAILED);
	}
}

/* out: descriptor, or -1 and errno; EAGAIN: the queue there is full */
static int connect_out(const struct kz_forward *f)
{
	kz_auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	/* by its name in the directory each time: a service that was started again has another socket there */
	if (fd < 0 || kz_str_format(at.sun_path, sizeof at.sun_path, NULL, "/proc/self/fd/%d/%s",
				    f->dirs[f->way], kz_way_text(f->way)->socket) != KZ_OK)
		return -1;
	kz_link_size(fd, SO_SNDBUF, UNIX_OUT);
	if (connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
		return -1;
	return kz_take_fd(&fd);
}

static bool begin_flows(struct kz_link *l)
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

bool kz_link_try(struct kz_link *l)
{
	l->sock = connect_out(l->f);
	if (l->sock < 0 && errno == EAGAIN && ++l->tries < RETRY_MOST)
		return false;
	/* a proxy that is not there: the program's connection is refused, the run goes on */
	if (l->sock < 0 || !begin_flows(l))
		kz_link_drop(l, true);
	else
		go_up(l);
	return true;
}

struct kz_link *kz_link_new(struct kz_forward *f, int tcp)
{
	struct kz_link *l = calloc(1, sizeof *l);

	if (!l) {
		close(tcp);
		return NULL;
	}
	l->f = f;
	l->tcp = tcp;
	l->sock = -1;
	f->links[f->count++] = l;
	return l;
}

bool kz_link_is_waiting(const struct kz_link *l)
{
	return l->sock < 0;
}
