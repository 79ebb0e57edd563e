/* Lookups of the broker while its name servers change (BRK-8, PROXY-6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/broker/net.h"

struct lab {
	struct kz_serve *serve;
	struct kz_brk_net *net;
	struct kz_watch *watch;
	int fd; /* of the name server */
	char servers[40];
	unsigned asked, told;
	enum kz_dns_rc rc;
};

/* Other servers, of the same address, so that there is one more resolver. */
static void change(struct lab *l)
{
	assert_int_equal(kz_brk_net_resolvers(l->net, l->servers, KZ_DNS_IPV4, NULL), KZ_OK);
}

/* The question with an answer of one address behind it. */
static void answer(struct lab *l, unsigned char *p, size_t n, const struct sockaddr_in *to)
{
	static const unsigned char record[] = { 0xc0, 12, 0, 1, 0,  1,   0,   0,
						0,    1,  0, 4, 93, 184, 216, 34 };
	size_t end = 12;

	assert_true(n > 16);
	while (p[end])
		end += p[end] + 1u;
	end += 5;
	p[2] |= 0x80;
	p[7] = 1;
	p[11] = 0; /* what else was said is not said again */
	memcpy(p + end, record, sizeof(record));
	assert_true(sendto(l->fd, p, end + sizeof(record), 0, (const struct sockaddr *)to,
			   sizeof(*to)) > 0);
}

/* While the first question is open the servers change, twice. */
static void on_question(void *arg)
{
	struct lab *l = arg;
	unsigned char p[600];
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	ssize_t n = recvfrom(l->fd, p, sizeof(p) - 100, 0, (struct sockaddr *)&from, &size);

	assert_true(n > 0);
	if (l->asked++ == 0) {
		change(l);
		change(l);
	}
	answer(l, p, (size_t)n, &from);
}

/* What an answer leads to may be another look at the settings. */
static void on_told(void *arg, enum kz_dns_rc rc, const struct kz_dns_addr *a, size_t n)
{
	struct lab *l = arg;

	(void)a;
	l->rc = rc == KZ_DNS_OK && n != 1 ? KZ_DNS_FAILED : rc;
	change(l);
	if (++l->told < 3)
		assert_non_null(kz_brk_net_ask(l->net, "web.test", on_told, l));
	else
		kz_serve_stop(l->serve);
}

static void brk8_servers_that_change_leave_no_question_unanswered(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof(at);
	struct lab l = { .rc = KZ_DNS_FAILED };

	(void)state;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	l.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(l.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(l.fd, (struct sockaddr *)&at, &n), 0);
	snprintf(l.servers, sizeof(l.servers), "127.0.0.1:%d", ntohs(at.sin_port));
	assert_int_equal(kz_serve_new(&l.serve, NULL), KZ_OK);
	assert_int_equal(kz_brk_net_new(&l.net, l.serve, NULL), KZ_OK);
	l.watch = kz_watch_new(l.serve, l.fd, KZ_SERVE_READ, on_question, &l);
	assert_non_null(l.watch);
	change(&l);
	assert_non_null(kz_brk_net_ask(l.net, "web.test", on_told, &l));
	assert_int_equal(kz_serve_run(l.serve, NULL), KZ_OK);
	assert_int_equal(l.told, 3);
	assert_int_equal(l.rc, KZ_DNS_OK);
	kz_watch_free(l.watch);
	kz_brk_net_free(l.net);
	kz_serve_free(l.serve);
	close(l.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brk8_servers_that_change_leave_no_question_unanswered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
