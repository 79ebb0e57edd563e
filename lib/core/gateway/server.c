/* The gateway's server: listeners, connections in all, routes. */
#include "core/gateway/server.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/gateway/count.h"
#include "core/gateway/server_parts.h"

const struct kz_gw_limits kz_gw_limits_default = {
	.connections = 1024, .of_a_peer = 64, .head = { 10000 }, .idle = { 60000 }
};

static void tick(void *arg)
{
	struct kz_gw *g = arg;
	int64_t now = kz_time_boot_ms();

	for (struct kz_gw_conn *c = g->conns, *next; c; c = next) {
		next = c->next;
		kz_gw_look(c, now);
	}
}

/* A server nobody talks to does not wake up. */
static void set_tick(struct kz_gw *g)
{
	int64_t ms = g->limits.head.ms < g->limits.idle.ms ? g->limits.head.ms : g->limits.idle.ms;

	ms = ms / 4 < 1000 ? ms / 4 + 1 : 1000;
	(void)kz_timer_every(g->tick, KZ_MS(g->count ? ms : 0), NULL);
}

void kz_gw_close(struct kz_gw_conn *c)
{
	struct kz_gw *g = c->g;

	if (c->state != KZ_GW_DEAD) {
		c->state = KZ_GW_DEAD;
		free(c->head_text);
		c->head_text = NULL;
		kz_conn_free(kz_take(c->conn));
		*(c->prev ? &c->prev->next : &g->conns) = c->next;
		if (c->next)
			c->next->prev = c->prev;
		if (--g->count == 0)
			set_tick(g);
	}
	if (!c->is_busy)
		free(c);
}

/* -- taking -- */

static bool is_same_peer(const struct kz_gw_conn *a, const struct kz_gw_conn *b)
{
	return a->r.from == b->r.from && (a->r.from == KZ_GW_OPERATOR || a->r.uid == b->r.uid);
}

/* Room for one more: whoever waits longest for nothing goes. out: false when all are at work, or the peer has too many */
static bool make_room(struct kz_gw *g, const struct kz_gw_conn *fresh)
{
	struct kz_gw_conn *idle = NULL;
	size_t of_peer = 0;

	for (struct kz_gw_conn *c = g->conns; c; c = c->next) {
		if (is_same_peer(c, fresh))
			of_peer++;
		if ((c->state == KZ_GW_READ || c->state == KZ_GW_LINGER) &&
		    (!idle || c->since_ms < idle->since_ms))
			idle = c;
	}
	if (of_peer >= g->limits.of_a_peer)
		return false;
	if (g->count < g->limits.connections)
		return true;
	if (idle)
		kz_gw_close(idle);
	return idle != NULL;
}

static bool know_peer(struct kz_gw_conn *c, int fd)
{
	struct ucred who;
	socklen_t n = sizeof who;

	c->r.uid = (uid_t)-1;
	if (c->r.is_tcp)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0)
		return false;
	c->r.uid = who.uid;
	return true;
}

static void turn_away(struct kz_gw *g, int fd)
{
	static const char no[] =
		"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

	++*g->turned_away;
	(void)send(fd, no, sizeof no - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void on_accept(void *arg, int fd)
{
	const struct kz_gw_listener *l = arg;
	struct kz_gw *g = l->g;
	struct kz_gw_conn *c = calloc(1, sizeof *c);

	++*g->taken;
	if (c) {
		c->g = g;
		c->r = (struct kz_gw_request){ .from = l->from,
					       .is_tcp = l->is_tcp,
					       .execution = c->execution };
		c->has_line = l->from == KZ_GW_OPERATOR;
		c->since_ms = kz_time_boot_ms();
	}
	if (!c || !know_peer(c, fd) || !make_room(g, c)) {
		turn_away(g, fd);
		free(c);
		return;
	}
	c->conn = kz_conn_new(g->serve, fd, KZ_HEAD_MAX + KZ_EXECUTION_LINE, &kz_gw_conn_calls, c);
	if (!c->conn) {
		free(c);
		return;
	}
	c->next = g->conns;
	if (c->next)
		c->next->prev = c;
	g->conns = c;
	if (g->count++ == 0)
		set_tick(g);
}

/* -- the whole -- */

enum kz_rc kz_gw_new(struct kz_gw **out, struct kz_serve *s, const struct kz_gw_limits *limits,
		     struct kz_err *err)
{
	struct kz_gw *g = calloc(1, sizeof *g);

	if (!g || !(g->counts = kz_counts_new()) || !(g->tick = kz_timer_new(s, tick, g))) {
		kz_gw_free(g);
		return kz_err_set(err, KZ_E_OS, "cannot make the server");
	}
	g->serve = s;
	g->limits = *limits;
	g->names = g->listen = "";
	g->taken = kz_count(g->counts, "kz_gateway_connections_total", "", "Connections taken.");
	g->turned_away = kz_count(g->counts, "kz_gateway_connections_refused_total", "",
				  "Connections turned away because there were too many.");
	g->late = kz_count(
		g->counts, "kz_gateway_connections_late_total", "",
		"Connections ended because a head, or the reading of an answer, took too long.");
	*out = g;
	return KZ_OK;
}

void kz_gw_free(struct kz_gw *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < KZ_GW_LISTENERS; i++)
		if (g->listeners[i].watch) {
			kz_watch_free(g->listeners[i].watch);
			close(g->listeners[i].fd);
		}
	while (g->conns) {
		kz_gw_over(g->conns);
		kz_gw_close(g->conns);
	}
	kz_timer_free(g->tick);
	kz_counts_free(g->counts);
	free(g);
}

struct kz_counts *kz_gw_counts(struct kz_gw *g)
{
	return g->counts;
}

size_t kz_gw_connections(const struct kz_gw *g)
{
	return g->count;
}

enum kz_rc kz_gw_add(struct kz_gw *g, const struct kz_gw_route *route, struct kz_err *err)
{
	if (g->route_count == KZ_GW_ROUTES)
		return kz_err_set(err, KZ_E_SOFTWARE, "too many routes");
	g->routes[g->route_count++] = *route;
	return KZ_OK;
}

enum kz_rc kz_gw_listen(struct kz_gw *g, int fd, enum kz_gw_from from, bool is_tcp,
			struct kz_err *err)
{
	struct kz_gw_listener *l = g->listeners;

	while (l < g->listeners + KZ_GW_LISTENERS && l->watch)
		l++;
	if (l == g->listeners + KZ_GW_LISTENERS) {
		close(fd);
		return kz_err_set(err, KZ_E_SOFTWARE, "too many listeners");
	}
	*l = (struct kz_gw_listener){ .g = g, .fd = fd, .from = from, .is_tcp = is_tcp };
	l->watch = kz_serve_listen(g->serve, fd, on_accept, l);
	if (l->watch)
		return KZ_OK;
	close(fd);
	return kz_err_set(err, KZ_E_OS, "cannot watch a listener");
}

void kz_gw_unlisten(struct kz_gw *g)
{
	for (size_t i = 0; i < KZ_GW_LISTENERS; i++) {
		struct kz_gw_listener *l = &g->listeners[i];

		if (!l->watch || !l->is_tcp)
			continue;
		kz_watch_free(kz_take(l->watch));
		close(l->fd);
	}
}

void kz_gw_hosts(struct kz_gw *g, const char *names, const char *listen)
{
	g->names = names;
	g->listen = listen;
}
