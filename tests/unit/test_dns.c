/* port/dns: what an answer may hold, and questions against a server of the test's own. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
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

#include "port/dns.h"
#include "port/dns_parts.h"

/* -- messages -- */

struct message {
	uint8_t p[4096];
	size_t n;
};

static void put2(struct message *m, unsigned v)
{
	m->p[m->n++] = (uint8_t)(v >> 8);
	m->p[m->n++] = (uint8_t)v;
}

static void put_name(struct message *m, const char *name)
{
	while (*name) {
		size_t n = strcspn(name, ".");

		m->p[m->n++] = (uint8_t)n;
		memcpy(m->p + m->n, name, n);
		m->n += n;
		name += n + (name[n] == '.');
	}
	m->p[m->n++] = 0;
}

static void question(struct message *m, const char *name, unsigned type)
{
	m->n = 0;
	put2(m, 1);
	put2(m, 0x8180);
	put2(m, 1);
	put2(m, 0);
	put2(m, 0);
	put2(m, 0);
	put_name(m, name);
	put2(m, type);
	put2(m, 1);
}

static void record(struct message *m, const char *owner, unsigned type, const void *data, size_t n)
{
	put_name(m, owner);
	put2(m, type);
	put2(m, 1);
	put2(m, 0);
	put2(m, 0);
	put2(m, (unsigned)n);
	memcpy(m->p + m->n, data, n);
	m->n += n;
	m->p[7]++;
	m->p[6] = (uint8_t)(m->p[6] + (m->p[7] == 0));
}

static void alias(struct message *m, const char *owner, const char *to)
{
	struct message data = { .n = 0 };

	put_name(&data, to);
	record(m, owner, 5, data.p, data.n);
}

static void address(struct message *m, const char *owner, uint8_t last)
{
	const uint8_t a[4] = { 93, 184, 216, last };

	record(m, owner, 1, a, 4);
}

static enum kz_dns_rc read_it(const struct message *m, struct kz_dns_found *f)
{
	f->count = 0;
	return kz_dns_answer(m->p, m->n, "a.example", 4, f);
}

static void test_answer(void **state)
{
	struct kz_dns_found f;
	struct message m;

	(void)state;
	question(&m, "a.example", 1);
	assert_int_equal(KZ_DNS_OK, read_it(&m, &f));
	assert_int_equal(0, f.count);
	address(&m, "A.EXAMPLE", 1);
	address(&m, "a.example", 2);
	address(&m, "a.example", 2); /* twice the same */
	assert_int_equal(KZ_DNS_OK, read_it(&m, &f));
	assert_int_equal(2, f.count);
	assert_int_equal(2, f.addr[1].bytes[3]);
	/* an address of somebody else */
	address(&m, "b.example", 3);
	assert_int_equal(KZ_DNS_FAILED, read_it(&m, &f));
	/* a record of another length */
	question(&m, "a.example", 1);
	record(&m, "a.example", 1, "\1\2\3", 3);
	assert_int_equal(KZ_DNS_FAILED, read_it(&m, &f));
}

/* PROXY-4: the chain in any order, and no more than eight of it */
static void test_aliases(void **state)
{
	struct kz_dns_found f;
	struct message m;
	char from[32], to[32];

	(void)state;
	question(&m, "a.example", 1);
	address(&m, "c.example", 1);
	alias(&m, "b.example", "c.example");
	alias(&m, "a.example", "b.example");
	assert_int_equal(KZ_DNS_OK, read_it(&m, &f));
	assert_int_equal(1, f.count);
	/* an address beside the alias */
	address(&m, "a.example", 2);
	assert_int_equal(KZ_DNS_FAILED, read_it(&m, &f));
	for (int length = 8; length <= 9; length++) {
		question(&m, "a.example", 1);
		for (int i = 0; i < length; i++) {
			snprintf(from, sizeof from, i ? "x%d.example" : "a.example", i);
			snprintf(to, sizeof to, "x%d.example", i + 1);
			alias(&m, from, to);
		}
		address(&m, to, 1);
		assert_int_equal(length == 8 ? KZ_DNS_OK : KZ_DNS_TOO_MANY, read_it(&m, &f));
	}
	/* a loop */
	question(&m, "a.example", 1);
	alias(&m, "a.example", "b.example");
	alias(&m, "b.example", "a.example");
	assert_int_equal(KZ_DNS_TOO_MANY, read_it(&m, &f));
}

static void test_too_many(void **state)
{
	struct kz_dns_found f;
	struct message m;

	(void)state;
	question(&m, "a.example", 1);
	for (int i = 0; i < 64; i++)
		address(&m, "a.example", (uint8_t)i);
	assert_int_equal(KZ_DNS_OK, read_it(&m, &f));
	assert_int_equal(64, f.count);
	address(&m, "a.example", 64);
	assert_int_equal(KZ_DNS_TOO_MANY, read_it(&m, &f));
}

/* Every cut and every changed byte is answered without a crash. */
static void test_nonsense(void **state)
{
	struct kz_dns_found f;
	struct message m, cut;

	(void)state;
	question(&m, "a.example", 1);
	alias(&m, "a.example", "b.example");
	address(&m, "b.example", 1);
	cut = m;
	cut.p[2] &= 0x7f; /* a question that holds records is no answer */
	assert_int_equal(KZ_DNS_FAILED, read_it(&cut, &f));
	for (size_t n = 0; n < m.n; n++) {
		cut = m;
		cut.n = n;
		assert_int_equal(KZ_DNS_FAILED, read_it(&cut, &f));
		for (int v = 0; v < 256; v++) {
			cut = m;
			cut.p[n] = (uint8_t)v;
			read_it(&cut, &f);
			assert_true(f.count <= 1);
		}
	}
}

/* -- a server -- */

struct server {
	int fd;
	uint16_t port;
	pthread_t thread;
	char heard[64][80]; /* NAME TYPE */
	int count;
};

static void reply(struct server *s, struct message *m, const struct sockaddr_in *to)
{
	(void)!sendto(s->fd, m->p, m->n, 0, (const struct sockaddr *)to, sizeof *to);
}

/* By the first label: both, v4only, nx, servfail4, servfail6, silent, rebind. */
static void answer(struct server *s, const uint8_t *ask, size_t n, const struct sockaddr_in *from)
{
	static const uint8_t six[16] = { 0x26, 0x06, 0x47 };
	static uint8_t turn;
	char name[256] = "";
	struct message m;
	size_t at = 12;
	unsigned type;

	while (at < n && ask[at]) {
		snprintf(name + strlen(name), sizeof name - strlen(name), "%s%.*s",
			 *name ? "." : "", ask[at], (const char *)ask + at + 1);
		at += ask[at] + 1u;
	}
	type = (unsigned)ask[at + 1] << 8 | ask[at + 2];
	snprintf(s->heard[s->count++ % 64], 80, "%.70s %u", name, type);
	question(&m, name, type);
	memcpy(m.p, ask, 2);
	/* as it was asked: the case of letters may be a nonce */
	memcpy(m.p + 12, ask + 12, at - 12);
	if (strncmp(name, "silent", 6) == 0)
		return;
	if (strncasecmp(name, type == 1 ? "servfail4" : "servfail6", 9) == 0)
		m.p[3] |= 2;
	else if (strncasecmp(name, "nx", 2) == 0)
		m.p[3] |= 3;
	else if (type == 1)
		address(&m, name, strncasecmp(name, "rebind", 6) == 0 ? ++turn : 34);
	else if (strncasecmp(name, "v4only", 6) != 0)
		record(&m, name, 28, six, 16);
	reply(s, &m, from);
}

static void *serve(void *arg)
{
	struct server *s = arg;
	struct sockaddr_in from;
	uint8_t ask[1500];

	for (;;) {
		socklen_t len = sizeof from;
		ssize_t n = recvfrom(s->fd, ask, sizeof ask, 0, (struct sockaddr *)&from, &len);

		if (n <= 1)
			return NULL;
		answer(s, ask, (size_t)n, &from);
	}
}

static int server_start(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;
	struct server *s = calloc(1, sizeof *s);

	if (!s)
		return -1;
	s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(s->fd, (struct sockaddr *)&at, len) ||
	    getsockname(s->fd, (struct sockaddr *)&at, &len))
		return -1;
	s->port = ntohs(at.sin_port);
	*state = s;
	return pthread_create(&s->thread, NULL, serve, s);
}

static int server_stop(void **state)
{
	struct server *s = *state;
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				  .sin_port = htons(s->port) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)!sendto(fd, "q", 1, 0, (struct sockaddr *)&at, sizeof at);
	pthread_join(s->thread, NULL);
	close(fd);
	close(s->fd);
	free(s);
	return 0;
}

/* -- an owner's loop -- */

struct owner {
	struct pollfd fds[16];
	int count;
	int calls;
	enum kz_dns_rc rc;
	size_t n;
	struct kz_dns_addr a[KZ_DNS_MOST];
};

static void watch(void *arg, int fd, bool r, bool w)
{
	struct owner *o = arg;
	int i = 0;

	while (i < o->count && o->fds[i].fd != fd)
		i++;
	if (i == o->count)
		o->fds[o->count++].fd = fd;
	o->fds[i].events = (short)((r ? POLLIN : 0) | (w ? POLLOUT : 0));
	if (!r && !w)
		o->fds[i] = o->fds[--o->count];
}

static void done(void *arg, enum kz_dns_rc rc, const struct kz_dns_addr *a, size_t n)
{
	struct owner *o = arg;

	o->calls++;
	o->rc = rc;
	o->n = n;
	memcpy(o->a, a, n * sizeof *a);
}

static void turn(struct kz_dns *d, struct owner *o)
{
	int wait = kz_dns_wait_ms(d);

	poll(o->fds, (nfds_t)o->count, wait < 0 || wait > 100 ? 100 : wait);
	for (int i = 0; i < o->count; i++)
		if (o->fds[i].revents) {
			short got = o->fds[i].revents;

			kz_dns_ready(d, o->fds[i].fd, got & (POLLIN | POLLERR), got & POLLOUT);
			break;
		}
	kz_dns_tick(d);
}

static struct kz_dns *resolver(struct server *s, enum kz_dns_families families, int64_t ms,
			       struct owner *o)
{
	char servers[64];
	struct kz_dns *d = NULL;
	struct kz_err err = KZ_ERR_INIT;

	snprintf(servers, sizeof servers, "127.0.0.1:%u", s->port);
	if (kz_dns_new(&d, servers, families, KZ_MS(ms), watch, o, &err))
		fail_msg("%s", err.text);
	return d;
}

/* How many different questions since then: one that is not answered soon is asked again. */
static int asked(const struct server *s, int since)
{
	int n = 0;

	for (int i = since; i < s->count; i++) {
		bool is_new = true;

		for (int k = since; k < i; k++)
			is_new = is_new && strcasecmp(s->heard[k % 64], s->heard[i % 64]) != 0;
		n += is_new;
	}
	return n;
}

static void resolve(struct kz_dns *d, struct owner *o, const char *name)
{
	o->calls = 0;
	assert_non_null(kz_dns_ask(d, name, done, o));
	while (o->calls == 0)
		turn(d, o);
	assert_int_equal(1, o->calls);
	assert_int_equal(0, kz_dns_open(d));
}

static void test_families(void **state)
{
	struct owner o = { .count = 0 };
	struct server *s = *state;
	struct kz_dns *d = resolver(s, KZ_DNS_BOTH, 40000, &o);

	resolve(d, &o, "both.test");
	assert_int_equal(KZ_DNS_OK, o.rc);
	assert_int_equal(2, o.n);
	assert_int_equal(2, asked(s, 0));
	resolve(d, &o, "v4only.test");
	assert_int_equal(KZ_DNS_OK, o.rc);
	assert_int_equal(1, o.n);
	resolve(d, &o, "nx.test");
	assert_int_equal(KZ_DNS_OK, o.rc);
	assert_int_equal(0, o.n);
	/* one family failing refuses the name */
	resolve(d, &o, "servfail6.test");
	assert_int_equal(KZ_DNS_FAILED, o.rc);
	assert_int_equal(0, o.n);
	resolve(d, &o, "servfail4.test");
	assert_int_equal(KZ_DNS_FAILED, o.rc);
	kz_dns_free(d);
	o.count = 0;
	/* ... unless it is not asked for */
	d = resolver(s, KZ_DNS_IPV4, 40000, &o);
	resolve(d, &o, "servfail6.test");
	assert_int_equal(KZ_DNS_OK, o.rc);
	kz_dns_free(d);
}

/* PROXY-6: the name as it is, once a family; PROXY-4: asked anew each time. */
static void test_absolute(void **state)
{
	struct owner o = { .count = 0 };
	struct server *s = *state;
	struct kz_dns *d;
	int before;

	setenv("LOCALDOMAIN", "corp.internal", 1);
	setenv("RES_OPTIONS", "ndots:5", 1);
	d = resolver(s, KZ_DNS_BOTH, 40000, &o);
	before = s->count;
	resolve(d, &o, "nx");
	resolve(d, &o, "nx.a.test");
	assert_int_equal(4, asked(s, before));
	for (int i = before; i < s->count; i++)
		assert_null(strcasestr(s->heard[i % 64], "corp"));
	resolve(d, &o, "rebind.test");
	before = o.a[0].bytes[3] + (o.a[0].family == 6 ? 0 : 0);
	resolve(d, &o, "rebind.test");
	assert_int_not_equal(before, o.a[0].family == 4 ? o.a[0].bytes[3] : o.a[1].bytes[3]);
	unsetenv("LOCALDOMAIN");
	unsetenv("RES_OPTIONS");
	kz_dns_free(d);
}

static void test_silence(void **state)
{
	struct owner o = { .count = 0 };
	struct kz_dns *d = resolver(*state, KZ_DNS_BOTH, 2000, &o);

	resolve(d, &o, "silent.test");
	assert_int_equal(KZ_DNS_FAILED, o.rc);
	kz_dns_free(d);
}

/* Nobody waits any more: no call. The resolver goes: who waits is told, so that nobody keeps a question that is no more. */
static void test_cancel(void **state)
{
	struct owner o = { .count = 0 };
	struct kz_dns *d = resolver(*state, KZ_DNS_BOTH, 40000, &o);
	struct kz_dns_query *q = kz_dns_ask(d, "both.test", done, &o);

	assert_non_null(q);
	kz_dns_cancel(q);
	while (kz_dns_open(d) > 0)
		turn(d, &o);
	assert_int_equal(0, o.calls);
	assert_non_null(kz_dns_ask(d, "silent.test", done, &o));
	kz_dns_cancel(kz_dns_ask(d, "silent.test", done, &o));
	kz_dns_free(d);
	assert_int_equal(1, o.calls);
	assert_int_equal(KZ_DNS_FAILED, o.rc);
	assert_int_equal(0, o.count); /* every descriptor was given back */
}

static void test_servers(void **state)
{
	struct owner o = { .count = 0 };
	struct kz_dns *d = NULL;

	(void)state;
	assert_int_equal(KZ_E_CONFIG,
			 kz_dns_new(&d, "nonsense", KZ_DNS_BOTH, KZ_MS(1000), watch, &o, NULL));
	assert_int_equal(KZ_OK, kz_dns_new(&d, "[::1]:5353,10.0.0.1:53", KZ_DNS_BOTH, KZ_MS(1000),
					   watch, &o, NULL));
	kz_dns_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),   cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_too_many), cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_families), cmocka_unit_test(test_absolute),
		cmocka_unit_test(test_silence),  cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_servers),
	};

	return cmocka_run_group_tests(tests, server_start, server_stop);
}
