/* One event loop: epoll, the resolver's descriptors, the turn. */
#include "core/egress/proxy_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

#define EVENTS 256
#define DNS_AGAIN_MS 1000 /* between two tries to make a resolver */

/* What an event is about: the address of an end (even), or one of these with a descriptor above. */
enum { ABOUT_UNIX = 1, ABOUT_TCP = 3, ABOUT_WAKE = 5, ABOUT_DNS = 7 };

static uint64_t about(int what, int fd)
{
	return (uint64_t)(uint32_t)fd << 8 | (uint64_t)what;
}

static bool watch_fd(struct kz_px_loop *l, int fd, uint32_t events, int what)
{
	struct epoll_event e = { .events = events, .data.u64 = about(what, fd) };

	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

bool kz_px_watch_end(struct kz_px_loop *l, struct kz_px_end *e)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
				  .data.u64 = (uint64_t)(uintptr_t)e };

	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, e->fd, &ev) == 0;
}

void kz_px_hear(struct kz_px_loop *l, struct kz_px_end *e, bool is_heard)
{
	struct epoll_event ev = { .events = (is_heard ? EPOLLIN : 0u) | EPOLLOUT | EPOLLRDHUP |
					    EPOLLET,
				  .data.u64 = (uint64_t)(uintptr_t)e };

	if (e->is_deaf == !is_heard)
		return;
	if (epoll_ctl(l->epoll, EPOLL_CTL_MOD, e->fd, &ev) == 0)
		e->is_deaf = !is_heard;
}

void kz_px_ready(struct kz_px_conn *c)
{
	struct kz_px_loop *l = c->loop;

	if (c->is_ready)
		return;
	c->is_ready = true;
	c->ready = (struct kz_px_link){ NULL, l->ready };
	if (l->ready)
		l->ready->ready.prev = c;
	l->ready = c;
}

/* -- the resolver -- */

static void on_dns_watch(void *arg, int fd, bool is_read, bool is_write)
{
	struct kz_px_loop *l = arg;
	struct epoll_event e = { .events = (is_read ? EPOLLIN : 0u) | (is_write ? EPOLLOUT : 0u),
				 .data.u64 = about(ABOUT_DNS, fd) };

	if (!is_read && !is_write)
		(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, &e);
	else if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) != 0 && errno == EEXIST)
		(void)epoll_ctl(l->epoll, EPOLL_CTL_MOD, fd, &e);
}

static bool same_resolver(const struct kz_px_world *a, const struct kz_px_world *b)
{
	return a->families == b->families && a->connect_ms == b->connect_ms &&
	       a->is_servers_unusable == b->is_servers_unusable &&
	       a->resolv_mark == b->resolv_mark && strcmp(a->servers, b->servers) == 0;
}

static void make_resolver(struct kz_px_loop *l)
{
	const struct kz_px_world *w = l->world;
	struct kz_err err = KZ_ERR_INIT;

	l->dns_ms = l->now_ms;
	if (w->is_servers_unusable ||
	    kz_dns_new(&l->dns, w->servers, w->families, KZ_MS(w->connect_ms), on_dns_watch, l,
		       &err) != KZ_OK)
		kz_log(KZ_LOG_ERROR, "no resolver, so every name is refused", "setting",
		       "KZ_EGRESS_RESOLVERS", "text", err.text[0] ? err.text : NULL, NULL);
}

/* A new resolver when its settings changed; what was asked of the old one is still answered. */
static void renew_resolver(struct kz_px_loop *l, const struct kz_px_world *last)
{
	if (last && same_resolver(last, l->world) && l->dns)
		return;
	kz_dns_free(l->dns_old);
	l->dns_old = l->dns;
	l->dns = NULL;
	make_resolver(l);
}

bool kz_px_resolver(struct kz_px_loop *l)
{
	/* memory or descriptors were out when it was to be made */
	if (!l->dns && l->now_ms - l->dns_ms >= DNS_AGAIN_MS)
		make_resolver(l);
	return l->dns != NULL;
}

static void tick_dns(struct kz_px_loop *l)
{
	if (l->dns)
		kz_dns_tick(l->dns);
	if (!l->dns_old)
		return;
	kz_dns_tick(l->dns_old);
	if (kz_dns_open(l->dns_old) == 0) {
		kz_dns_free(l->dns_old);
		l->dns_old = NULL;
	}
}

static void ready_dns(struct kz_px_loop *l, int fd, uint32_t events)
{
	bool is_read = events & (EPOLLIN | EPOLLERR | EPOLLHUP), is_write = events & EPOLLOUT;

	/* a descriptor is of one of the two, and the other does not know it */
	if (l->dns)
		kz_dns_ready(l->dns, fd, is_read, is_write);
	if (l->dns_old)
		kz_dns_ready(l->dns_old, fd, is_read, is_write);
}

/* -- a new set, the end -- */

static void take_world(struct kz_px_loop *l)
{
	struct kz_px_shared *s = l->shared;
	struct kz_px_world *last = l->world;

	pthread_mutex_lock(&s->lock);
	l->world = kz_px_world_take(s->world);
	pthread_mutex_unlock(&s->lock);
	renew_resolver(l, last);
	kz_px_world_give(last);
	for (struct kz_px_conn *c = l->all, *next; c; c = next) {
		next = c->all.next;
		if (c->state == KZ_PX_PARKED)
			kz_px_judge_again(c);
		else if (c->grant && c->state != KZ_PX_ANSWER && c->state != KZ_PX_LINGER &&
			 kz_px_standing(c) != KZ_R_NONE)
			kz_px_refuse(c, kz_px_standing(c));
	}
}

/* Nobody new; who has not asked for anything yet goes. */
static void close_doors(struct kz_px_loop *l)
{
	l->is_closing = true;
	(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->shared->listen_unix, NULL);
	if (l->shared->listen_tcp >= 0)
		(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->shared->listen_tcp, NULL);
	for (struct kz_px_conn *c = l->heads, *next; c; c = next) {
		next = c->heads.next;
		kz_px_close(c, false);
	}
}

static void wake(struct kz_px_loop *l)
{
	uint64_t n;

	(void)!read(l->wake, &n, sizeof n);
	if (l->world->number != atomic_load(&l->shared->number))
		take_world(l);
	if (atomic_load(&l->shared->is_draining) && !l->is_closing)
		close_doors(l);
}

void kz_px_loop_wake(struct kz_px_loop *l)
{
	uint64_t one = 1;

	(void)!write(l->wake, &one, sizeof one);
}

/* -- turns -- */

static void on_event(struct kz_px_loop *l, const struct epoll_event *e)
{
	int fd = (int)(e->data.u64 >> 8);
	struct kz_px_end *end;

	switch (e->data.u64 & 1 ? (int)(e->data.u64 & 0xff) : 0) {
	case ABOUT_UNIX:
	case ABOUT_TCP: kz_px_accept(l, fd, (e->data.u64 & 0xff) == ABOUT_TCP); return;
	case ABOUT_WAKE: wake(l); return;
	case ABOUT_DNS: ready_dns(l, fd, e->events); return;
	default:
		end = (struct kz_px_end *)(uintptr_t)e->data.u64;
		kz_px_event(end->conn, end == &end->conn->server, e->events);
	}
}

/* Those that had more to move than one turn's share. */
static void go_on(struct kz_px_loop *l)
{
	struct kz_px_conn *c, *list = l->ready;

	l->ready = NULL;
	while ((c = list)) {
		list = c->ready.next;
		c->is_ready = false;
		c->ready = (struct kz_px_link){ NULL, NULL };
		if (list)
			list->ready.prev = NULL;
		if (c->state != KZ_PX_DEAD)
			kz_px_event(c, false, 0);
	}
}

static void bury(struct kz_px_loop *l)
{
	while (l->dead) {
		struct kz_px_conn *c = l->dead;

		l->dead = c->all.next;
		free(c);
	}
}

static int wait_ms(const struct kz_px_loop *l)
{
	int ms = kz_px_timers_wait(l), dns = l->dns ? kz_dns_wait_ms(l->dns) : -1;
	int old = l->dns_old ? kz_dns_wait_ms(l->dns_old) : -1;

	if (l->ready)
		return 0;
	if (dns >= 0 && (ms < 0 || dns < ms))
		ms = dns;
	return old >= 0 && (ms < 0 || old < ms) ? old : ms;
}

void *kz_px_loop_run(void *arg)
{
	struct kz_px_loop *l = arg;
	struct epoll_event events[EVENTS];

	while (!atomic_load(&l->shared->is_over) && (!l->is_closing || l->count > 0)) {
		int n = epoll_wait(l->epoll, events, EVENTS, wait_ms(l));

		l->now_ms = kz_time_boot_ms();
		for (int i = 0; i < n; i++)
			on_event(l, &events[i]);
		tick_dns(l);
		go_on(l);
		kz_px_timers(l);
		bury(l);
	}
	return NULL;
}

enum kz_rc kz_px_loop_new(struct kz_px_loop **out, struct kz_px_shared *s, size_t pipes,
			  struct kz_err *err)
{
	struct kz_px_loop *l = calloc(1, sizeof *l);

	if (!l)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	l->shared = s;
	l->now_ms = kz_time_boot_ms();
	l->tick = l->now_ms / KZ_PX_TICK_MS;
	l->head_most = s->book.most / 8 + 16;
	kz_pipes_init(&l->pipes, pipes);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	l->spare = open("/", O_PATH | O_CLOEXEC);
	*out = l;
	if (l->epoll < 0 || l->wake < 0 || l->spare < 0 ||
	    !watch_fd(l, l->wake, EPOLLIN, ABOUT_WAKE) ||
	    !watch_fd(l, s->listen_unix, EPOLLIN | EPOLLEXCLUSIVE, ABOUT_UNIX) ||
	    (s->listen_tcp >= 0 &&
	     !watch_fd(l, s->listen_tcp, EPOLLIN | EPOLLEXCLUSIVE, ABOUT_TCP)))
		return kz_err_sys(err, KZ_E_OS, "no event loop");
	l->world = kz_px_world_take(s->world);
	renew_resolver(l, NULL);
	return KZ_OK;
}

void kz_px_loop_free(struct kz_px_loop *l)
{
	if (!l)
		return;
	while (l->all)
		kz_px_close(l->all, true);
	bury(l);
	kz_dns_free(l->dns);
	kz_dns_free(l->dns_old);
	kz_pipes_release(&l->pipes);
	kz_px_world_give(l->world);
	if (l->epoll >= 0)
		close(l->epoll);
	if (l->wake >= 0)
		close(l->wake);
	if (l->spare >= 0)
		close(l->spare);
	free(l);
}
