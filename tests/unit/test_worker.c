/* The pure parts of the worker: kept output, tenure, and the judge of its readings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/reset/judge.h"
#include "port/json.h"
#include "worker/gauge.h"
#include "worker/keep.h"
#include "worker/tenure.h"

#define LEASE "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"

/* Feed sizes of a stream; returns all that is kept of it so far. */
static int64_t feed(struct kz_keep *k, enum kz_keep_stream s, size_t n)
{
	char *p = calloc(1, n + 1);

	kz_keep_add(k, s, p, n);
	free(p);
	return k->of[s].kept;
}

static int64_t end(struct kz_keep *k)
{
	const char *p;

	kz_keep_end(k, &p);
	return k->of[KZ_KEEP_OUT].kept + k->of[KZ_KEEP_ERR].kept;
}

static void bound_12_one_stream_to_the_byte(void **state)
{
	static const int64_t bounds[] = { 1, 7, 8, 9, 1000, 524288, 1048576 };

	(void)state;
	for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
		for (int s = 0; s < KZ_KEEP_STREAMS; s++)
			for (int64_t more = -1; more < 3; more++) {
				struct kz_keep k;
				int64_t n = bounds[i] + more;

				assert_int_equal(kz_keep_start(&k, bounds[i], NULL), KZ_OK);
				/* in uneven pieces */
				for (int64_t at = 0; at < n;) {
					int64_t part = n - at < 37777 ? n - at : 37777;

					feed(&k, (enum kz_keep_stream)s, (size_t)part);
					at += part;
				}
				assert_int_equal(end(&k), n < bounds[i] ? n : bounds[i]);
				assert_int_equal(k.of[s].seen, n);
				kz_keep_release(&k);
			}
}

static void bound_3_a_flood_leaves_the_share(void **state)
{
	struct kz_keep k;

	(void)state;
	assert_int_equal(kz_keep_start(&k, 80000, NULL), KZ_OK);
	assert_int_equal(feed(&k, KZ_KEEP_OUT, 10000000), 70000);
	assert_int_equal(feed(&k, KZ_KEEP_ERR, 4000), 4000);
	assert_int_equal(end(&k), 80000);
	assert_int_equal(k.of[KZ_KEEP_OUT].kept, 76000);
	kz_keep_release(&k);
}

static void bound_3_kept_is_a_prefix(void **state)
{
	struct kz_keep k;
	const char *p;
	char in[100], got[100];
	size_t n = 0, m;

	(void)state;
	for (size_t i = 0; i < sizeof in; i++)
		in[i] = (char)i;
	assert_int_equal(kz_keep_start(&k, 64, NULL), KZ_OK);
	for (size_t at = 0; at < sizeof in; at += 10) {
		m = kz_keep_add(&k, KZ_KEEP_OUT, in + at, 10);
		memcpy(got + n, in + at, m);
		n += m;
		if (at == 20)
			kz_keep_add(&k, KZ_KEEP_ERR, in, 30);
	}
	m = kz_keep_end(&k, &p);
	memcpy(got + n, p, m);
	n += m;
	assert_int_equal(n, 34);
	assert_memory_equal(got, in, n);
	kz_keep_release(&k);
}

static struct kz_deadline at(int64_t ms)
{
	return (struct kz_deadline){ ms };
}

static void fence_12_bind(void **state)
{
	struct kz_tenure t = { .state = KZ_TENURE_CLEAN };
	bool again;

	(void)state;
	assert_int_not_equal(kz_tenure_bind(&t, "no lease", 5, KZ_MS(100), at(0), &again, NULL),
			     KZ_OK);
	assert_int_not_equal(kz_tenure_bind(&t, NULL, 5, KZ_MS(100), at(0), &again, NULL), KZ_OK);
	assert_int_not_equal(kz_tenure_bind(&t, LEASE, 0, KZ_MS(100), at(0), &again, NULL), KZ_OK);
	assert_int_not_equal(kz_tenure_bind(&t, LEASE, 5, KZ_MS(0), at(0), &again, NULL), KZ_OK);
	assert_int_not_equal(
		kz_tenure_bind(&t, LEASE, 5, KZ_MS(KZ_TENURE_TTL_MOST + 1), at(0), &again, NULL),
		KZ_OK);
	assert_int_equal(kz_tenure_bind(&t, LEASE, 5, KZ_MS(100), at(0), &again, NULL), KZ_OK);
	assert_false(again);
	assert_int_equal(kz_tenure_bind(&t, LEASE, 5, KZ_MS(100), at(50), &again, NULL), KZ_OK);
	assert_true(again);
	assert_int_equal(t.until.boot_ms, 100);
	assert_int_not_equal(kz_tenure_bind(&t, LEASE, 6, KZ_MS(100), at(50), &again, NULL), KZ_OK);
	assert_int_not_equal(kz_tenure_bind(&t, OTHER, 9, KZ_MS(100), at(50), &again, NULL), KZ_OK);
	assert_int_not_equal(kz_tenure_bind(&t, LEASE, 5, KZ_MS(100), at(100), &again, NULL),
			     KZ_OK);
	assert_int_equal(kz_tenure_reset(&t, LEASE, NULL), KZ_OK);
	assert_int_not_equal(kz_tenure_bind(&t, OTHER, 9, KZ_MS(100), at(50), &again, NULL), KZ_OK);
	kz_tenure_clean(&t);
	assert_int_not_equal(kz_tenure_bind(&t, OTHER, 5, KZ_MS(100), at(0), &again, NULL), KZ_OK);
	assert_int_equal(kz_tenure_bind(&t, OTHER, 6, KZ_MS(100), at(0), &again, NULL), KZ_OK);
}

static void fence_12_only_a_clean_worker_is_bound(void **state)
{
	bool again;

	(void)state;
	for (int s = KZ_TENURE_BOUND; s <= KZ_TENURE_BROKEN; s++) {
		struct kz_tenure t = { .state = (enum kz_tenure_state)s,
				       .lease = OTHER,
				       .fence = 1 };

		assert_int_not_equal(kz_tenure_bind(&t, LEASE, 5, KZ_MS(100), at(0), &again, NULL),
				     KZ_OK);
		assert_int_equal(t.fence, 1);
	}
}

static void fence_1_past_the_deadline_nothing_is_allowed(void **state)
{
	struct kz_tenure t = { .state = KZ_TENURE_CLEAN };
	bool again;

	(void)state;
	assert_int_equal(kz_tenure_bind(&t, LEASE, 5, KZ_MS(100), at(1000), &again, NULL), KZ_OK);
	assert_int_equal(kz_tenure_check(&t, LEASE, at(1099), NULL), KZ_OK);
	assert_int_not_equal(kz_tenure_check(&t, OTHER, at(1099), NULL), KZ_OK);
	assert_int_not_equal(kz_tenure_check(&t, NULL, at(1099), NULL), KZ_OK);
	assert_int_not_equal(kz_tenure_check(&t, LEASE, at(1100), NULL), KZ_OK);
	/* extended from the clock that was read before, never shortened, never from the future */
	assert_int_equal(kz_tenure_extend(&t, LEASE, 1050, KZ_MS(100), at(1060), NULL), KZ_OK);
	assert_int_equal(t.until.boot_ms, 1150);
	assert_int_equal(kz_tenure_extend(&t, LEASE, 1040, KZ_MS(100), at(1060), NULL), KZ_OK);
	assert_int_equal(t.until.boot_ms, 1150);
	assert_int_not_equal(kz_tenure_extend(&t, LEASE, 1061, KZ_MS(100), at(1060), NULL), KZ_OK);
	assert_int_not_equal(kz_tenure_extend(&t, LEASE, 1060, KZ_MS(100), at(1150), NULL), KZ_OK);
	t.state = KZ_TENURE_EXPIRED;
	assert_int_not_equal(kz_tenure_reset(&t, LEASE, NULL), KZ_OK);
	t.state = KZ_TENURE_ENDED;
	assert_int_not_equal(kz_tenure_reset(&t, OTHER, NULL), KZ_OK);
	assert_int_equal(kz_tenure_reset(&t, LEASE, NULL), KZ_OK);
}

/* Readings as a good worker sends them. */
static struct kz_json *readings(void)
{
	struct kz_json *o = kz_json_object(), *all = kz_json_object();

	for (int i = 0; i < KZ_SURFACE_COUNT; i++) {
		struct kz_json *s = kz_json_object();

		kz_json_set_int(s, "now", 3);
		kz_json_set_int(s, "baseline", 3);
		kz_json_set(all, kz_surface_code((enum kz_surface)i), s);
	}
	kz_json_set_str(o, "worker", "w-1");
	kz_json_set_str(o, "instance", OTHER);
	kz_json_set_str(o, "token", "t");
	kz_json_set_bool(o, "init_dead", true);
	kz_json_set_int(o, "killed_us", 10);
	kz_json_set_int(o, "wiped_us", 20);
	kz_json_set_int(o, "measured_us", 30);
	kz_json_set(o, "surfaces", all);
	return o;
}

static bool is_clean(struct kz_json *r, const char *dirty)
{
	const struct kz_lease lease = { .id = LEASE, .worker = "w-1", .instance = OTHER };
	struct kz_evidence e;
	struct kz_json *o;
	bool clean;

	kz_judge_read(r, &lease, "t", &e);
	o = kz_judge_evidence(&e, &lease, "t", &clean);
	assert_int_equal(kz_json_flag(o, "clean", !clean), clean);
	if (dirty)
		assert_string_equal(kz_json_str(o, "dirty", ""), dirty);
	kz_json_free(o);
	kz_json_free(r);
	return clean;
}

static void reset_4_readings_missing_or_malformed(void **state)
{
	struct kz_json *r;

	(void)state;
	assert_true(is_clean(readings(), NULL));
	assert_false(is_clean(NULL, kz_surface_code(0)));
	assert_false(is_clean(kz_json_object(), kz_surface_code(0)));
	for (int i = 0; i < KZ_SURFACE_COUNT; i++) {
		const char *code = kz_surface_code((enum kz_surface)i);

		r = readings();
		kz_json_set(kz_json_get(r, "surfaces"), code, kz_json_null());
		assert_false(is_clean(r, code));
		r = readings();
		kz_json_set_str(kz_json_get(kz_json_get(r, "surfaces"), code), "now", "3");
		assert_false(is_clean(r, code));
		r = readings();
		kz_json_set_int(kz_json_get(kz_json_get(r, "surfaces"), code), "now", 4);
		assert_false(is_clean(r, code));
		r = readings();
		kz_json_set_str(kz_json_get(kz_json_get(r, "surfaces"), code), "digest", "x");
		assert_false(is_clean(r, code));
	}
}

static void reset_6_order_and_identity(void **state)
{
	static const struct {
		const char *key, *text;
		int64_t number;
	} wrong[] = { { "worker", "w-2", 0 },   { "instance", LEASE, 0 },
		      { "token", "u", 0 },      { "killed_us", NULL, 21 },
		      { "wiped_us", NULL, 31 }, { "measured_us", NULL, 19 } };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct kz_json *r = readings();

		if (wrong[i].text)
			kz_json_set_str(r, wrong[i].key, wrong[i].text);
		else
			kz_json_set_int(r, wrong[i].key, wrong[i].number);
		assert_false(is_clean(r, "order"));
	}
}

static void bound_reads(int fd, const char *wanted)
{
	char text[32] = "";

	assert_true(pread(fd, text, sizeof text - 1, 0) > 0);
	assert_string_equal(wanted, text);
}

/* BOUND-8: of two files the second may fail; a bound is changed whole or not at all. */
static void bound_8_a_bound_of_memory_is_never_half_changed(void **state)
{
	int good = memfd_create("bound", MFD_CLOEXEC);
	int bad = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct kz_boot b = { .memory_bytes = 100 };

	(void)state;
	assert_true(good >= 0 && bad >= 0);
	b.fds.memory_max = b.fds.swap_max = good;
	assert_int_equal(0, kz_gauge_memory_bound(&b, 100, 200));
	bound_reads(good, "200");
	/* to raise it, memory and swap are first, to lower it, memory is */
	b.fds.memory_max = bad;
	assert_int_equal(-1, kz_gauge_memory_bound(&b, 200, 300));
	assert_int_equal(EBADF, errno);
	bound_reads(good, "200");
	b.fds.memory_max = good;
	b.fds.swap_max = bad;
	assert_int_equal(-1, kz_gauge_memory_bound(&b, 200, 100));
	bound_reads(good, "200");
	b.fds.memory_max = b.fds.swap_max = -1; /* nothing to write to: no effect */
	assert_int_equal(0, kz_gauge_memory_bound(&b, 200, 300));
	close(good);
	close(bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bound_12_one_stream_to_the_byte),
		cmocka_unit_test(bound_3_a_flood_leaves_the_share),
		cmocka_unit_test(bound_3_kept_is_a_prefix),
		cmocka_unit_test(bound_8_a_bound_of_memory_is_never_half_changed),
		cmocka_unit_test(fence_12_bind),
		cmocka_unit_test(fence_12_only_a_clean_worker_is_bound),
		cmocka_unit_test(fence_1_past_the_deadline_nothing_is_allowed),
		cmocka_unit_test(reset_4_readings_missing_or_malformed),
		cmocka_unit_test(reset_6_order_and_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
