/* port/serve: a connection's descriptor ends with it, also inside the loop and its own callbacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_descriptor_ends_with_its_connection),
		cmocka_unit_test(it_ends_at_once_in_its_own_callback),
		cmocka_unit_test(what_is_unsent_is_lost_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
