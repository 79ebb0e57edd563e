/* port/serve: a connection's descriptor ends with it, also inside the loop and its own callbacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "port/serve.h"

struct pair {
	struct kz_serve *serve;
	struct kz_conn *conn;
	int ours, far;
	bool was_open; /* after the connection was freed */
};

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0 || errno != EBADF;
}

static void free_it(void *arg)
{
	struct pair *p = arg;

	kz_conn_free(p->conn);
	p->conn = NULL;
	p->was_open = is_open(p->ours);
	kz_serve_stop(p->serve);
}

static void nothing(void *arg)
{
	(void)arg;
}

static void begin(struct pair *p, const struct kz_conn_calls *calls)
{
	int fds[2];

	assert_int_equal(kz_serve_new(&p->serve, NULL), KZ_OK);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	p->ours = fds[0];
	p->far = fds[1];
	p->was_open = true;
	p->conn = kz_conn_new(p->serve, fds[0], 4096, calls, p);
	assert_non_null(p->conn);
}

static void end(struct pair *p)
{
	kz_conn_free(p->conn);
	close(p->far);
	kz_serve_free(p->serve);
}

static void the_descriptor_ends_with_its_connection(void **state)
{
	const struct kz_conn_calls calls = { .on_data = nothing, .on_closed = nothing };
	struct pair p;
	char byte;

	(void)state;
	begin(&p, &calls);
	kz_conn_free(p.conn);
	p.conn = NULL;
	assert_false(is_open(p.ours));
	assert_int_equal(read(p.far, &byte, 1), 0);
	end(&p);
}

/* RESET-5: process 1 counts its descriptors in the turn of the loop in which a caller went away. */
static void it_ends_at_once_in_its_own_callback(void **state)
{
	const struct kz_conn_calls calls = { .on_data = free_it, .on_closed = free_it };
	struct pair p;

	(void)state;
	begin(&p, &calls);
	assert_int_equal(write(p.far, "x", 1), 1);
	assert_int_equal(kz_serve_run(p.serve, NULL), KZ_OK);
	assert_false(p.was_open);
	end(&p);

	begin(&p, &calls);
	assert_int_equal(shutdown(p.far, SHUT_WR), 0);
	assert_int_equal(kz_serve_run(p.serve, NULL), KZ_OK);
	assert_false(p.was_open);
	end(&p);
}

static void what_is_unsent_is_lost_with_it(void **state)
{
	const struct kz_conn_calls calls = { .on_data = free_it, .on_closed = free_it };
	static char much[1 << 20];
	struct pair p;
	size_t got = 0;
	ssize_t n;

	(void)state;
	begin(&p, &calls);
	assert_int_equal(kz_conn_write(p.conn, much, sizeof much, NULL), KZ_OK);
	assert_int_equal(write(p.far, "x", 1), 1);
	assert_int_equal(kz_serve_run(p.serve, NULL), KZ_OK);
	assert_false(p.was_open);
	while ((n = read(p.far, much, sizeof much)) > 0)
		got += (size_t)n;
	assert_int_equal(n, 0);
	assert_true(got < sizeof much);
	end(&p);
}

/* A listener where another connection waits as soon as one was taken. */
struct crowd {
	struct kz_serve *serve;
	struct sockaddr_un at;
	unsigned taken;
	int bell; /* rung at the first */
};

#define CROWD 10000 /* then nobody comes any more */

static void come(struct crowd *c)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&c->at, sizeof c->at), 0);
	close(fd);
}

static void take(void *arg, int fd)
{
	struct crowd *c = arg;

	close(fd);
	if (c->taken++ == 0)
		assert_int_equal(write(c->bell, "x", 1), 1);
	if (c->taken < CROWD)
		come(c);
}

static void stop(void *arg)
{
	kz_serve_stop(((struct crowd *)arg)->serve);
}

/* PROXY-19: who connects without end keeps nobody else from his turn. */
static void a_crowd_at_a_listener_holds_nobody_up(void **state)
{
	struct crowd c = { .at = { .sun_family = AF_UNIX } };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), ends[2];
	struct kz_watch *door, *other;

	(void)state;
	/* an address without a file */
	snprintf(c.at.sun_path + 1, sizeof c.at.sun_path - 1, "kz-test-serve-%d", getpid());
	assert_int_equal(bind(fd, (struct sockaddr *)&c.at, sizeof c.at), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	c.bell = ends[1];
	assert_int_equal(kz_serve_new(&c.serve, NULL), KZ_OK);
	door = kz_serve_listen(c.serve, fd, take, &c);
	other = kz_watch_new(c.serve, ends[0], KZ_SERVE_READ, stop, &c);
	assert_non_null(door);
	assert_non_null(other);
	come(&c);
	assert_int_equal(kz_serve_run(c.serve, NULL), KZ_OK);
	assert_true(c.taken < CROWD);
	kz_watch_free(door);
	kz_watch_free(other);
	kz_serve_free(c.serve);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_descriptor_ends_with_its_connection),
		cmocka_unit_test(it_ends_at_once_in_its_own_callback),
		cmocka_unit_test(what_is_unsent_is_lost_with_it),
		cmocka_unit_test(a_crowd_at_a_listener_holds_nobody_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
