/* The forwarder in its own process, between peers in another one: bytes, bounds, and what is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "base/time.h"
#include "worker/forward.h"

#define EXECUTION "0123456789abcdef0123456789abcdef"
#define PREAMBLE "KZ-EXECUTION " EXECUTION "\n"
#define BIG (3 << 20)

struct place {
	struct kz_serve *serve;
	struct kz_forward *forward;
	char dir[32], path[64];
	int dir_fd, proxy, listener;
	struct sockaddr_in at;
	struct kz_timer *timer;
	pid_t child;
	int status;
	int ticks;
};

static int descriptors(void)
{
	kz_auto_closedir DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	return n;
}

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof *p);
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct kz_err err = KZ_ERR_INIT;

	assert_non_null(p);
	signal(SIGPIPE, SIG_IGN);
	kz_str_copy(p->dir, sizeof p->dir, "/tmp/kz-forward.XXXXXX", NULL);
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof p->path, "%s/proxy.sock", p->dir);
	memcpy(un.sun_path, p->path, sizeof p->path);
	p->proxy = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_return_code(bind(p->proxy, (struct sockaddr *)&un, sizeof un), errno);
	assert_return_code(listen(p->proxy, 128), errno);
	p->dir_fd = open(p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(kz_serve_new(&p->serve, &err), KZ_OK);
	p->forward = kz_forward_new(p->serve, (const int[KZ_WAYS]){ p->dir_fd, p->dir_fd });
	assert_non_null(p->forward);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;

	kz_timer_free(p->timer);
	kz_forward_free(p->forward);
	kz_serve_free(p->serve);
	close(p->dir_fd);
	if (p->proxy >= 0)
		close(p->proxy);
	unlink(p->path);
	rmdir(p->dir);
	free(p);
	return 0;
}

/* A port of any number, as the tenant's first process would open 3128. */
static void start(struct place *p)
{
	socklen_t n = sizeof p->at;
	struct kz_err err = KZ_ERR_INIT;

	p->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	p->at = (struct sockaddr_in){ .sin_family = AF_INET };
	p->at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_return_code(bind(p->listener, (struct sockaddr *)&p->at, sizeof p->at), errno);
	assert_return_code(listen(p->listener, 16), errno);
	assert_return_code(getsockname(p->listener, (struct sockaddr *)&p->at, &n), errno);
	assert_int_equal(kz_forward_start(p->forward, KZ_WAY_PROXY, p->listener, EXECUTION, &err),
			 KZ_OK);
}

static void look(void *arg)
{
	struct place *p = arg;

	if (waitpid(p->child, &p->status, WNOHANG) == p->child || ++p->ticks > 12000)
		kz_serve_stop(p->serve);
}

/* Serve until the peers are through. in: peers: what the other process does; 0 is success */
static void run(struct place *p, int (*peers)(struct place *p))
{
	p->child = fork();
	assert_return_code(p->child, errno);
	if (p->child == 0) {
		alarm(60); /* which is sooner */
		_exit(peers(p));
	}
	p->status = -1;
	p->ticks = 0;
	p->timer = kz_timer_new(p->serve, look, p);
	assert_non_null(p->timer);
	assert_int_equal(kz_timer_every(p->timer, KZ_MS(10), NULL), KZ_OK);
	assert_int_equal(kz_serve_run(p->serve, NULL), KZ_OK);
	kz_timer_free(p->timer);
	p->timer = NULL;
	assert_true(WIFEXITED(p->status));
	assert_int_equal(WEXITSTATUS(p->status), 0);
}

static int dial(const struct place *p)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return connect(fd, (const struct sockaddr *)&p->at, sizeof p->at) < 0 ? -1 : fd;
}

/* For what must not happen in the meantime. */
static void pause_a_while(void)
{
	kz_time_sleep(KZ_MS(100), KZ_NEVER);
}

/* out: false at an early end */
static bool take_all(int fd, char *b, size_t n)
{
	for (ssize_t got; n > 0; b += got, n -= (size_t)got)
		if ((got = read(fd, b, n)) <= 0)
			return false;
	return true;
}

static bool give_all(int fd, const char *b, size_t n)
{
	for (ssize_t put; n > 0; b += put, n -= (size_t)put)
		if ((put = write(fd, b, n)) <= 0)
			return false;
	return true;
}

/* Both ends of one connection in one process, so each is written by a child of its own. */
static int to_the_byte(struct place *p)
{
	static char sent[BIG], got[BIG];
	char head[sizeof PREAMBLE - 1], one;
	int near = dial(p), far = accept(p->proxy, NULL, NULL);

	for (size_t i = 0; i < BIG; i++)
		sent[i] = (char)(i * 31 + i / 7919);
	if (!take_all(far, head, sizeof head) || memcmp(head, PREAMBLE, sizeof head) != 0)
		return 1;
	if (fork() == 0)
		_exit(give_all(near, sent, BIG) && shutdown(near, SHUT_WR) == 0 ? 0 : 1);
	if (!take_all(far, got, BIG) || memcmp(sent, got, BIG) != 0)
		return 2;
	/* the end came after the last byte, and the other direction is still open */
	if (read(far, &one, 1) != 0)
		return 3;
	memset(got, 0, BIG);
	if (fork() == 0)
		_exit(give_all(far, sent, BIG) && shutdown(far, SHUT_WR) == 0 ? 0 : 1);
	if (!take_all(near, got, BIG) || memcmp(sent, got, BIG) != 0 || read(near, &one, 1) != 0)
		return 4;
	for (int st; wait(&st) > 0;)
		if (st)
			return 5;
	return 0;
}

static void proxy_19_half_close_keeps_to_the_byte(void **state)
{
	struct place *p = *state;
	int before = descriptors();

	start(p);
	run(p, to_the_byte);
	assert_true(kz_forward_was_used(p->forward));
	assert_false(kz_forward_was_used(p->forward));
	kz_forward_end(p->forward);
	assert_int_equal(descriptors(), before);
}

/* A connection to a proxy that is not there is reset. */
static int refused(struct place *p)
{
	char one;

	for (int i = 0; i < 5; i++) {
		int fd = dial(p);
		ssize_t n = fd < 0 ? -1 : read(fd, &one, 1);

		if (n > 0 || (n < 0 && errno != ECONNRESET))
			return 1;
		close(fd);
	}
	return 0;
}

static void proxy_1_without_a_proxy_it_is_refused(void **state)
{
	struct place *p = *state;
	int before;

	close(p->proxy);
	p->proxy = -1;
	before = descriptors();
	start(p);
	run(p, refused);
	assert_false(kz_forward_was_used(p->forward));
	kz_forward_end(p->forward);
	assert_int_equal(descriptors(), before);
	/* gone altogether, not only its listener */
	unlink(p->path);
	start(p);
	run(p, refused);
	kz_forward_end(p->forward);
	assert_int_equal(descriptors(), before);
}

/* More than there are places: they stand in the queue, and the proxy has sixty-four. */
static int crowd(struct place *p)
{
	for (int i = 0; i < KZ_FORWARD_MOST + 10; i++)
		if (dial(p) < 0)
			return 1;
	for (int i = 0; i < KZ_FORWARD_MOST; i++)
		if (accept(p->proxy, NULL, NULL) < 0)
			return 2;
	pause_a_while();
	fcntl(p->proxy, F_SETFL, O_NONBLOCK);
	return accept(p->proxy, NULL, NULL) < 0 && errno == EAGAIN ? 0 : 3;
}

static void bound_11_so_many_and_no_more(void **state)
{
	struct place *p = *state;
	int before = descriptors();

	start(p);
	run(p, crowd);
	/* whatever is open goes with it, and so does its listener */
	kz_forward_end(p->forward);
	assert_int_equal(descriptors(), before);
	assert_int_equal(dial(p), -1);
	assert_int_equal(errno, ECONNREFUSED);
	kz_forward_end(p->forward);
}

/* The proxy said something and closed; the program still sends. */
static int last_word(struct place *p)
{
	char head[sizeof PREAMBLE - 1], word[4];
	int near = dial(p), far = accept(p->proxy, NULL, NULL);

	if (!take_all(far, head, sizeof head) || !give_all(far, "last", 4))
		return 1;
	close(far);
	pause_a_while();
	if (!give_all(near, "more", 4))
		return 2;
	return take_all(near, word, 4) && memcmp(word, "last", 4) == 0 ? 0 : 3;
}

static void proxy_12_the_last_word_arrives(void **state)
{
	struct place *p = *state;

	start(p);
	run(p, last_word);
}

static void inv_29_an_execution_is_32_hex_digits(void **state)
{
	static const char *const bad[] = { "", "0123456789abcdef0123456789abcde", EXECUTION "0",
					   "0123456789ABCDEF0123456789abcdef",
					   "0123456789abcdef0123456789abcde\n" };

	(void)state;
	assert_true(kz_forward_is_execution(EXECUTION));
	assert_false(kz_forward_is_execution(NULL));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(kz_forward_is_execution(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(proxy_19_half_close_keeps_to_the_byte, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(proxy_1_without_a_proxy_it_is_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(bound_11_so_many_and_no_more, set_up, tear_down),
		cmocka_unit_test_setup_teardown(proxy_12_the_last_word_arrives, set_up, tear_down),
		cmocka_unit_test(inv_29_an_execution_is_32_hex_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
