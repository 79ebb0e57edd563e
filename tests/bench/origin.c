/*
 * What the benchmarked proxies connect to: a TCP server and a name server in one event loop.
 *
 * usage: origin [-l ADDRESS] [-n ADDRESS:PORT] [-b ADDRESS] PORT
 *   -l  listen on this address (all of them when not given)
 *   -n  answer names there over UDP: h0, h1, ... below any domain are -b, -b + 1, ... (A, TTL 60);
 *       other types have no data, other names do not exist
 *
 * The first byte of a connection says what it is: E echo, S stream bytes until it is closed, D take bytes
 * and drop them, Q print the counts as JSON and close.  Prints "ready PORT" when it listens (PORT 0 takes a
 * free one); ends with the counts on TERM.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"

#define CHUNK (256 * 1024)
#define NAME_MAX_BYTES 255
#define TYPE_A 1

static char chunk[CHUNK];
static unsigned char *kind; /* by descriptor: 0 not known yet, else E, S, D */
static size_t kinds;
static int poll_fd, listen_fd, name_fd = -1, signal_fd;
static uint32_t base; /* address of h0, host order */
static uint64_t accepted, asked, taken_bytes;

static void die(const char *what)
{
	fprintf(stderr, "origin: %s: %s\n", what, strerror(errno));
	exit(71);
}

static int counts(char *out, size_t size)
{
	return snprintf(
		out, size,
		"{\"v\":1,\"type\":\"origin\",\"accepted\":%llu,\"asked\":%llu,\"taken_bytes\":%llu}\n",
		(unsigned long long)accepted, (unsigned long long)asked,
		(unsigned long long)taken_bytes);
}

static void watch(int fd, uint32_t events, int op)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	if (epoll_ctl(poll_fd, op, fd, &ev))
		die("epoll_ctl");
}

static void take_connections(void)
{
	for (int i = 0; i < 64; i++) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;

		if (fd < 0)
			return;
		if ((size_t)fd >= kinds) {
			close(fd);
			continue;
		}
		accepted++;
		kind[fd] = 0;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		watch(fd, EPOLLIN, EPOLL_CTL_ADD);
	}
}

/* false: the connection is over */
static bool first_bytes(int fd, const char *p, ssize_t n)
{
	char text[160];

	kind[fd] = (unsigned char)p[0];
	switch (p[0]) {
	case 'E': return send(fd, p, (size_t)n, MSG_NOSIGNAL) == n;
	case 'S': watch(fd, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD); return true;
	case 'D': taken_bytes += (uint64_t)n; return true;
	case 'Q':
		n = counts(text, sizeof(text));
		accepted--; /* who asks is not counted */
		(void)!send(fd, text, (size_t)n, MSG_NOSIGNAL);
		return false;
	default: return false;
	}
}

static bool input(int fd)
{
	ssize_t n = recv(fd, chunk, kind[fd] == 'D' ? sizeof(chunk) : 4096, 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	if (!kind[fd])
		return first_bytes(fd, chunk, n);
	if (kind[fd] == 'E')
		return send(fd, chunk, (size_t)n, MSG_NOSIGNAL) == n;
	taken_bytes += (uint64_t)n;
	return true;
}

static bool output(int fd)
{
	for (int i = 0; i < 4; i++) {
		ssize_t n = send(fd, chunk, sizeof(chunk), MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if ((size_t)n < sizeof(chunk))
			return true;
	}
	return true;
}

/* The number of a first label hN; -1 when it is none. */
static int64_t host_number(const unsigned char *label)
{
	char text[16];
	int64_t n;

	if (label[0] < 2 || label[0] > 10 || (label[1] | 0x20) != 'h')
		return -1;
	snprintf(text, sizeof(text), "%.*s", label[0] - 1, (const char *)label + 2);
	return kz_str_int(text, 0, 65535, &n, NULL) ? -1 : n;
}

static void answer_name(void)
{
	unsigned char q[512 + 32];
	struct sockaddr_storage from;
	socklen_t from_len = sizeof(from);
	ssize_t n = recvfrom(name_fd, q, 512, 0, (struct sockaddr *)&from, &from_len);
	size_t at = 12, len = (size_t)n;
	int64_t host;
	uint32_t address;

	if (n < 17 || q[5] != 1)
		return;
	asked++;
	while (at < len && q[at] && at < 12 + NAME_MAX_BYTES)
		at += 1u + q[at];
	if (at + 5 > len)
		return;
	host = host_number(q + 12);
	q[2] = (unsigned char)(0x84 | (q[2] & 1)); /* answer, authoritative */
	q[3] = host < 0 ? 3 : 0;
	memset(q + 6, 0, 6);
	len = at + 5;
	if (host >= 0 && q[at + 1] == 0 && q[at + 2] == TYPE_A) {
		static const unsigned char rr[12] = {
			0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4
		};

		address = htonl(base + (uint32_t)host);
		q[7] = 1;
		memcpy(q + len, rr, sizeof(rr));
		memcpy(q + len + sizeof(rr), &address, 4);
		len += sizeof(rr) + 4;
	}
	sendto(name_fd, q, len, 0, (struct sockaddr *)&from, from_len);
}

static int bound(int type, const char *text, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

	if (inet_pton(AF_INET, text, &a.sin_addr) != 1) {
		fprintf(stderr, "origin: %s is not an IPv4 address\n", text);
		exit(64);
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    (type == SOCK_STREAM && listen(fd, 4096)))
		die(text);
	return fd;
}

static void open_all(const char *address, int port, const char *names)
{
	struct rlimit most;
	sigset_t set;

	if (getrlimit(RLIMIT_NOFILE, &most))
		die("getrlimit");
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
	kinds = most.rlim_cur > 100000 ? 100000 : (size_t)most.rlim_cur;
	kind = calloc(kinds, 1);
	poll_fd = epoll_create1(EPOLL_CLOEXEC);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (!kind || poll_fd < 0 || signal_fd < 0)
		die("start");
	listen_fd = bound(SOCK_STREAM, address, port);
	watch(listen_fd, EPOLLIN, EPOLL_CTL_ADD);
	watch(signal_fd, EPOLLIN, EPOLL_CTL_ADD);
	if (names) {
		const char *colon = strchr(names, ':');
		char host[32];
		int64_t name_port;

		if (!colon || kz_str_int(colon + 1, 1, 65535, &name_port, NULL)) {
			fprintf(stderr, "origin: %s is not ADDRESS:PORT\n", names);
			exit(64);
		}
		snprintf(host, sizeof(host), "%.*s", (int)(colon - names), names);
		name_fd = bound(SOCK_DGRAM, host, (int)name_port);
		watch(name_fd, EPOLLIN, EPOLL_CTL_ADD);
	}
}

/* false: asked to end */
static bool serve(void)
{
	struct epoll_event ev[256];
	int n = epoll_wait(poll_fd, ev, 256, -1);

	for (int i = 0; i < n; i++) {
		int fd = ev[i].data.fd;
		bool open = true;

		if (fd == signal_fd)
			return false;
		if (fd == listen_fd) {
			take_connections();
			continue;
		}
		if (fd == name_fd) {
			answer_name();
			continue;
		}
		if (ev[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
			open = input(fd);
		if (open && kind[fd] == 'S' && (ev[i].events & EPOLLOUT))
			open = output(fd);
		if (!open)
			close(fd);
	}
	return true;
}

int main(int argc, char **argv)
{
	const char *address = "0.0.0.0", *names = NULL;
	struct in_addr first = { 0 };
	struct sockaddr_in is;
	socklen_t len = sizeof(is);
	char text[160];
	int64_t port;
	int o;

	while ((o = getopt(argc, argv, "l:n:b:")) != -1) {
		switch (o) {
		case 'l': address = optarg; break;
		case 'n': names = optarg; break;
		case 'b':
			if (inet_pton(AF_INET, optarg, &first) == 1)
				break;
			/* fall through */
		default: argc = 0;
		}
	}
	if (argc - optind != 1 || kz_str_int(argv[optind], 0, 65535, &port, NULL)) {
		fprintf(stderr, "usage: origin [-l ADDRESS] [-n ADDRESS:PORT] [-b ADDRESS] PORT\n");
		return 64;
	}
	base = ntohl(first.s_addr);
	open_all(address, (int)port, names);
	if (getsockname(listen_fd, (struct sockaddr *)&is, &len))
		die("getsockname");
	printf("ready %d\n", ntohs(is.sin_port));
	fflush(stdout);
	while (serve())
		;
	counts(text, sizeof(text));
	fputs(text, stdout);
	return fflush(stdout) ? 74 : 0;
}
