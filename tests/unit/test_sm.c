/* The step over a generated table, and the reasons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/settings.h"
#include "gen/worker_sm.h"
#include "rule/reason.h"
#include "rule/sm.h"

#define BIT(g) KZ_GUARD_BIT(KZ_GUARD_##g)

/* RESET-4, RESET-7, INV-16: each guard of publish alone keeps a worker from becoming warm. */
static void fence_9_reset_4_7_inv_16_publish_needs_each_guard(void **state)
{
	const uint32_t all =
		BIT(TOKEN_MATCHES) | BIT(IN_FORCE) | BIT(EVIDENCE_OK) | BIT(IMAGE_MATCHES);
	const struct {
		uint32_t missing;
		const char *reason;
	} rows[] = {
		{ BIT(TOKEN_MATCHES), "token_superseded" },
		{ BIT(IN_FORCE), "lease_lost" },
		{ BIT(EVIDENCE_OK), "reset_unclean" },
		{ BIT(IMAGE_MATCHES), "image_mismatch" },
	};
	int to = 77, action = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct kz_err err = KZ_ERR_INIT;

		assert_int_not_equal(KZ_OK, kz_sm_step(&kz_worker_sm, KZ_WORKER_S_RESETTING,
						       KZ_WORKER_E_PUBLISH, all & ~rows[i].missing,
						       &to, &action, &err));
		assert_string_equal(rows[i].reason, err.reason);
		assert_int_equal(77, to);
		assert_int_equal(77, action);
	}
	assert_int_equal(KZ_OK, kz_sm_step(&kz_worker_sm, KZ_WORKER_S_RESETTING,
					   KZ_WORKER_E_PUBLISH, all, &to, &action, NULL));
	assert_int_equal(KZ_WORKER_S_WARM, to);
	assert_int_equal(KZ_WORKER_A_WAKE_WAITERS, action);
}

/* POOL-9: beside "there is none" a worker has these states and no other; a quarantine is a mark, no state. */
static void pool_9_the_states_of_a_worker(void **state)
{
	static const char *const names[] = { "absent", "creating",  "warm",
					     "leased", "resetting", "retiring" };

	(void)state;
	assert_int_equal(kz_worker_sm.state_count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_true(kz_sm_state(&kz_worker_sm, names[i]) >= 0);
}

/* POOL-17: who can become warm, and who leased. */
static void pool_17_warm_and_leased_have_one_way_in_each(void **state)
{
	(void)state;
	for (int s = 0; s < KZ_WORKER_S_COUNT; s++)
		for (int e = 0; e < KZ_WORKER_E_COUNT; e++) {
			int to = kz_sm_cell(&kz_worker_sm, s, e)->to;

			if (to == KZ_WORKER_S_LEASED)
				assert_true(s == KZ_WORKER_S_WARM && e == KZ_WORKER_E_ASSIGN);
			if (to == KZ_WORKER_S_WARM)
				assert_true(
					(s == KZ_WORKER_S_CREATING && e == KZ_WORKER_E_READY) ||
					(s == KZ_WORKER_S_RESETTING && e == KZ_WORKER_E_PUBLISH));
			/* POOL-20, INV-9: capacity falls only at a proof of absence. */
			if (to == KZ_WORKER_S_ABSENT)
				assert_true(kz_sm_cell(&kz_worker_sm, s, e)->guards &
					    BIT(ABSENT_PROVED));
			/* INV-18, FENCE-2: nothing leads back from retiring. */
			if (s == KZ_WORKER_S_RETIRING && to >= 0)
				assert_true(to == KZ_WORKER_S_RETIRING || to == KZ_WORKER_S_ABSENT);
		}
}

/* FENCE-9: whatever a former holder tries on a worker that was taken from it is refused. */
static void fence_9_a_former_holder_moves_nothing(void **state)
{
	static const int tries[] = { KZ_WORKER_E_RELEASE, KZ_WORKER_E_PUBLISH,
				     KZ_WORKER_E_RESET_FAILED, KZ_WORKER_E_ABANDON };
	static const int states[] = { KZ_WORKER_S_WARM, KZ_WORKER_S_RETIRING, KZ_WORKER_S_ABSENT };

	(void)state;
	for (size_t s = 0; s < 3; s++)
		for (size_t e = 0; e < 4; e++) {
			struct kz_err err = KZ_ERR_INIT;
			int to, action;

			assert_int_equal(KZ_E_NO, kz_sm_step(&kz_worker_sm, states[s], tries[e],
							     UINT32_MAX, &to, &action, &err));
			assert_string_equal("state_refused", err.reason);
		}
}

static void numbers_outside_a_machine_are_a_bug_not_a_crash(void **state)
{
	static const int bad[] = { -1, 100, INT32_MAX, INT32_MIN };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct kz_err err = KZ_ERR_INIT;
		int to, action;

		assert_int_equal(KZ_E_SOFTWARE,
				 kz_sm_step(&kz_worker_sm, bad[i], 0, 0, &to, &action, &err));
		assert_int_equal(KZ_E_SOFTWARE,
				 kz_sm_step(&kz_worker_sm, 0, bad[i], 0, &to, &action, &err));
		assert_null(kz_sm_cell(&kz_worker_sm, bad[i], 0));
		assert_string_equal("?", kz_sm_state_name(&kz_worker_sm, bad[i]));
		assert_false(kz_sm_is_final(&kz_worker_sm, bad[i]));
	}
	assert_int_equal(-1, kz_sm_state(&kz_worker_sm, "nowhere"));
	assert_null(kz_sm_find("nothing"));
	assert_ptr_equal(&kz_worker_sm, kz_sm_find("worker"));
}

/* EXEC-16: a refusal and a fault never share a status; every code finds its row. */
static void exec_16_reasons(void **state)
{
	enum kz_reason r = KZ_R_INTERNAL;
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	for (int i = 0; i < KZ_REASON_COUNT; i++) {
		int s = kz_reason_status((enum kz_reason)i);

		assert_true(kz_reason_find(kz_reason_code((enum kz_reason)i), &r));
		assert_int_equal(i, r);
		assert_int_equal(kz_reason_is_refusal(r), s < 69 || s > 74);
		assert_true(strlen(kz_reason_code(r)) < sizeof(err.reason));
		assert_int_equal(s, kz_rc_status(kz_refuse(&err, r, NULL)));
		assert_string_equal(kz_reason_text(r), err.text);
	}
	assert_false(kz_reason_find("no_such_reason", &r));
	assert_false(kz_reason_find(NULL, &r));
	assert_int_equal(KZ_E_TEMPFAIL, kz_refuse(&err, KZ_R_QUEUE_FULL, "%d wait", 256));
	assert_string_equal("256 wait", err.text);
	assert_string_equal("queue_full", err.reason);
	assert_int_equal(KZ_E_SOFTWARE, kz_refuse(NULL, (enum kz_reason)100000, NULL));
}

/* POOL-8: every default lies inside its own bounds and is what the filler writes. */
static void pool_8_defaults(void **state)
{
	struct kz_settings s;

	(void)state;
	memset(&s, 0xa5, sizeof(s));
	kz_settings_default(&s);
	for (int i = 0; i < KZ_SETTING_COUNT; i++) {
		const struct kz_setting *t = &kz_setting_table[i];

		assert_true(t->offset + t->size <= sizeof(s));
		/* POL-10: what a policy setting is packaged with is no default of the program. */
		assert_true((t->type == KZ_SETTING_POLICY) == (t->packaged != NULL));
		if (t->packaged) {
			assert_int_equal(t->size, 0);
			assert_string_equal(t->default_text, "");
			assert_true((int64_t)strlen(t->packaged) <= t->most);
		}
		if (t->type == KZ_SETTING_INT) {
			int64_t v;

			memcpy(&v, (const char *)&s + t->offset, sizeof(v));
			assert_true(v >= t->least && v <= t->most);
		} else if (t->type == KZ_SETTING_TEXT) {
			assert_int_equal(t->most + 1, t->size);
			assert_string_equal(t->default_text, (const char *)&s + t->offset);
		}
	}
	assert_int_equal(3, s.sandbox_warm_pool_min);
	assert_int_equal(32, s.sandbox_pool_max_allocated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fence_9_reset_4_7_inv_16_publish_needs_each_guard),
		cmocka_unit_test(pool_9_the_states_of_a_worker),
		cmocka_unit_test(pool_17_warm_and_leased_have_one_way_in_each),
		cmocka_unit_test(fence_9_a_former_holder_moves_nothing),
		cmocka_unit_test(numbers_outside_a_machine_are_a_bug_not_a_crash),
		cmocka_unit_test(exec_16_reasons),
		cmocka_unit_test(pool_8_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
