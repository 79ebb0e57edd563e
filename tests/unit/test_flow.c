/* lib/base/flow: bytes, ends and fall-backs of one direction of a relay. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/flow.h"

struct pair {
	int a, b; /* a: the end of the test; b: of the relay */
};

static struct pair unix_pair(void)
{
	int s[2];

	assert_int_equal(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, s));
	return (struct pair){ s[0], s[1] };
}

static struct pair tcp_pair(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof at;
	int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pair p = { socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), -1 };

	assert_int_equal(0, bind(l, (struct sockaddr *)&at, n));
	assert_int_equal(0, listen(l, 1));
	assert_int_equal(0, getsockname(l, (struct sockaddr *)&at, &n));
	assert_int_equal(0, connect(p.a, (struct sockaddr *)&at, n));
	p.b = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert_true(p.b >= 0);
	fcntl(p.a, F_SETFL, O_NONBLOCK);
	close(l);
	return p;
}

/* What a peer sent over TCP comes a moment later, also from here to here. */
static void await(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	assert_int_equal(1, poll(&p, 1, -1));
}

/* out: so many bytes, or those before the end */
static ssize_t take(int fd, char *to, size_t n)
{
	size_t got = 0;
	ssize_t more = 1;

	while (got < n && more > 0) {
		await(fd);
		more = recv(fd, to + got, n - got, 0);
		got += more > 0 ? (size_t)more : 0;
	}
	return (ssize_t)got;
}

static void close_pair(struct pair p)
{
	close(p.a);
	close(p.b);
}

static uint8_t byte_at(uint64_t i, unsigned seed)
{
	return (uint8_t)((i * 2654435761u + seed) >> 7 ^ i >> 16);
}

struct trial {
	struct pair in, out;
	struct kz_flow flow;
	uint64_t total, sent, got;
	unsigned seed;
	enum kz_flow_what what;
};

static void feed(struct trial *t)
{
	uint8_t buf[30000];
	size_t n = 1 + (size_t)lrand48() % sizeof buf;
	ssize_t w;

	if (n > t->total - t->sent)
		n = (size_t)(t->total - t->sent);
	for (size_t i = 0; i < n; i++)
		buf[i] = byte_at(t->sent + i, t->seed);
	w = n ? send(t->in.a, buf, n, MSG_NOSIGNAL) : 0;
	if (w > 0 && (t->sent += (uint64_t)w) == t->total)
		assert_int_equal(0, shutdown(t->in.a, SHUT_WR));
}

/* out: true at the end of what came through */
static bool drink(struct trial *t)
{
	static uint8_t buf[200000];
	ssize_t n = recv(t->out.a, buf, 1 + (size_t)lrand48() % sizeof buf, 0);

	for (ssize_t i = 0; i < n; i++)
		if (buf[i] != byte_at(t->got + (uint64_t)i, t->seed))
			fail_msg("byte %llu differs", (unsigned long long)(t->got + (uint64_t)i));
	if (n > 0)
		t->got += (uint64_t)n;
	return n == 0;
}

/* Random turns of writer, relay and reader until the reader sees the end. */
static void run(struct trial *t)
{
	bool is_end = false;

	if (t->total == t->sent)
		shutdown(t->in.a, SHUT_WR);
	for (int turns = 0; !is_end; turns++) {
		assert_true(turns < 10000000);
		switch (lrand48() % 3) {
		case 0:
			if (t->sent < t->total)
				feed(t);
			break;
		case 1:
			t->what = kz_flow_step(&t->flow, 1 + (size_t)lrand48() % 300000);
			assert_int_not_equal(KZ_FLOW_FAILED, t->what);
			break;
		default: is_end = drink(t);
		}
	}
	assert_int_equal(KZ_FLOW_DONE, t->what);
	assert_int_equal(t->total, t->got);
	assert_int_equal(t->total, t->flow.passed);
	/* done stays done */
	assert_int_equal(KZ_FLOW_DONE, kz_flow_step(&t->flow, 1));
}

static void trial(struct kz_pipes *pipes, struct pair in, struct pair out, unsigned seed)
{
	struct trial t = { .in = in, .out = out, .seed = seed };
	uint8_t early[5000];
	size_t n;

	srand48((long)seed);
	t.total = (uint64_t)lrand48() % (3 << 20);
	if (seed % 5 == 0)
		t.total = seed % 3; /* short ones too, and none at all */
	n = (size_t)lrand48() % sizeof early;
	if (n > t.total)
		n = (size_t)t.total;
	for (size_t i = 0; i < n; i++)
		early[i] = byte_at(i, seed);
	t.sent = n;
	assert_true(kz_flow_init(&t.flow, pipes, in.b, out.b, early, n));
	run(&t);
	kz_flow_release(&t.flow);
	close_pair(in);
	close_pair(out);
}

static void test_bytes(void **state)
{
	struct kz_pipes pipes;

	(void)state;
	kz_pipes_init(&pipes, 4);
	for (unsigned seed = 1; seed <= 12; seed++) {
		trial(&pipes, unix_pair(), unix_pair(), seed);
		trial(&pipes, unix_pair(), tcp_pair(), seed + 100);
		trial(&pipes, tcp_pair(), unix_pair(), seed + 200);
		trial(&pipes, tcp_pair(), tcp_pair(), seed + 300);
	}
	assert_int_equal(0, pipes.in_use);
	assert_true(pipes.free_count > 0); /* spliced at least once, and given back */
	kz_pipes_release(&pipes);
}

static void test_without_pipes(void **state)
{
	struct kz_pipes pipes;

	(void)state;
	kz_pipes_init(&pipes, 0);
	for (unsigned seed = 1; seed <= 6; seed++) {
		trial(&pipes, tcp_pair(), unix_pair(), seed);
		trial(NULL, unix_pair(), tcp_pair(), seed + 10);
	}
	assert_int_equal(0, pipes.free_count);
	kz_pipes_release(&pipes);
}

/* No descriptor for a pipe: copied, and nothing is lost. */
static void test_no_descriptor(void **state)
{
	struct kz_pipes pipes;
	struct rlimit was, none;
	struct pair in = tcp_pair(), out = unix_pair();

	(void)state;
	kz_pipes_init(&pipes, 4);
	assert_int_equal(0, getrlimit(RLIMIT_NOFILE, &was));
	none = (struct rlimit){ 0, was.rlim_max };
	assert_int_equal(0, setrlimit(RLIMIT_NOFILE, &none));
	trial(&pipes, in, out, 7);
	assert_int_equal(0, setrlimit(RLIMIT_NOFILE, &was));
	assert_int_equal(0, pipes.free_count);
	kz_pipes_release(&pipes);
}

/* A user whose pipe memory is used up gets 8 KiB pipes: copied. out: status 0 */
static int poor_user(void)
{
	struct kz_pipes pipes;
	int size = 1 << 20;

	/* nobody else's, nor that of this test in another run */
	uid_t own = 60000 + (uid_t)getpid() % 5000;

	if (geteuid() == 0 && setresuid(own, own, own) != 0)
		return 2;
	while (size >= 65536) {
		int fd[2];

		if (pipe2(fd, O_CLOEXEC) != 0)
			return 3;
		if (fcntl(fd[1], F_SETPIPE_SZ, 1 << 20) < 0)
			size = fcntl(fd[1], F_GETPIPE_SZ);
	}
	kz_pipes_init(&pipes, 4);
	trial(&pipes, tcp_pair(), unix_pair(), 9);
	return pipes.free_count == 0 && pipes.pause > 0 ? 0 : 4;
}

static void test_short_pipes(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		_exit(poor_user());
	assert_int_equal(pid, waitpid(pid, &status, 0));
	assert_int_equal(0, status);
}

/* The budget is used up by a flow that cannot write: the next one copies; later pipes come back. */
static void test_budget(void **state)
{
	struct pair in = tcp_pair(), out = tcp_pair();
	struct kz_pipes pipes;
	struct kz_flow f;
	static char block[1 << 20];
	enum kz_flow_what what = KZ_FLOW_MORE;

	(void)state;
	kz_pipes_init(&pipes, 1);
	assert_true(kz_flow_init(&f, &pipes, in.b, out.b, NULL, 0));
	for (int i = 0; i < 1000000 && (what != KZ_FLOW_WANT_WRITE || f.piped == 0); i++) {
		(void)!send(in.a, block, sizeof block, MSG_NOSIGNAL);
		what = kz_flow_step(&f, 1 << 20);
	}
	assert_int_equal(KZ_FLOW_WANT_WRITE, what);
	assert_true(f.piped > 0);
	assert_int_equal(1, pipes.in_use);
	trial(&pipes, unix_pair(), unix_pair(), 21);
	assert_int_equal(0, pipes.free_count);
	/* one with bytes in it is not for others */
	kz_flow_release(&f);
	assert_int_equal(0, pipes.in_use);
	assert_int_equal(0, pipes.free_count);
	trial(&pipes, unix_pair(), unix_pair(), 22);
	assert_int_equal(1, pipes.free_count);
	kz_pipes_release(&pipes);
	close_pair(in);
	close_pair(out);
}

/* The far side is shut only after its last byte, and the other direction goes on. */
static void test_half_close(void **state)
{
	struct pair in = unix_pair(), out = tcp_pair();
	struct kz_flow up, down;
	char buf[16];

	(void)state;
	assert_true(kz_flow_init(&up, NULL, in.b, out.b, "early ", 6));
	assert_true(kz_flow_init(&down, NULL, out.b, in.b, NULL, 0));
	assert_int_equal(4, send(in.a, "last", 4, 0));
	assert_int_equal(0, shutdown(in.a, SHUT_WR));
	assert_int_equal(KZ_FLOW_DONE, kz_flow_step(&up, 1000));
	assert_int_equal(10, take(out.a, buf, sizeof buf));
	assert_memory_equal("early last", buf, 10);
	assert_int_equal(KZ_FLOW_WANT_READ, kz_flow_step(&down, 1000));
	assert_int_equal(5, send(out.a, "reply", 5, 0));
	await(out.b);
	assert_int_equal(KZ_FLOW_WANT_READ, kz_flow_step(&down, 1000));
	assert_int_equal(5, recv(in.a, buf, sizeof buf, 0));
	assert_int_equal(0, shutdown(out.a, SHUT_WR));
	await(out.b);
	assert_int_equal(KZ_FLOW_DONE, kz_flow_step(&down, 1000));
	assert_int_equal(0, recv(in.a, buf, sizeof buf, 0));
	kz_flow_release(&up);
	kz_flow_release(&down);
	close_pair(in);
	close_pair(out);
}

static void test_reset(void **state)
{
	struct pair in = tcp_pair(), out = tcp_pair();
	struct linger now = { 1, 0 };
	struct kz_flow f;

	(void)state;
	assert_true(kz_flow_init(&f, NULL, in.b, out.b, NULL, 0));
	assert_int_equal(KZ_FLOW_WANT_READ, kz_flow_step(&f, 1000));
	setsockopt(in.a, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	close(in.a);
	await(in.b);
	assert_int_equal(KZ_FLOW_FAILED, kz_flow_step(&f, 1000));
	kz_flow_release(&f);
	close(in.b);
	close_pair(out);
}

/* A far side that is gone fails the flow without a signal. */
static void test_far_side_gone(void **state)
{
	struct pair in = unix_pair(), out = unix_pair();
	struct kz_flow f;

	(void)state;
	assert_true(kz_flow_init(&f, NULL, in.b, out.b, NULL, 0));
	close(out.a);
	assert_int_equal(1, send(in.a, "x", 1, 0));
	assert_int_equal(KZ_FLOW_FAILED, kz_flow_step(&f, 1000));
	kz_flow_release(&f);
	close(out.b);
	close_pair(in);
}

/* One busy direction gives way after its quantum, and holds nothing while it waits. */
static void test_quantum(void **state)
{
	struct pair in = unix_pair(), out = unix_pair();
	static char block[100000];
	struct kz_pipes pipes;
	struct kz_flow f;

	(void)state;
	kz_pipes_init(&pipes, 2);
	assert_true(kz_flow_init(&f, &pipes, in.b, out.b, NULL, 0));
	assert_true(send(in.a, block, sizeof block, 0) > 70000);
	assert_int_equal(KZ_FLOW_MORE, kz_flow_step(&f, 10));
	assert_true(f.passed <= KZ_FLOW_COPIED);
	assert_true(!f.held && f.pipe_r < 0);
	kz_flow_release(&f);
	kz_pipes_release(&pipes);
	close_pair(in);
	close_pair(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),         cmocka_unit_test(test_without_pipes),
		cmocka_unit_test(test_no_descriptor), cmocka_unit_test(test_short_pipes),
		cmocka_unit_test(test_budget),        cmocka_unit_test(test_half_close),
		cmocka_unit_test(test_reset),         cmocka_unit_test(test_far_side_gone),
		cmocka_unit_test(test_quantum),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
