/* core/files/tree: the conversation with kz-archive, whatever it does [WS-15, BOUND-10]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "core/files/tree.h"

#define MINUTE kz_deadline_in(KZ_SECONDS(60))

static const struct kz_tree_bounds wide = { .bytes = 64 << 20, .entries = 1000 };

static enum kz_rc add(struct kz_tree_pack *p, struct kz_entry e, const char *name, const char *data,
		      struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(64 << 20);
	uint8_t head[KZ_ENTRY_HEAD];

	e.name_len = strlen(name);
	kz_entry_head(&e, head);
	assert_int_equal(kz_buf_add(&b, head, sizeof head, NULL), KZ_OK);
	assert_int_equal(kz_buf_puts(&b, name, NULL), KZ_OK);
	assert_int_equal(kz_buf_add(&b, data, data ? (size_t)e.size : 0, NULL), KZ_OK);
	return kz_tree_pack_add(p, b.data, b.len, err);
}

static enum kz_rc file(struct kz_tree_pack *p, const char *name, const char *data, size_t n,
		       struct kz_err *err)
{
	return add(p, (struct kz_entry){ .kind = KZ_ENTRY_FILE, .mode = 0600, .size = (int64_t)n },
		   name, data, err);
}

static enum kz_rc end(struct kz_tree_pack *p, int64_t count, struct kz_tree_sum *sum,
		      struct kz_err *err)
{
	enum kz_rc rc =
		add(p, (struct kz_entry){ .kind = KZ_ENTRY_END, .size = count, .mtime_s = 3 }, "",
		    NULL, err);

	if (rc == KZ_OK)
		return kz_tree_pack_end(p, sum, err);
	kz_tree_pack_abandon(p);
	return rc;
}

static void no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

struct got {
	int entries;
	int64_t bytes;
	bool fails;
};

static enum kz_rc on_entry(void *arg, const struct kz_entry *e, const char *name,
			   struct kz_err *err)
{
	struct got *g = arg;

	(void)e, (void)name;
	g->entries++;
	return g->fails ? kz_err_set(err, KZ_E_NOPERM, "enough") : KZ_OK;
}

static enum kz_rc on_data(void *arg, const void *p, size_t n, struct kz_err *err)
{
	(void)p, (void)err;
	((struct got *)arg)->bytes += (int64_t)n;
	return KZ_OK;
}

static enum kz_rc unpack(int fd, struct got *g, int cancel_fd, struct kz_deadline until,
			 struct kz_tree_sum *sum, struct kz_err *err)
{
	const struct kz_tree_sink to = { g, on_entry, on_data };

	return kz_tree_unpack(fd, &wide, &to, sum, cancel_fd, until, err);
}

/* a tar of one file of n bytes and an empty one */
static int tar_of(size_t n)
{
	char *big = calloc(1, n + 1);
	int fd = memfd_create("tar", MFD_CLOEXEC);
	struct kz_err err = KZ_ERR_INIT;
	struct kz_tree_pack *p;
	struct kz_tree_sum sum;

	assert_non_null(big);
	assert_int_equal(kz_tree_pack_begin(fd, &wide, MINUTE, &p, &err), KZ_OK);
	assert_int_equal(file(p, "z", big, n, &err), KZ_OK);
	assert_int_equal(file(p, "a", "", 0, &err), KZ_OK);
	assert_int_equal(end(p, 2, &sum, &err), KZ_OK);
	assert_int_equal(sum.entries, 2);
	assert_int_equal(sum.skipped, 3);
	assert_int_equal(sum.bytes, lseek(fd, 0, SEEK_END));
	free(big);
	no_children();
	return fd;
}

static void test_ws15_more_than_any_pipe_holds_goes_through_both_ways(void **state)
{
	int fd = tar_of(20 << 20);
	struct kz_err err = KZ_ERR_INIT;
	struct got g = { 0 };
	struct kz_tree_sum sum;

	(void)state;
	assert_int_equal(unpack(fd, &g, -1, MINUTE, &sum, &err), KZ_OK);
	assert_int_equal(g.entries, 2);
	assert_int_equal(g.bytes, 20 << 20);
	assert_int_equal(sum.entries, 2);
	close(fd);
	no_children();
}

static void test_bound10_the_bound_is_inclusive_and_told_by_its_reason(void **state)
{
	int model = tar_of(1000);
	struct kz_tree_bounds b = { .bytes = lseek(model, 0, SEEK_END), .entries = 2 };

	(void)state;
	for (int less = 0; less < 3; less++) {
		const struct kz_tree_bounds bound = { b.bytes - (less == 1),
						      b.entries - (less == 2), false };
		int fd = memfd_create("tar", MFD_CLOEXEC);
		struct kz_err err = KZ_ERR_INIT;
		char thousand[1000] = "";
		struct kz_tree_pack *p;
		struct kz_tree_sum sum;

		assert_int_equal(kz_tree_pack_begin(fd, &bound, MINUTE, &p, &err), KZ_OK);
		if (file(p, "z", thousand, 1000, &err) == KZ_OK &&
		    file(p, "a", "", 0, &err) == KZ_OK) {
			end(p, 2, &sum, &err);
		} else {
			kz_tree_pack_abandon(p);
		}
		assert_string_equal(err.reason, less ? "workspace_over_bound" : "");
		close(fd);
		no_children();
	}
	close(model);
}

static void test_bound10_a_refusal_in_the_middle_of_much_input_is_told(void **state)
{
	const struct kz_tree_bounds small = { .bytes = 4096, .entries = 10 };
	int fd = memfd_create("tar", MFD_CLOEXEC);
	struct kz_err err = KZ_ERR_INIT;
	static char big[8 << 20];
	struct kz_tree_pack *p;

	(void)state;
	assert_int_equal(kz_tree_pack_begin(fd, &small, MINUTE, &p, &err), KZ_OK);
	assert_int_not_equal(file(p, "z", big, sizeof big, &err), KZ_OK);
	assert_string_equal(err.reason, "workspace_over_bound");
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	kz_tree_pack_abandon(p);
	close(fd);
	no_children();
}

static void test_ws15_a_cut_stream_is_no_archive(void **state)
{
	int fd = memfd_create("tar", MFD_CLOEXEC);
	struct kz_err err = KZ_ERR_INIT;
	struct kz_tree_pack *p;
	struct kz_tree_sum sum;

	(void)state;
	assert_int_equal(kz_tree_pack_begin(fd, &wide, MINUTE, &p, &err), KZ_OK);
	assert_int_equal(file(p, "z", "", 0, &err), KZ_OK);
	assert_int_not_equal(kz_tree_pack_end(p, &sum, &err), KZ_OK);
	assert_string_equal(err.reason, "archive_refused");
	close(fd);
	no_children();
}

static void test_ws15_a_tampered_archive_reaches_no_sink(void **state)
{
	int fd = tar_of(100000);
	struct kz_err err = KZ_ERR_INIT;
	struct got g = { 0 };
	struct kz_tree_sum sum;

	(void)state;
	assert_int_equal(ftruncate(fd, 90000), 0);
	assert_int_not_equal(unpack(fd, &g, -1, MINUTE, &sum, &err), KZ_OK);
	assert_string_equal(err.reason, "archive_refused");
	assert_int_equal(g.entries, 0);
	close(fd);
	no_children();
}

static void test_ws15_sink_cancel_and_deadline_end_it_without_a_process_left(void **state)
{
	int fd = tar_of(20 << 20), pipes[2];
	struct got fails = { .fails = true }, g = { 0 };
	struct kz_err err = KZ_ERR_INIT;
	struct kz_tree_sum sum;

	(void)state;
	assert_int_equal(unpack(fd, &fails, -1, MINUTE, &sum, &err), KZ_E_NOPERM);
	no_children();
	assert_int_equal(pipe(pipes), 0);
	close(pipes[1]);
	assert_int_not_equal(unpack(fd, &g, pipes[0], MINUTE, &sum, &err), KZ_OK);
	assert_string_equal(err.reason, "cancelled");
	no_children();
	assert_int_not_equal(unpack(fd, &g, -1, kz_deadline_in(KZ_MS(0)), &sum, &err), KZ_OK);
	assert_string_equal(err.reason, "system_failed");
	no_children();
	close(pipes[0]);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ws15_more_than_any_pipe_holds_goes_through_both_ways),
		cmocka_unit_test(test_bound10_the_bound_is_inclusive_and_told_by_its_reason),
		cmocka_unit_test(test_bound10_a_refusal_in_the_middle_of_much_input_is_told),
		cmocka_unit_test(test_ws15_a_cut_stream_is_no_archive),
		cmocka_unit_test(test_ws15_a_tampered_archive_reaches_no_sink),
		cmocka_unit_test(test_ws15_sink_cancel_and_deadline_end_it_without_a_process_left),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
