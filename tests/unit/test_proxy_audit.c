/* Refusals of the proxy on their way to the audit: none crowds out another's, none spoils the others (AUD-6, PROXY-13). */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/time.h"
#include "core/audit/audit.h"
#include "core/audit/read.h"
#include "core/egress/proxy_audit.h"
#include "port/json.h"

#define LOUD "0123456789abcdef0123456789abcdef"
#define QUIET "fedcba9876543210fedcba9876543210"

/* How far the clock of the day is ahead of what the kernel waits by. */
static atomic_int ahead_s;

int clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, id, t);

	if (id == CLOCK_REALTIME)
		t->tv_sec += atomic_load(&ahead_s);
	return rc;
}

struct place {
	char dir[64], path[96];
	struct kz_px_audit audit;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	kz_str_copy(p->dir, sizeof(p->dir), "/tmp/kz-pxaudit-XXXXXX", NULL);
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->path, sizeof(p->path), "%s/audit.db", p->dir);
	*state = p;
	return kz_px_audit_start(&p->audit, p->path, NULL) == KZ_OK ? 0 : -1;
}

static int teardown(void **state)
{
	struct place *p = *state;
	enum kz_rc rc = kz_tree_remove(AT_FDCWD, p->dir, NULL);

	free(p);
	return rc == KZ_OK ? 0 : -1;
}

static void refuse(struct place *p, enum kz_reason reason, const char *host, uint16_t port,
		   const char *execution)
{
	struct kz_target t = { .port = port };

	assert_int_equal(kz_str_copy(t.host, sizeof(t.host), host, NULL), KZ_OK);
	struct kz_grant g = { .uid_count = 0 };
	struct kz_px_refused r = { .grant = &g, .is_own = true, .execution = execution };

	assert_int_equal(kz_str_copy(g.execution, sizeof(g.execution), execution, NULL), KZ_OK);
	kz_px_audit_put(&p->audit, reason, &t, &r);
}

/* One by a peer without a grant, whatever execution it names. */
static void refuse_peer(struct place *p, uint32_t uid, const char *host, const char *execution)
{
	struct kz_px_refused r = { .uid = uid, .execution = execution };
	struct kz_target t = { .port = 443 };

	assert_int_equal(kz_str_copy(t.host, sizeof(t.host), host, NULL), KZ_OK);
	kz_px_audit_put(&p->audit, KZ_R_GRANT_MALFORMED, &t, &r);
}

static enum kz_rc collect(void *arg, struct kz_json *j, struct kz_err *err)
{
	(void)err;
	kz_json_append(arg, j);
	return KZ_OK;
}

/* Stop the writer; all of its rows. */
static struct kz_json *written(struct place *p)
{
	struct kz_audit_filter f = { .kind = "denial" };
	struct kz_json *rows = kz_json_array();

	kz_px_audit_stop(&p->audit);
	assert_int_equal(kz_audit_each(p->path, &f, collect, rows, NULL), KZ_OK);
	return rows;
}

static const struct kz_json *part(const struct kz_json *rows, size_t i)
{
	return kz_json_at(kz_json_get(kz_json_at(rows, i), "egress"), 0);
}

static int64_t total(const struct kz_json *rows, const char *execution, int64_t *count)
{
	int64_t n = 0;

	*count = 0;
	for (size_t i = 0; i < kz_json_count(rows); i++) {
		if (!kz_str_eq(kz_json_str(part(rows, i), "execution", ""), execution))
			continue;
		n++;
		*count += kz_json_num(part(rows, i), "count", 0);
	}
	return n;
}

static void test_aud6_the_same_is_one_row(void **state)
{
	struct place *p = *state;
	struct kz_json *rows;
	int64_t count;

	for (int i = 0; i < 100; i++)
		refuse(p, KZ_R_HOST_NOT_ALLOWED, "a.example", 443, QUIET);
	refuse(p, KZ_R_HOST_NOT_ALLOWED, "a.example", 80, QUIET);
	refuse(p, KZ_R_PORT_NOT_ALLOWED, "a.example", 443, QUIET);
	rows = written(p);
	/* a second may end in between: then it is one row more, and the count is the same */
	assert_true(total(rows, QUIET, &count) >= 3);
	assert_true(total(rows, QUIET, &count) <= 6);
	assert_int_equal(count, 102);
	kz_json_free(rows);
}

/* One that scans a thousand hosts costs rows within a bound, loses no count, and hides nothing of another's. */
static void test_aud6_none_crowds_out_another(void **state)
{
	struct place *p = *state;
	struct kz_json *rows;
	int64_t count, by_reason = 0;
	char host[64];

	for (int i = 0; i < 20000; i++) {
		snprintf(host, sizeof(host), "h%d.example", i);
		refuse(p, i % 2 ? KZ_R_HOST_NOT_ALLOWED : KZ_R_DNS_FAILED, host, 443, LOUD);
	}
	refuse(p, KZ_R_ADDRESS_METADATA, "169.254.169.254", 80, QUIET);
	rows = written(p);
	assert_int_equal(total(rows, QUIET, &count), 1);
	assert_int_equal(count, 1);
	total(rows, LOUD, &count);
	assert_int_equal(count, 20000);
	for (size_t i = 0; i < kz_json_count(rows); i++)
		if (kz_json_is_null(kz_json_get(part(rows, i), "host")))
			by_reason += kz_json_num(part(rows, i), "count", 0);
	assert_true(by_reason > 0);
	assert_int_equal(atomic_load(&p->audit.lost), 0);
	kz_json_free(rows);
}

static void flood(struct place *p, int from, int to, const char *execution)
{
	char host[64];

	for (int i = from; i < to; i++) {
		snprintf(host, sizeof(host), "h%d.example", i);
		refuse(p, KZ_R_HOST_NOT_ALLOWED, host, 443, execution);
	}
}

static bool is_drained(struct place *p)
{
	size_t used;

	pthread_mutex_lock(&p->audit.lock);
	used = p->audit.used;
	pthread_mutex_unlock(&p->audit.lock);
	/* but for the rest, which waits for its minute */
	return used <= KZ_PX_REST;
}

/* Who goes on for minutes has a thousand rows, then one a minute for each reason; counts stay right, another has all of its own. */
static void test_aud6_a_grant_has_so_many_rows(void **state)
{
	struct place *p = *state;
	struct kz_json *rows;
	int64_t count, of_loud;
	int sent = 0;

	for (int wave = 0; wave < 7; wave++) {
		flood(p, sent, sent + KZ_PX_EACH, LOUD);
		sent += KZ_PX_EACH;
		for (int i = 0; i < 600 && !is_drained(p); i++)
			kz_time_sleep(KZ_MS(50), KZ_NEVER);
		assert_true(is_drained(p));
	}
	refuse(p, KZ_R_ADDRESS_METADATA, "169.254.169.254", 80, QUIET);
	rows = written(p);
	of_loud = total(rows, LOUD, &count);
	assert_int_equal(count, sent);
	assert_true(of_loud > KZ_PX_ROWS);
	assert_true(of_loud <= KZ_PX_ROWS + KZ_PX_REST);
	assert_int_equal(total(rows, QUIET, &count), 1);
	assert_int_equal(atomic_load(&p->audit.lost), 0);
	kz_json_free(rows);
}

/* An execution that a peer only names costs that execution nothing, and many such names are one peer's. */
static void test_aud6_a_name_is_no_grant(void **state)
{
	struct place *p = *state;
	struct kz_json *rows;
	int64_t count, with_host = 0;
	char host[64], name[KZ_ID_HEX];

	for (int i = 0; i < 2 * KZ_PX_DENIALS; i++) {
		snprintf(host, sizeof(host), "h%d.example", i);
		snprintf(name, sizeof(name), "%032x", i);
		refuse_peer(p, 1000, host, i % 2 ? QUIET : name);
	}
	for (int i = 0; i < 50; i++) {
		snprintf(host, sizeof(host), "q%d.example", i);
		refuse(p, KZ_R_HOST_NOT_ALLOWED, host, 443, QUIET);
	}
	refuse_peer(p, 2000, "other.example", LOUD);
	rows = written(p);
	for (size_t i = 0; i < kz_json_count(rows); i++)
		with_host += kz_str_eq(kz_json_str(kz_json_at(rows, i), "reason", ""),
				       "host_not_allowed") &&
			     !kz_json_is_null(kz_json_get(part(rows, i), "host"));
	assert_int_equal(with_host, 50);
	assert_int_equal(total(rows, LOUD, &count), 1);
	assert_true(kz_json_count(rows) <= 50 + 1 + 4 * (KZ_PX_EACH + KZ_PX_REST));
	kz_json_free(rows);
}

/* The writer looks at the clock, and then the clock is set back an hour: what waits is written all the same. */
static void test_aud6_a_clock_that_is_set_back_holds_up_no_row(void **state)
{
	struct place *p = *state;
	struct kz_json *rows;
	int64_t count;

	atomic_store(&ahead_s, 3600);
	refuse(p, KZ_R_HOST_NOT_ALLOWED, "a.example", 443, QUIET);
	for (int i = 0; i < 600 && atomic_load(&p->audit.written) == 0; i++)
		kz_time_sleep(KZ_MS(50), KZ_NEVER);
	atomic_store(&ahead_s, 0);
	assert_int_equal(atomic_load(&p->audit.written), 1);
	rows = written(p);
	assert_int_equal(total(rows, QUIET, &count), 1);
	kz_json_free(rows);
}

/* A row that the store does not take is lost alone, and at once. */
static void test_aud8_one_bad_row_spoils_no_other(void **state)
{
	struct place *p = *state;
	struct kz_json *rows;
	int64_t count;

	refuse(p, KZ_R_HOST_NOT_ALLOWED, "good.example", 443, QUIET);
	refuse(p, KZ_R_HOST_NOT_ALLOWED, "NO host at all", 443, QUIET);
	refuse(p, KZ_R_HOST_NOT_ALLOWED, "other.example", 443, QUIET);
	rows = written(p);
	assert_int_equal(total(rows, QUIET, &count), 2);
	assert_int_equal(atomic_load(&p->audit.lost), 1);
	assert_int_equal(atomic_load(&p->audit.written), 2);
	assert_false(atomic_load(&p->audit.is_failing));
	kz_json_free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_aud6_the_same_is_one_row),
		T(test_aud6_none_crowds_out_another),
		T(test_aud6_a_grant_has_so_many_rows),
		T(test_aud6_a_name_is_no_grant),
		T(test_aud6_a_clock_that_is_set_back_holds_up_no_row),
		T(test_aud8_one_bad_row_spoils_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
