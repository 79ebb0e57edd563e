/* Descriptors and times of downloads and lookups. */
#include "core/broker/net.h"

#include <stdlib.h>

#include "base/log.h"

#define RESOLVE_MS 4500 /* within the 5 s that a host has to be reached */

struct watched {
	struct watched *next;
	struct kz_brk_net *n;
	int fd;
	bool is_dns;
	struct kz_watch *read, *write;
};

/* A resolver that others took the place of, until its questions are answered. */
struct former {
	struct former *next;
	struct kz_dns *dns;
};

struct kz_brk_net {
	struct kz_serve *s;
	struct kz_http_flow *flow;
	struct kz_dns *dns; /* NULL: nothing is resolved */
	struct former *former;
	struct kz_timer *flow_timer, *dns_timer;
	struct watched *first;
};

static int sooner(int ms, int other)
{
	return ms < 0 || (other >= 0 && other < ms) ? other : ms;
}

static void dns_time(struct kz_brk_net *n)
{
	int ms = n->dns ? kz_dns_wait_ms(n->dns) : -1;

	for (const struct former *o = n->former; o; o = o->next)
		ms = sooner(ms, kz_dns_open(o->dns) ? kz_dns_wait_ms(o->dns) : 0);
	(void)kz_timer_at(n->dns_timer, ms < 0 ? KZ_NEVER : kz_deadline_in(KZ_MS(ms)), NULL);
}

/* A descriptor is of one of them, and the others do not know it. An answer may bring another resolver in. */
static void ready_dns(struct kz_brk_net *n, int fd, bool is_read)
{
	if (n->dns)
		kz_dns_ready(n->dns, fd, is_read, !is_read);
	for (const struct former *o = n->former; o; o = o->next)
		kz_dns_ready(o->dns, fd, is_read, !is_read);
	dns_time(n);
}

/* What is called may forget the descriptor: nothing of w is looked at afterwards. */
static void ready(const struct watched *w, bool is_read)
{
	if (w->is_dns)
		ready_dns(w->n, w->fd, is_read);
	else
		kz_http_flow_ready(w->n->flow, w->fd, is_read, !is_read);
}

static void ready_read(void *arg)
{
	ready(arg, true);
}

static void ready_write(void *arg)
{
	ready(arg, false);
}

static void watched_free(struct watched **at)
{
	struct watched *w = *at;

	*at = w->next;
	kz_watch_free(w->read);
	kz_watch_free(w->write);
	free(w);
}

static void set(struct watched *w, struct kz_watch **which, bool on, enum kz_serve_what what,
		kz_serve_fn fn)
{
	if (on && !*which) {
		*which = kz_watch_new(w->n->s, w->fd, what, fn, w);
	} else if (!on) {
		kz_watch_free(*which);
		*which = NULL;
	}
}

static void watch(struct kz_brk_net *n, bool is_dns, int fd, bool is_read, bool is_write)
{
	struct watched **at = &n->first;

	while (*at && ((*at)->fd != fd || (*at)->is_dns != is_dns))
		at = &(*at)->next;
	if (!is_read && !is_write) {
		if (*at)
			watched_free(at);
		return;
	}
	if (!*at) {
		*at = calloc(1, sizeof **at);
		if (!*at)
			return; /* its time bounds end it */
		(*at)->n = n;
		(*at)->fd = fd;
		(*at)->is_dns = is_dns;
	}
	set(*at, &(*at)->read, is_read, KZ_SERVE_READ, ready_read);
	set(*at, &(*at)->write, is_write, KZ_SERVE_WRITE, ready_write);
}

static void watch_flow(void *arg, int fd, bool is_read, bool is_write)
{
	watch(arg, false, fd, is_read, is_write);
}

static void watch_dns(void *arg, int fd, bool is_read, bool is_write)
{
	watch(arg, true, fd, is_read, is_write);
}

static void time_flow(void *arg, int64_t ms)
{
	struct kz_brk_net *n = arg;

	(void)kz_timer_at(n->flow_timer, ms < 0 ? KZ_NEVER : kz_deadline_in(KZ_MS(ms)), NULL);
}

static void tick_flow(void *arg)
{
	kz_http_flow_tick(((struct kz_brk_net *)arg)->flow);
}

/* From the loop alone: a resolver must not go while it tells an answer. */
static void drop_former(struct kz_brk_net *n)
{
	for (struct former **at = &n->former; *at;) {
		struct former *o = *at;

		if (kz_dns_open(o->dns) > 0) {
			at = &o->next;
			continue;
		}
		*at = o->next;
		kz_dns_free(o->dns);
		free(o);
	}
}

static void tick_dns(void *arg)
{
	struct kz_brk_net *n = arg;

	if (n->dns)
		kz_dns_tick(n->dns);
	for (const struct former *o = n->former; o; o = o->next)
		kz_dns_tick(o->dns);
	drop_former(n);
	dns_time(n);
}

enum kz_rc kz_brk_net_new(struct kz_brk_net **out, struct kz_serve *s, struct kz_err *err)
{
	struct kz_brk_net *n = calloc(1, sizeof *n);
	enum kz_rc rc = KZ_OK;

	if (!n)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	n->s = s;
	n->flow_timer = kz_timer_new(s, tick_flow, n);
	n->dns_timer = kz_timer_new(s, tick_dns, n);
	if (!n->flow_timer || !n->dns_timer)
		rc = kz_err_set(err, KZ_E_OS, "cannot make a timer");
	if (rc)
		kz_brk_net_free(n);
	else
		*out = n;
	return rc;
}

void kz_brk_net_free(struct kz_brk_net *n)
{
	if (!n)
		return;
	kz_dns_free(n->dns);
	for (struct former *o; (o = n->former);) {
		n->former = o->next;
		kz_dns_free(o->dns);
		free(o);
	}
	kz_http_flow_free(n->flow);
	while (n->first)
		watched_free(&n->first);
	kz_timer_free(n->flow_timer);
	kz_timer_free(n->dns_timer);
	free(n);
}

enum kz_rc kz_brk_net_resolvers(struct kz_brk_net *n, const char *servers,
				enum kz_dns_families families, struct kz_err *err)
{
	struct former *o = n->dns ? malloc(sizeof *o) : NULL;
	enum kz_rc rc;

	if (n->dns && !o)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	if (o) {
		*o = (struct former){ n->former, n->dns };
		n->former = o;
	}
	n->dns = NULL;
	rc = kz_dns_new(&n->dns, servers, families, KZ_MS(RESOLVE_MS), watch_dns, n, err);
	dns_time(n);
	return rc;
}

struct kz_http_flow *kz_brk_net_flow(struct kz_brk_net *n)
{
	struct kz_err err = KZ_ERR_INIT;

	/* libcurl is loaded with it: a gateway that fetches nothing stays small */
	if (!n->flow && kz_http_flow_new(&n->flow, watch_flow, time_flow, n, &err) != KZ_OK)
		kz_log(KZ_LOG_ERROR, "no HTTP client", "text", err.text, NULL);
	return n->flow;
}

struct kz_dns_query *kz_brk_net_ask(struct kz_brk_net *n, const char *name, kz_dns_done done,
				    void *arg)
{
	struct kz_dns_query *q = n->dns ? kz_dns_ask(n->dns, name, done, arg) : NULL;

	dns_time(n);
	return q;
}

void kz_brk_net_cancel(struct kz_brk_net *n, struct kz_dns_query *q)
{
	kz_dns_cancel(q);
	dns_time(n);
}
