/* The chain of the audit store: what verify sees of edits, removals, cuts, other files and segments; many writers [AUD-9]. */
#include <sys/wait.h>

#include "audit_place.h"
#include "core/audit/rotate.h"

static void test_aud9_gap(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);

	put_steps(a, 1, 2);
	put_steps(a, 4, 4);
	kz_audit_close(a);
	expect_problem(p, "transition_gap");
}

static void test_aud9_edit(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);

	put_steps(a, 1, 4);
	kz_audit_close(a);
	sql(p, "DROP TRIGGER transition_update; UPDATE transition SET valkey_ms = 5 WHERE id = 2");
	expect_problem(p, "row_changed");
}

static void test_aud9_removal(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);

	put_steps(a, 1, 4);
	kz_audit_close(a);
	sql(p, "DROP TRIGGER transition_delete; DROP TRIGGER entry_delete; "
	       "DELETE FROM transition WHERE id = 2; DELETE FROM entry WHERE id = 2");
	expect_problem(p, "rows_missing");
	expect_problem(p, "transition_gap");
}

static void test_aud9_tail_cut(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);

	put_steps(a, 1, 4);
	kz_audit_close(a);
	sql(p, "DROP TRIGGER transition_delete; DROP TRIGGER entry_delete; "
	       "DELETE FROM transition WHERE id = 4; DELETE FROM entry WHERE id = 4");
	expect_problem(p, "tail_cut");
	/* A later writer does not hide it: the break is on record for good. */
	a = opened(p);
	put_steps(a, 4, 5);
	kz_audit_close(a);
	expect_problem(p, "broken_before");
}

static void test_aud9_replaced_file(void **state)
{
	const struct place *p = *state;
	char wal[120];
	struct kz_audit *a = opened(p);

	put_steps(a, 1, 4);
	kz_audit_close(a);
	unlink(p->path);
	snprintf(wal, sizeof(wal), "%s-wal", p->path);
	unlink(wal);
	snprintf(wal, sizeof(wal), "%s-shm", p->path);
	unlink(wal);
	expect_problem(p, "tail_cut");
	a = opened(p);
	put_steps(a, 1, 6);
	kz_audit_close(a);
	expect_problem(p, "broken_before");
}

static void test_aud9_head_removed(void **state)
{
	const struct place *p = *state;
	char head[120];
	struct kz_audit *a = opened(p);

	put_steps(a, 1, 2);
	snprintf(head, sizeof(head), "%s/head", p->dir);
	unlink(head);
	expect_problem(p, "head_missing");
	put_steps(a, 3, 3);
	kz_audit_close(a);
	expect_problem(p, "broken_before");
}

/* Killed between commit and head: the head lags, the chain is whole, the next writer catches up. */
static void test_aud9_head_lags(void **state)
{
	const struct place *p = *state;
	char head[120];
	struct kz_buf old = KZ_BUF_INIT(4096);
	struct kz_audit *a = opened(p);
	struct kz_json *j;

	put_steps(a, 1, 2);
	snprintf(head, sizeof(head), "%s/head", p->dir);
	assert_int_equal(kz_file_read(AT_FDCWD, head, &old, NULL), KZ_OK);
	put_steps(a, 3, 4);
	assert_int_equal(kz_file_replace(AT_FDCWD, head, old.data, old.len, 0660, (gid_t)-1, NULL),
			 KZ_OK);
	expect_ok(p, 4);
	j = report(p);
	assert_int_equal(kz_json_num(j, "head_lag", -1), 2);
	kz_json_free(j);
	put_steps(a, 5, 5);
	kz_audit_close(a);
	j = report(p);
	assert_int_equal(kz_json_num(j, "head_lag", -1), 0);
	assert_true(kz_json_flag(j, "ok", false));
	kz_json_free(j);
	kz_buf_release(&old);
}

static void rotate(const struct place *p, int64_t keep_days, bool closed, int64_t removed)
{
	struct kz_audit_keep keep = kz_audit_keep_default(365);
	struct kz_audit_rotated out;
	struct kz_err err = KZ_ERR_INIT;

	keep.keep_days = keep_days;
	keep.is_forced = closed;
	if (kz_audit_rotate(p->path, &keep, &out, &err) != KZ_OK)
		fail_msg("rotate: %s", err.text);
	assert_false(out.is_busy);
	assert_int_equal(out.is_closed, closed);
	assert_int_equal(out.removed_count, removed);
}

static void test_aud9_segments(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);
	struct kz_audit_filter all = { .kind = "transition" };
	struct kz_json *rows = kz_json_array();
	struct kz_err err = KZ_ERR_INIT;
	char name[160];

	put_steps(a, 1, 10);
	rotate(p, 365, false, 0); /* young and small: stays open */
	rotate(p, 365, true, 0);
	put_steps(a, 8, 20); /* the writer kept its connection; 8 to 10 were told before */
	rotate(p, 365, true, 0);
	put_steps(a, 21, 25);
	expect_ok(p, 27);
	assert_int_equal(kz_audit_each(p->path, &all, collect, rows, &err), KZ_OK);
	assert_int_equal(kz_json_count(rows), 25);
	kz_json_free(rows);

	/* Retention: everything is older than 0 days; an anchor stays and verify holds. */
	rotate(p, 0, false, 2);
	expect_ok(p, 8);
	put_steps(a, 26, 27);
	rotate(p, 365, true, 0);
	put_steps(a, 28, 28);
	expect_ok(p, 12);
	put_steps(a, 30, 30);
	expect_problem(p, "transition_gap");
	kz_audit_close(a);
	snprintf(name, sizeof(name), "%s/closed/%019d.db", p->dir, 22);
	assert_int_equal(unlink(name), 0);
	expect_problem(p, "segment_missing");
}

static void test_aud9_segment_lost(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);
	char name[160], away[180];
	FILE *f;

	put_steps(a, 1, 10);
	rotate(p, 365, true, 0);
	put_steps(a, 11, 12);
	kz_audit_close(a);
	expect_ok(p, 13);
	snprintf(name, sizeof(name), "%s/closed/%019d.db", p->dir, 1);
	snprintf(away, sizeof(away), "%s.away", name);
	assert_int_equal(rename(name, away), 0);
	expect_problem(p, "segment_missing");
	assert_int_equal(rename(away, name), 0);
	chmod(name, 0600);
	f = fopen(name, "r+");
	assert_non_null(f);
	fseek(f, 4000, SEEK_SET);
	fputc('x', f);
	fclose(f);
	expect_problem(p, "segment_changed");
}

/* Many processes at once, some killed at any moment: the chain holds and no number is missing. */
static void test_aud9_concurrent_and_killed(void **state)
{
	const struct place *p = *state;
	enum { WRITERS = 6, EACH = 40 };
	pid_t pids[WRITERS + 2];
	int status;
	struct kz_json *j;

	for (int w = 0; w < WRITERS + 2; w++) {
		pids[w] = fork();
		if (pids[w] == 0) {
			struct kz_audit *a = NULL;

			if (kz_audit_open(&a, p->path, NULL) != KZ_OK)
				_exit(1);
			for (int i = 0; i < EACH || w >= WRITERS; i++)
				if (kz_audit_denial(a, "", HEX32, "", "queue_full", NULL) != KZ_OK)
					_exit(2);
			_exit(0);
		}
	}
	rotate(p, 365, false, 0);
	for (int w = 0; w < WRITERS; w++) {
		assert_int_equal(waitpid(pids[w], &status, 0), pids[w]);
		assert_int_equal(status, 0);
	}
	for (int w = WRITERS; w < WRITERS + 2; w++) {
		kill(pids[w], SIGKILL);
		waitpid(pids[w], &status, 0);
	}
	j = report(p);
	assert_true(kz_json_flag(j, "ok", false));
	assert_true(kz_json_num(j, "rows", 0) >= WRITERS * EACH);
	assert_int_equal(kz_json_num(j, "rows", 0), kz_json_num(j, "last", -1));
	kz_json_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_aud9_gap),           T(test_aud9_edit),
		T(test_aud9_removal),       T(test_aud9_tail_cut),
		T(test_aud9_replaced_file), T(test_aud9_head_removed),
		T(test_aud9_head_lags),     T(test_aud9_segments),
		T(test_aud9_segment_lost),  T(test_aud9_concurrent_and_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
