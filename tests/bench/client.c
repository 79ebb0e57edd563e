/* The state of a client moves with the readiness of its socket; what fails is told and, unless it is tolerated, ends the program. */
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/str.h"
#include "base/time.h"

#define CHUNK (256 * 1024)
#define HEAD 8192 /* of the request; a credential has up to 5.5 KB */

struct plan plan;
struct tally tally;
static int poll_fd;
static unsigned next_host;
static size_t next_credential;
static char chunk[CHUNK];

void clients_init(size_t samples)
{
	poll_fd = epoll_create1(EPOLL_CLOEXEC);
	tally.open_us = calloc(samples, sizeof(*tally.open_us));
	tally.echo_us = calloc(samples, sizeof(*tally.echo_us));
	tally.room = samples;
	if (poll_fd < 0 || !tally.open_us || !tally.echo_us) {
		perror("tunnel");
		exit(71);
	}
}

void client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->state = S_CLOSED;
}

void client_fail(struct client *c, const char *what)
{
	client_close(c);
	if (tally.failed++ >= plan.tolerate) {
		fprintf(stderr, "tunnel: %s (after %llu tunnels)\n", what,
			(unsigned long long)tally.opened);
		exit(1);
	}
}

static void failed_errno(struct client *c, const char *what, int error)
{
	char text[160];

	snprintf(text, sizeof(text), "%s: %s", what, strerror(error));
	client_fail(c, text);
}

static void watch(struct client *c, uint32_t events, int op)
{
	struct epoll_event ev = { .events = events, .data.ptr = c };

	if (epoll_ctl(poll_fd, op, c->fd, &ev))
		failed_errno(c, "epoll_ctl", errno);
}

/* The next destination, as text or as an address. */
static void next_name(char *out, size_t size)
{
	const char *at = strstr(plan.host, "%d");

	if (at)
		snprintf(out, size, "%.*s%u%s", (int)(at - plan.host), plan.host,
			 next_host++ % (unsigned)plan.hosts, at + 2);
	else
		snprintf(out, size, "%s", plan.host);
}

static bool direct_address(struct sockaddr_storage *a, socklen_t *len)
{
	struct sockaddr_in *in = (struct sockaddr_in *)a;
	char name[256];

	next_name(name, sizeof(name));
	*in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)plan.port) };
	*len = sizeof(*in);
	return inet_pton(AF_INET, name, &in->sin_addr) == 1;
}

void client_start(struct client *c)
{
	struct sockaddr_storage a = plan.via;
	socklen_t len = plan.via_len;
	int on = 1;

	if (!len && !direct_address(&a, &len)) {
		fprintf(stderr, "tunnel: without a proxy the destination is an IPv4 address\n");
		exit(64);
	}
	c->begin_us = kz_time_boot_us();
	c->got = 0;
	c->fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0) {
		failed_errno(c, "socket", errno);
		return;
	}
	if (a.ss_family != AF_UNIX)
		setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(c->fd, (struct sockaddr *)&a, len) && errno != EINPROGRESS) {
		failed_errno(c, "connect", errno);
		return;
	}
	c->state = S_CONNECTING;
	watch(c, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, EPOLL_CTL_ADD);
}

static void ask(struct client *c)
{
	char head[HEAD], name[256];
	int n;

	next_name(name, sizeof(name));
	n = snprintf(head, sizeof(head), "%s%s%sCONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n",
		     plan.execution ? "KZ-EXECUTION " : "", plan.execution ? plan.execution : "",
		     plan.execution ? "\n" : "", name, plan.port, name, plan.port);
	if (plan.credential_count)
		n += snprintf(head + n, sizeof(head) - (size_t)n, "Proxy-Authorization: %s\r\n",
			      plan.credentials[next_credential++ % plan.credential_count]);
	n += snprintf(head + n, sizeof(head) - (size_t)n, "\r\n");
	if (send(c->fd, head, (size_t)n, MSG_NOSIGNAL) != n)
		failed_errno(c, "send", errno);
	else
		c->state = S_ASKED;
}

void client_use(struct client *c, char what)
{
	c->state = what == 'E' ? S_ECHO : S_BULK;
	/* from here on by level: who has more to move is called again */
	if (what == 'S')
		watch(c, EPOLLIN, EPOLL_CTL_MOD);
	if (what == 'D')
		watch(c, EPOLLOUT, EPOLL_CTL_MOD);
	if (c->state != S_CLOSED && send(c->fd, &what, 1, MSG_NOSIGNAL) != 1)
		failed_errno(c, "send", errno);
}

static void opened(struct client *c)
{
	tally.opened++;
	c->open_us = kz_time_boot_us() - c->begin_us;
	if (plan.mode == MODE_RATE)
		client_use(c, 'E');
	else
		c->state = S_HELD;
}

static void connected(struct client *c)
{
	int error = 0;
	socklen_t len = sizeof(error);

	getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error)
		failed_errno(c, "connect", error);
	else if (plan.via_len)
		ask(c);
	else
		opened(c);
}

static void sample(const struct client *c)
{
	if (!tally.counting || tally.samples == tally.room)
		return;
	tally.open_us[tally.samples] = (uint32_t)c->open_us;
	tally.echo_us[tally.samples++] = (uint32_t)(kz_time_boot_us() - c->begin_us);
}

static void answered(struct client *c)
{
	char what[80];
	int status = 0;

	if (sscanf(c->head, "HTTP/1.%*1[01] %3d", &status) != 1 || status != plan.expect) {
		snprintf(what, sizeof(what), "the proxy answered %d and not %d", status,
			 plan.expect);
		client_fail(c, what);
		return;
	}
	if (status == 200) {
		if (memcmp(c->head + c->got - 4, "\r\n\r\n", 4))
			client_fail(c, "bytes came through the tunnel before they were asked for");
		else
			opened(c);
		return;
	}
	c->state = S_REFUSED;
	c->open_us = kz_time_boot_us() - c->begin_us;
	tally.refused++;
	sample(c);
	client_close(c);
}

static void read_answer(struct client *c)
{
	ssize_t n = recv(c->fd, c->head + c->got, sizeof(c->head) - 1 - c->got, 0);

	if (n <= 0) {
		if (n < 0 && errno == EAGAIN)
			return;
		client_fail(c, n ? "the proxy reset the connection" :
				   "the proxy closed without an answer");
		return;
	}
	c->got += (size_t)n;
	c->head[c->got] = 0;
	if (strstr(c->head, "\r\n\r\n"))
		answered(c);
	else if (c->got == sizeof(c->head) - 1)
		client_fail(c, "the head of the answer is too long");
}

static void read_echo(struct client *c)
{
	char byte[2];
	ssize_t n = recv(c->fd, byte, sizeof(byte), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n != 1 || byte[0] != 'E') {
		client_fail(c,
			    n == 0 ? "the tunnel was closed before the echo" : "the echo is wrong");
		return;
	}
	tally.echoed++;
	sample(c);
	client_close(c);
}

static void move_bulk(struct client *c)
{
	ssize_t n = plan.up ? send(c->fd, chunk, sizeof(chunk), MSG_NOSIGNAL) :
			      recv(c->fd, chunk, sizeof(chunk), 0);

	if (n > 0)
		tally.bytes += (uint64_t)n;
	else if (n == 0 || errno != EAGAIN)
		client_fail(c, "a tunnel ended in the middle of its bytes");
}

static void ready(struct client *c, uint32_t events)
{
	/* one edge may bring several things, so each state falls on to the next when it moved */
	if (c->state == S_CONNECTING && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
		connected(c);
	if (c->state == S_ASKED && (events & ~(uint32_t)EPOLLOUT))
		read_answer(c);
	else if (c->state == S_ECHO && (events & ~(uint32_t)EPOLLOUT))
		read_echo(c);
	else if (c->state == S_BULK)
		move_bulk(c);
	else if (c->state == S_HELD && (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
		client_fail(c, "a held tunnel was closed");
}

void clients_step(int ms)
{
	struct epoll_event ev[256];
	int n = epoll_wait(poll_fd, ev, 256, ms);

	for (int i = 0; i < n; i++)
		ready(ev[i].data.ptr, ev[i].events);
}
