/* The gateway's server: what comes out for the bytes that go in, and what it bounds. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/sig.h"
#include "core/gateway/count.h"
#include "core/gateway/server.h"

#define EXECUTION "0123456789abcdef0123456789abcdef"
#define LINE "KZ-EXECUTION " EXECUTION "\n"
#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define PEERS 70

struct peer {
	int fd;
	char in[1 << 16];
	size_t n;
	bool is_over; /* the other side ended */
};

struct world {
	struct kz_serve *serve;
	struct kz_gw *gw;
	struct kz_timer *look;
	char dir[40], path[80];
	struct peer peers[PEERS];
	size_t count;
	bool (*until)(struct world *w);
	struct kz_deadline most;
	struct kz_gw_request *kept;
	int gone, drained;
	size_t left; /* bytes of a stream still to be written */
	char seen[200];
};

/* -- routes -- */

static void say(void *arg, struct kz_gw_request *r)
{
	struct world *w = arg;

	(void)snprintf(w->seen, sizeof w->seen, "%d %s %.*s %.*s", r->from, r->execution,
		       (int)r->path.n, r->path.p, (int)r->query.n, r->query.p);
	assert_true(r->is_tcp || r->uid == getuid());
	kz_gw_answer(r, 200, "text/plain", "hello", 5, "X-A: b\r\n");
}

static void on_gone(struct kz_gw_request *r)
{
	struct world *w = r->arg;

	w->gone++;
	w->kept = NULL;
}

static void keep(void *arg, struct kz_gw_request *r)
{
	struct world *w = arg;

	w->kept = r;
	r->arg = w;
	r->on_gone = on_gone;
}

static void pour(struct kz_gw_request *r)
{
	struct world *w = r->arg;
	static char block[16384];

	w->drained++;
	while (w->left > 0 && kz_gw_unsent(r) < 65536) {
		size_t n = w->left < sizeof block ? w->left : sizeof block;

		memset(block, 'x', sizeof block);
		if (kz_gw_write(r, block, n, NULL) != KZ_OK)
			return;
		w->left -= n;
	}
	if (w->left == 0)
		kz_gw_end(r);
}

static void stream(void *arg, struct kz_gw_request *r)
{
	struct world *w = arg;
	int64_t length = r->query.n ? (int64_t)w->left : -1;

	keep(arg, r);
	r->on_drained = pour;
	if (kz_gw_begin(r, 200, "text/plain", length, NULL, NULL) == KZ_OK)
		pour(r);
}

/* -- the harness: a loop with us as a peer in it -- */

static void read_peers(struct world *w)
{
	for (size_t i = 0; i < w->count; i++) {
		struct peer *p = &w->peers[i];
		ssize_t n;

		while (!p->is_over && p->n < sizeof p->in &&
		       (n = recv(p->fd, p->in + p->n, sizeof p->in - p->n, MSG_DONTWAIT)) != -1) {
			p->n += (size_t)n;
			p->is_over = n == 0;
		}
		if (!p->is_over && p->n < sizeof p->in && errno != EAGAIN)
			p->is_over = true;
	}
}

static void look(void *arg)
{
	struct world *w = arg;

	read_peers(w);
	if (w->until(w) || kz_deadline_passed(w->most))
		kz_serve_stop(w->serve);
}

static void run(struct world *w, bool (*until)(struct world *))
{
	w->until = until;
	w->most = kz_deadline_in(KZ_SECONDS(60));
	assert_int_equal(kz_serve_run(w->serve, NULL), KZ_OK);
	assert_true(until(w));
}

static struct peer *dial(struct world *w, const char *text, size_t n)
{
	struct peer *p = &w->peers[w->count++];

	assert_int_equal(kz_unix_connect(w->path, kz_deadline_in(KZ_SECONDS(20)), &p->fd, NULL),
			 KZ_OK);
	assert_int_equal(kz_fd_write_all(p->fd, text, n, NULL), KZ_OK);
	return p;
}

static void start(struct world *w, enum kz_gw_from from, bool is_tcp, struct kz_gw_limits m)
{
	const struct kz_gw_route routes[] = { { "/say", KZ_GW_WORKER | KZ_GW_OPERATOR, say, w },
					      { "/below/", KZ_GW_WORKER | KZ_GW_OPERATOR, say, w },
					      { "/below/kept/", KZ_GW_WORKER, keep, w },
					      { "/stream", KZ_GW_WORKER, stream, w },
					      { "/ours", KZ_GW_OPERATOR, say, w } };
	int fd = -1;

	memset(w, 0, sizeof *w);
	(void)snprintf(w->dir, sizeof w->dir, "/tmp/kz-gw.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	(void)snprintf(w->path, sizeof w->path, "%s/s", w->dir);
	assert_int_equal(kz_serve_new(&w->serve, NULL), KZ_OK);
	assert_int_equal(kz_gw_new(&w->gw, w->serve, &m, NULL), KZ_OK);
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
		assert_int_equal(kz_gw_add(w->gw, &routes[i], NULL), KZ_OK);
	assert_int_equal(kz_unix_listen(w->path, 0600, (gid_t)-1, 100, &fd, NULL), KZ_OK);
	assert_int_equal(kz_gw_listen(w->gw, fd, from, is_tcp, NULL), KZ_OK);
	w->look = kz_timer_new(w->serve, look, w);
	assert_int_equal(kz_timer_every(w->look, KZ_MS(5), NULL), KZ_OK);
}

static void stop(struct world *w)
{
	for (size_t i = 0; i < w->count; i++)
		close(w->peers[i].fd);
	kz_timer_free(w->look);
	kz_gw_free(w->gw);
	kz_serve_free(w->serve);
	unlink(w->path);
	rmdir(w->dir);
}

static bool is_one_over(struct world *w)
{
	return w->peers[0].is_over;
}

static bool is_last_over(struct world *w)
{
	return w->peers[w->count - 1].is_over;
}

static bool is_kept(struct world *w)
{
	return w->kept != NULL;
}

static bool is_gone(struct world *w)
{
	return w->gone > 0;
}

static bool is_full(struct world *w)
{
	return w->peers[0].n == sizeof w->peers[0].in;
}

static struct world *the_world(void)
{
	static struct world w;

	return &w;
}

/* What one connection gets for its bytes, with its end behind them. */
static const char *answer_to(const char *text, enum kz_gw_from from, bool is_tcp)
{
	struct world *w = the_world();
	struct peer *p;

	start(w, from, is_tcp, kz_gw_limits_default);
	p = dial(w, text, strlen(text));
	shutdown(p->fd, SHUT_WR);
	run(w, is_one_over);
	p->in[p->n < sizeof p->in ? p->n : sizeof p->in - 1] = 0;
	stop(w);
	return p->in;
}

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		n++;
		text++;
	}
	return n;
}

/* -- tests -- */

static void brk_5_a_worker_asks(void **state)
{
	const char *a = answer_to(LINE GET("/below/x%2fy?q"), KZ_GW_WORKER, false);

	(void)state;
	assert_int_equal(strncmp(a, "HTTP/1.1 200 OK\r\n", 17), 0);
	assert_non_null(strstr(a, "\r\nContent-Length: 5\r\n"));
	assert_non_null(strstr(a, "\r\nX-A: b\r\n"));
	assert_string_equal(strstr(a, "\r\n\r\n"), "\r\n\r\nhello");
	assert_string_equal(the_world()->seen, "1 " EXECUTION " /below/x%2fy q");
	/* without its line, or with that of another kind of listener, it is nobody */
	a = answer_to(GET("/say"), KZ_GW_WORKER, false);
	assert_int_equal(strncmp(a, "HTTP/1.1 400 ", 13), 0);
	a = answer_to(LINE GET("/say"), KZ_GW_OPERATOR, false);
	assert_int_equal(strncmp(a, "HTTP/1.1 400 ", 13), 0);
}

static void dep_5_keep_alive_and_pipelining(void **state)
{
	const char *a =
		answer_to(GET("/say") GET("/ours") "HEAD /say HTTP/1.1\r\nHost: a\r\n\r\n" GET(
				  "/say") "GET /say HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
					  "\r\n" GET("/say"),
			  KZ_GW_OPERATOR, false);

	(void)state;
	assert_int_equal(count_of(a, "HTTP/1.1 200 OK\r\n"), 5);
	assert_int_equal(count_of(a, "hello"), 4); /* HEAD has none */
	assert_int_equal(count_of(a, "Content-Length: 5"), 5);
	assert_int_equal(count_of(a, "Connection: close\r\n"), 1);
}

static void dep_5_refusals_end_the_connection(void **state)
{
	static const struct {
		const char *text;
		const char *status;
	} cases[] = {
		{ "POST /say HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nGET ", "405" },
		{ "GET /say HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nGET ", "413" },
		{ "GET /say HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		  "413" },
		{ "GET /say HTTP/1.1\r\n\r\n", "400" },
		{ "GET /say\nHost: a\n\n", "400" },
		{ "GET  /say HTTP/1.1\r\nHost: a\r\n\r\n", "400" },
		{ "\r\n\r\n", "400" },
		{ "\x16\x03\x01\x02", "400" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *a = answer_to(cases[i].text, KZ_GW_OPERATOR, false);

		assert_int_equal(strncmp(a + 9, cases[i].status, 3), 0);
		assert_int_equal(count_of(a, "HTTP/1.1 "), 1);
		assert_non_null(strstr(a, "\r\nConnection: close\r\n"));
		assert_non_null(strstr(a, "\"reason\":\""));
	}
	assert_non_null(
		strstr(answer_to("PUT /x HTTP/1.1\r\nHost: a\r\n\r\n", KZ_GW_OPERATOR, false),
		       "\r\nAllow: GET, HEAD\r\n"));
}

static void brk_5_a_route_is_of_a_listener(void **state)
{
	(void)state;
	assert_non_null(strstr(answer_to(LINE GET("/ours"), KZ_GW_WORKER, false), "route_unknown"));
	assert_non_null(strstr(answer_to(GET("/stream"), KZ_GW_OPERATOR, false), "route_unknown"));
	assert_non_null(strstr(answer_to(GET("/"), KZ_GW_OPERATOR, false), "HTTP/1.1 404 "));
}

static void dep_5_a_strangers_host_over_tcp(void **state)
{
	(void)state;
	assert_non_null(strstr(answer_to(GET("/say"), KZ_GW_OPERATOR, true), "HTTP/1.1 421 "));
	assert_non_null(strstr(answer_to("GET /say HTTP/1.1\r\nHost: localhost:8000\r\n\r\n",
					 KZ_GW_OPERATOR, true),
			       "HTTP/1.1 200 "));
}

static void dep_5_a_head_over_its_bound(void **state)
{
	static char big[KZ_HEAD_MAX + 100];
	int n = snprintf(big, sizeof big, "GET /say HTTP/1.1\r\nHost: a\r\nA: ");

	(void)state;
	memset(big + n, 'a', sizeof big - (size_t)n - 1);
	assert_non_null(strstr(answer_to(big, KZ_GW_OPERATOR, false), "HTTP/1.1 431 "));
}

/* A byte at a time is the same request. */
static void dep_5_in_pieces(void **state)
{
	static const char text[] = LINE GET("/say") GET("/say");
	struct world *w = the_world();
	struct peer *p;

	(void)state;
	start(w, KZ_GW_WORKER, false, kz_gw_limits_default);
	p = dial(w, "", 0);
	for (size_t i = 0; i < sizeof text - 1; i++) {
		assert_int_equal(kz_fd_write_all(p->fd, text + i, 1, NULL), KZ_OK);
		w->until = is_gone; /* not yet: a few turns of the loop */
		w->most = kz_deadline_in(KZ_MS(1));
		assert_int_equal(kz_serve_run(w->serve, NULL), KZ_OK);
	}
	shutdown(p->fd, SHUT_WR);
	run(w, is_one_over);
	p->in[p->n] = 0;
	assert_int_equal(count_of(p->in, "HTTP/1.1 200 OK"), 2);
	stop(w);
}

static struct kz_gw_limits quick(void)
{
	struct kz_gw_limits m = kz_gw_limits_default;

	m.head = KZ_MS(60);
	m.idle = KZ_MS(60);
	return m;
}

static void dep_5_a_slow_head_is_told(void **state)
{
	struct world *w = the_world();

	(void)state;
	start(w, KZ_GW_OPERATOR, false, quick());
	dial(w, "GET /say HT", 11);
	run(w, is_one_over);
	assert_int_equal(strncmp(w->peers[0].in, "HTTP/1.1 408 ", 13), 0);
	/* who says nothing at all is told nothing */
	dial(w, "", 0);
	run(w, is_last_over);
	assert_int_equal(w->peers[1].n, 0);
	/* nor who was answered and stays */
	dial(w, GET("/say"), strlen(GET("/say")));
	run(w, is_last_over);
	w->peers[2].in[w->peers[2].n] = 0;
	assert_int_equal(count_of(w->peers[2].in, "HTTP/1.1 "), 1);
	stop(w);
}

static void brk_5_a_peer_has_so_many(void **state)
{
	struct kz_gw_limits m = kz_gw_limits_default;
	struct world *w = the_world();

	(void)state;
	m.of_a_peer = 3;
	start(w, KZ_GW_WORKER, false, m);
	for (int i = 0; i < 4; i++)
		dial(w, LINE, strlen(LINE));
	run(w, is_last_over);
	assert_int_equal(strncmp(w->peers[3].in, "HTTP/1.1 503 ", 13), 0);
	assert_false(w->peers[0].is_over || w->peers[1].is_over || w->peers[2].is_over);
	stop(w);
	/* in all: the longest idle one goes, one at work does not */
	m.of_a_peer = 100;
	m.connections = 3;
	start(w, KZ_GW_WORKER, false, m);
	dial(w, LINE GET("/below/kept/"), strlen(LINE GET("/below/kept/")));
	run(w, is_kept);
	for (int i = 0; i < 4; i++) {
		dial(w, LINE, strlen(LINE));
		kz_time_sleep(KZ_MS(2), KZ_NEVER);
	}
	dial(w, LINE GET("/say"), strlen(LINE GET("/say")));
	shutdown(w->peers[5].fd, SHUT_WR);
	run(w, is_last_over);
	assert_int_equal(strncmp(w->peers[5].in, "HTTP/1.1 200 ", 13), 0);
	assert_false(w->peers[0].is_over);
	assert_int_equal(w->gone, 0);
	stop(w);
	assert_int_equal(w->gone, 1); /* the server's end tells the handler */
}

static void brk_5_a_peer_that_went(void **state)
{
	struct world *w = the_world();

	(void)state;
	start(w, KZ_GW_WORKER, false, kz_gw_limits_default);
	dial(w, LINE GET("/below/kept/"), strlen(LINE GET("/below/kept/")));
	run(w, is_kept);
	shutdown(w->peers[0].fd, SHUT_RDWR);
	run(w, is_gone);
	assert_int_equal(kz_gw_connections(w->gw), 0);
	stop(w);
	assert_int_equal(w->gone, 1);
}

static void brk_5_an_answer_that_comes_later(void **state)
{
	struct world *w = the_world();
	struct peer *p;

	(void)state;
	start(w, KZ_GW_WORKER, false, kz_gw_limits_default);
	p = dial(w, LINE GET("/below/kept/") GET("/say"),
		 strlen(LINE GET("/below/kept/") GET("/say")));
	run(w, is_kept);
	kz_gw_refuse(w->kept, 502, KZ_R_REGISTRY_ANSWER, NULL);
	shutdown(p->fd, SHUT_WR);
	run(w, is_one_over);
	p->in[p->n] = 0;
	assert_int_equal(strncmp(p->in, "HTTP/1.1 502 Bad Gateway\r\n", 26), 0);
	assert_non_null(strstr(p->in, "registry_answer"));
	assert_int_equal(count_of(p->in, "HTTP/1.1 200 "), 1);
	assert_int_equal(w->gone, 0);
	stop(w);
}

/* The bytes of a chunked body there are; whole: up to its end. */
static size_t body_of(const char *in, size_t n, bool *whole)
{
	const char *p = strstr(in, "\r\n\r\n"), *end = in + n;
	size_t got = 0;

	*whole = false;
	for (p = p ? p + 4 : end; p < end;) {
		char *after;
		size_t size = strtoul(p, &after, 16);

		if (size == 0) {
			*whole = strcmp(after, "\r\n\r\n") == 0;
			return got;
		}
		got += size;
		p = after + 2 + size + 2;
	}
	return got;
}

static void brk_5_streams(void **state)
{
	struct world *w = the_world();
	struct peer *p;
	bool whole;

	(void)state;
	start(w, KZ_GW_WORKER, false, kz_gw_limits_default);
	w->left = 40000;
	p = dial(w, LINE GET("/stream"), strlen(LINE GET("/stream")));
	shutdown(p->fd, SHUT_WR);
	run(w, is_one_over);
	p->in[p->n] = 0;
	assert_non_null(strstr(p->in, "\r\nTransfer-Encoding: chunked\r\n"));
	assert_int_equal(body_of(p->in, p->n, &whole), 40000);
	assert_true(whole);
	/* HTTP/1.0 has no way to tell the end of one */
	w->left = 10;
	p = dial(w, LINE "GET /stream HTTP/1.0\r\n\r\n",
		 strlen(LINE "GET /stream HTTP/1.0\r\n\r\n"));
	run(w, is_last_over);
	assert_int_equal(strncmp(p->in, "HTTP/1.1 505 ", 13), 0);
	p = dial(w, LINE "GET /stream?l HTTP/1.0\r\n\r\n",
		 strlen(LINE "GET /stream?l HTTP/1.0\r\n\r\n"));
	run(w, is_last_over);
	p->in[p->n] = 0;
	assert_string_equal(strstr(p->in, "\r\n\r\n"), "\r\n\r\nxxxxxxxxxx");
	stop(w);
}

static void brk_5_a_slow_reader_holds_little(void **state)
{
	struct world *w = the_world();
	struct kz_gw_limits m = quick();

	(void)state;
	start(w, KZ_GW_WORKER, false, m);
	w->left = 100 << 20;
	dial(w, LINE GET("/stream?l"), strlen(LINE GET("/stream?l")));
	/* it reads what its buffer takes, and then no more */
	run(w, is_full);
	assert_true(w->left > 90 << 20);
	assert_true(kz_gw_unsent(w->kept) <= 65536 + 16384);
	run(w, is_gone);
	assert_int_equal(kz_gw_connections(w->gw), 0);
	stop(w);
}

static void brk_5_too_much_is_cut(void **state)
{
	static char block[KZ_GW_UNSENT];
	struct world *w = the_world();
	struct kz_err err = KZ_ERR_INIT;
	struct peer *p;

	(void)state;
	start(w, KZ_GW_WORKER, false, kz_gw_limits_default);
	p = dial(w, LINE GET("/below/kept/"), strlen(LINE GET("/below/kept/")));
	run(w, is_kept);
	assert_int_equal(kz_gw_begin(w->kept, 200, "text/plain", -1, NULL, &err), KZ_OK);
	assert_int_equal(kz_gw_write(w->kept, block, sizeof block, &err), KZ_E_DATA);
	assert_int_equal(kz_gw_connections(w->gw), 0);
	run(w, is_one_over);
	/* and more than was announced, or less, is no whole answer */
	for (int i = 0; i < 2; i++) {
		w->kept = NULL;
		p = dial(w, LINE GET("/below/kept/"), strlen(LINE GET("/below/kept/")));
		run(w, is_kept);
		assert_int_equal(kz_gw_begin(w->kept, 200, "text/plain", 10, NULL, &err), KZ_OK);
		assert_int_equal(kz_gw_write(w->kept, "12345", 5, &err), KZ_OK);
		if (i)
			kz_gw_end(w->kept);
		else
			assert_int_equal(kz_gw_write(w->kept, "678901", 6, &err), KZ_E_DATA);
		run(w, is_last_over);
		p->in[p->n] = 0;
		assert_null(strstr(p->in, "678901"));
	}
	assert_int_equal(w->gone, 0);
	stop(w);
}

static void dep_5_counters(void **state)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(65536);
	struct kz_counts *c = kz_counts_new();
	char label[20];

	(void)state;
	*kz_count(c, "a_total", "x=\"1\"", "First.") += 3;
	++*kz_count(c, "b_total", "", "Second.");
	++*kz_count(c, "a_total", "x=\"2\"", "First.");
	++*kz_count(c, "a_total", "x=\"1\"", "First.");
	assert_int_equal(kz_counts_write(c, &b, NULL), KZ_OK);
	assert_string_equal(kz_buf_str(&b),
			    "# HELP a_total First.\n# TYPE a_total counter\na_total{x=\"1\"} 4\n"
			    "a_total{x=\"2\"} 1\n# HELP b_total Second.\n# TYPE b_total counter\n"
			    "b_total 1\n");
	for (int i = 0; i < KZ_COUNTS + 10; i++) {
		(void)snprintf(label, sizeof label, "i=\"%d\"", i);
		++*kz_count(c, "c_total", label, "Third.");
	}
	kz_buf_clear(&b);
	assert_int_equal(kz_counts_write(c, &b, NULL), KZ_OK);
	assert_int_equal(count_of(kz_buf_str(&b), "c_total{"), KZ_COUNTS - 3);
	kz_counts_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brk_5_a_worker_asks),
		cmocka_unit_test(dep_5_keep_alive_and_pipelining),
		cmocka_unit_test(dep_5_refusals_end_the_connection),
		cmocka_unit_test(brk_5_a_route_is_of_a_listener),
		cmocka_unit_test(dep_5_a_strangers_host_over_tcp),
		cmocka_unit_test(dep_5_a_head_over_its_bound),
		cmocka_unit_test(dep_5_in_pieces),
		cmocka_unit_test(dep_5_a_slow_head_is_told),
		cmocka_unit_test(brk_5_a_peer_has_so_many),
		cmocka_unit_test(brk_5_a_peer_that_went),
		cmocka_unit_test(brk_5_an_answer_that_comes_later),
		cmocka_unit_test(brk_5_streams),
		cmocka_unit_test(brk_5_a_slow_reader_holds_little),
		cmocka_unit_test(brk_5_too_much_is_cut),
		cmocka_unit_test(dep_5_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
