/* Event loop over libevent's core: watches, timerfd deadlines, bufferevents. */
#include "port/serve.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define ACCEPTS 32 /* in one turn of the loop */

struct kz_serve {
	struct event_base *base;
};

struct kz_watch {
	struct event *ev;
	int fd;
	kz_serve_fn fn;
	kz_accept_fn on_accept;
	void *arg;
};

struct kz_timer {
	int fd;
	struct kz_watch *watch;
	kz_serve_fn fn;
	void *arg;
};

struct kz_conn {
	struct bufferevent *bev;
	struct kz_conn_calls calls;
	void *arg;
	bool is_finishing, is_broken;
};

enum kz_rc kz_serve_new(struct kz_serve **out, struct kz_err *err)
{
	struct event_config *cfg = event_config_new();
	struct kz_serve *s = calloc(1, sizeof *s);

	if (!cfg || !s) {
		free(s);
		if (cfg)
			event_config_free(cfg);
		return kz_err_set(err, KZ_E_OS, "out of memory");
	}
	event_config_set_flag(cfg, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV);
	s->base = event_base_new_with_config(cfg);
	event_config_free(cfg);
	if (!s->base) {
		free(s);
		return kz_err_set(err, KZ_E_OS, "cannot make an event loop");
	}
	*out = s;
	return KZ_OK;
}

void kz_serve_free(struct kz_serve *s)
{
	if (!s)
		return;
	event_base_free(s->base);
	free(s);
}

enum kz_rc kz_serve_run(struct kz_serve *s, struct kz_err *err)
{
	if (event_base_dispatch(s->base) < 0)
		return kz_err_set(err, KZ_E_OS, "the event loop failed");
	return KZ_OK;
}

void kz_serve_stop(struct kz_serve *s)
{
	event_base_loopbreak(s->base);
}

static void watch_ready(evutil_socket_t fd, short what, void *arg)
{
	struct kz_watch *w = arg;

	(void)fd;
	(void)what;
	w->fn(w->arg);
}

struct kz_watch *kz_watch_new(struct kz_serve *s, int fd, enum kz_serve_what what, kz_serve_fn fn,
			      void *arg)
{
	struct kz_watch *w = calloc(1, sizeof *w);
	short ev = EV_PERSIST;

	if (!w)
		return NULL;
	if (what & KZ_SERVE_READ)
		ev |= EV_READ;
	if (what & KZ_SERVE_WRITE)
		ev |= EV_WRITE;
	w->fd = fd;
	w->fn = fn;
	w->arg = arg;
	w->ev = event_new(s->base, fd, ev, watch_ready, w);
	if (!w->ev || event_add(w->ev, NULL) < 0) {
		kz_watch_free(w);
		return NULL;
	}
	return w;
}

void kz_watch_enable(struct kz_watch *w, bool on)
{
	if (on)
		event_add(w->ev, NULL);
	else
		event_del(w->ev);
}

void kz_watch_free(struct kz_watch *w)
{
	if (!w)
		return;
	if (w->ev)
		event_free(w->ev);
	free(w);
}

static void timer_fired(void *arg)
{
	struct kz_timer *t = arg;
	uint64_t n;

	if (read(t->fd, &n, sizeof n) == (ssize_t)sizeof n)
		t->fn(t->arg);
}

struct kz_timer *kz_timer_new(struct kz_serve *s, kz_serve_fn fn, void *arg)
{
	struct kz_timer *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	t->fn = fn;
	t->arg = arg;
	t->fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (t->fd >= 0)
		t->watch = kz_watch_new(s, t->fd, KZ_SERVE_READ, timer_fired, t);
	if (!t->watch) {
		kz_timer_free(t);
		return NULL;
	}
	return t;
}

static struct timespec span(int64_t ms)
{
	return (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000 };
}

enum kz_rc kz_timer_at(struct kz_timer *t, struct kz_deadline at, struct kz_err *err)
{
	struct itimerspec its = { 0 };

	if (at.boot_ms != KZ_NEVER.boot_ms) {
		its.it_value = span(at.boot_ms > 0 ? at.boot_ms : 0);
		if (!its.it_value.tv_sec && !its.it_value.tv_nsec)
			its.it_value.tv_nsec = 1; /* all zero would disarm it */
	}
	if (timerfd_settime(t->fd, TFD_TIMER_ABSTIME, &its, NULL) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot set a timer");
	return KZ_OK;
}

enum kz_rc kz_timer_every(struct kz_timer *t, struct kz_ms period, struct kz_err *err)
{
	struct itimerspec its = { .it_interval = span(period.ms), .it_value = span(period.ms) };

	if (timerfd_settime(t->fd, 0, &its, NULL) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot set a timer");
	return KZ_OK;
}

void kz_timer_free(struct kz_timer *t)
{
	if (!t)
		return;
	kz_watch_free(t->watch);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

static void accept_ready(evutil_socket_t fd, short what, void *arg)
{
	struct kz_watch *w = arg;

	(void)what;
	/* what is left is told again: who connects without end must not keep the loop from all others */
	for (int i = 0; i < ACCEPTS; i++) {
		int c = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (c < 0) {
			if (errno == EINTR || errno == ECONNABORTED)
				continue;
			return;
		}
		w->on_accept(w->arg, c);
	}
}

struct kz_watch *kz_serve_listen(struct kz_serve *s, int fd, kz_accept_fn fn, void *arg)
{
	struct kz_watch *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->fd = fd;
	w->on_accept = fn;
	w->arg = arg;
	w->ev = event_new(s->base, fd, EV_READ | EV_PERSIST, accept_ready, w);
	if (!w->ev || event_add(w->ev, NULL) < 0) {
		kz_watch_free(w);
		return NULL;
	}
	return w;
}

static void conn_read(struct bufferevent *bev, void *arg)
{
	struct kz_conn *c = arg;

	if (c->is_finishing)
		evbuffer_drain(bufferevent_get_input(bev),
			       evbuffer_get_length(bufferevent_get_input(bev)));
	else
		c->calls.on_data(c->arg);
}

static void conn_drained(struct bufferevent *bev, void *arg)
{
	struct kz_conn *c = arg;

	(void)bev;
	/* deferred: more may have been written since it was drained */
	if (kz_conn_unsent(c))
		return;
	if (c->is_finishing)
		c->calls.on_closed(c->arg);
	else if (c->calls.on_drained)
		c->calls.on_drained(c->arg);
}

static void conn_event(struct bufferevent *bev, short what, void *arg)
{
	struct kz_conn *c = arg;

	(void)bev;
	if (what & BEV_EVENT_ERROR)
		c->is_broken = true;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		c->calls.on_closed(c->arg);
}

struct kz_conn *kz_conn_new(struct kz_serve *s, int fd, size_t max,
			    const struct kz_conn_calls *calls, void *arg)
{
	struct kz_conn *c = calloc(1, sizeof *c);

	if (!c) {
		close(fd);
		return NULL;
	}
	c->calls = *calls;
	c->arg = arg;
	/* deferred: a callback never runs inside kz_conn_write */
	c->bev = bufferevent_socket_new(s->base, fd, BEV_OPT_DEFER_CALLBACKS);
	if (!c->bev) {
		close(fd);
		free(c);
		return NULL;
	}
	bufferevent_setwatermark(c->bev, EV_READ, 0, max);
	bufferevent_setcb(c->bev, conn_read, conn_drained, conn_event, c);
	if (bufferevent_enable(c->bev, EV_READ | EV_WRITE) < 0) {
		kz_conn_free(c);
		return NULL;
	}
	return c;
}

/* libevent frees, and would close, in a later turn of the loop; who counts descriptors in this one shall not find it. */
void kz_conn_free(struct kz_conn *c)
{
	int fd;

	if (!c)
		return;
	fd = bufferevent_getfd(c->bev);
	bufferevent_setcb(c->bev, NULL, NULL, NULL, NULL);
	bufferevent_setfd(c->bev, -1);
	bufferevent_free(c->bev);
	if (fd >= 0)
		close(fd);
	free(c);
}

size_t kz_conn_ready(const struct kz_conn *c)
{
	return evbuffer_get_length(bufferevent_get_input(c->bev));
}

const void *kz_conn_peek(struct kz_conn *c, size_t n)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);

	if (n == 0 || evbuffer_get_length(in) < n)
		return NULL;
	return evbuffer_pullup(in, (ev_ssize_t)n);
}

void kz_conn_drop(struct kz_conn *c, size_t n)
{
	evbuffer_drain(bufferevent_get_input(c->bev), n);
}

enum kz_rc kz_conn_write(struct kz_conn *c, const void *p, size_t n, struct kz_err *err)
{
	if (bufferevent_write(c->bev, p, n) < 0)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	return KZ_OK;
}

size_t kz_conn_unsent(const struct kz_conn *c)
{
	return evbuffer_get_length(bufferevent_get_output(c->bev));
}

void kz_conn_finish(struct kz_conn *c)
{
	c->is_finishing = true;
	if (kz_conn_unsent(c) == 0)
		bufferevent_trigger(c->bev, EV_WRITE, 0);
}

void kz_conn_shut(struct kz_conn *c)
{
	(void)shutdown(bufferevent_getfd(c->bev), SHUT_WR);
}

bool kz_conn_is_broken(const struct kz_conn *c)
{
	return c->is_broken;
}
