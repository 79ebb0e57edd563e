/* rule/result: what a run's end means, over the whole matrix of facts [EXEC-8, EXEC-16]. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rule/reason.h"
#include "rule/result.h"

#define RAN(c) .is_dispatched = true, .has_record = true, .is_started = true, .cause = KZ_CAUSE_##c

struct row {
	struct kz_run_facts f;
	enum kz_outcome outcome;
	const char *cause, *reason; /* reason NULL: none */
	int plain, json;
};

static const struct row rows[] = {
	{ { RAN(EXIT) }, KZ_OUTCOME_COMPLETED, "exit", NULL, 0, 0 },
	{ { RAN(EXIT), .exit = 1 }, KZ_OUTCOME_FAILED, "exit", NULL, 1, 1 },
	{ { RAN(EXIT), .exit = 255 }, KZ_OUTCOME_FAILED, "exit", NULL, 255, 1 },
	{ { RAN(EXIT), .exit = 125 }, KZ_OUTCOME_FAILED, "exit", NULL, 125, 1 },
	{ { RAN(SIGNAL), .signal = SIGSEGV }, KZ_OUTCOME_FAILED, "signal", NULL, 139, 1 },
	{ { RAN(WALL) }, KZ_OUTCOME_BOUNDED, "wall", "wall_exceeded", 124, 1 },
	{ { RAN(MEMORY) }, KZ_OUTCOME_BOUNDED, "memory", "memory_exceeded", 125, 1 },
	{ { RAN(PIDS) }, KZ_OUTCOME_BOUNDED, "pids", "pids_exceeded", 125, 1 },
	{ { RAN(CPU) }, KZ_OUTCOME_BOUNDED, "cpu", "cpu_exceeded", 125, 1 },
	{ { RAN(LEASE_LOST) }, KZ_OUTCOME_UNKNOWN, "lease_lost", "lease_lost", 125, 74 },
	{ { RAN(TRANSPORT_LOST) },
	  KZ_OUTCOME_UNKNOWN,
	  "transport_lost",
	  "outcome_unknown",
	  125,
	  74 },
	/* no record came, and the host's bound was seen to have ended the worker */
	{ { .is_dispatched = true, .cause = KZ_CAUSE_MEMORY },
	  KZ_OUTCOME_UNKNOWN,
	  "memory",
	  "outcome_unknown",
	  125,
	  74 },
	{ { RAN(UNKNOWN) }, KZ_OUTCOME_UNKNOWN, "unknown", "outcome_unknown", 125, 74 },
	{ { RAN(NONE) }, KZ_OUTCOME_UNKNOWN, "unknown", "outcome_unknown", 125, 74 },
	/* over-bound output never ends a run, and plain readers must still notice */
	{ { RAN(EXIT), .is_output_cut = true },
	  KZ_OUTCOME_COMPLETED,
	  "exit",
	  "output_truncated",
	  125,
	  0 },
	{ { RAN(EXIT), .exit = 3, .is_output_cut = true }, KZ_OUTCOME_FAILED, "exit", NULL, 3, 1 },
	{ { RAN(WALL), .is_output_cut = true },
	  KZ_OUTCOME_BOUNDED,
	  "wall",
	  "wall_exceeded",
	  124,
	  1 },
	/* what kz failed to deliver after a good end */
	{ { RAN(EXIT), .has_failure = true, .failure = KZ_R_OUTPUT_MISSING },
	  KZ_OUTCOME_FAILED,
	  "exit",
	  "output_missing",
	  125,
	  65 },
	{ { RAN(EXIT), .exit = 2, .has_failure = true, .failure = KZ_R_OUTPUT_MISSING },
	  KZ_OUTCOME_FAILED,
	  "exit",
	  "output_missing",
	  2,
	  1 },
	{ { RAN(EXIT), .has_failure = true, .failure = KZ_R_STDOUT_FAILED },
	  KZ_OUTCOME_FAILED,
	  "exit",
	  "stdout_failed",
	  125,
	  74 },
	{ { RAN(SIGNAL), .signal = SIGKILL, .has_failure = true, .failure = KZ_R_STDOUT_FAILED },
	  KZ_OUTCOME_FAILED,
	  "signal",
	  "stdout_failed",
	  125,
	  74 },
	/* the liar: no record, whatever else is known */
	{ { .is_dispatched = true },
	  KZ_OUTCOME_UNKNOWN,
	  "transport_lost",
	  "outcome_unknown",
	  125,
	  74 },
	{ { .is_dispatched = true, .is_started = true, .cause = KZ_CAUSE_EXIT },
	  KZ_OUTCOME_UNKNOWN,
	  "transport_lost",
	  "outcome_unknown",
	  125,
	  74 },
	/* never started */
	{ { .has_failure = true, .failure = KZ_R_WORKSPACE_BUSY },
	  KZ_OUTCOME_REFUSED,
	  "",
	  "workspace_busy",
	  125,
	  75 },
	{ { .has_failure = true, .failure = KZ_R_LEASE_MISMATCH },
	  KZ_OUTCOME_REFUSED,
	  "",
	  "lease_mismatch",
	  125,
	  77 },
	{ { .has_failure = true, .failure = KZ_R_NOT_RUNNING },
	  KZ_OUTCOME_NOT_RUN,
	  "",
	  "not_running",
	  125,
	  69 },
	{ { .has_failure = true, .failure = KZ_R_INPUT_NAME_INVALID },
	  KZ_OUTCOME_NOT_RUN,
	  "",
	  "input_name_invalid",
	  64,
	  64 },
	{ { .has_failure = true, .failure = KZ_R_UNSUPPORTED_LANGUAGE },
	  KZ_OUTCOME_NOT_RUN,
	  "",
	  "unsupported_language",
	  125,
	  65 },
	{ { .is_dispatched = true,
	    .has_record = true,
	    .has_failure = true,
	    .failure = KZ_R_INTERPRETER_MISSING },
	  KZ_OUTCOME_NOT_RUN,
	  "",
	  "interpreter_missing",
	  127,
	  69 },
	{ { .is_dispatched = true,
	    .has_record = true,
	    .has_failure = true,
	    .failure = KZ_R_CANNOT_EXECUTE },
	  KZ_OUTCOME_NOT_RUN,
	  "",
	  "cannot_execute",
	  126,
	  65 },
	{ { .is_dispatched = false }, KZ_OUTCOME_NOT_RUN, "", "internal", 125, 70 },
	/* interrupted */
	{ { RAN(SIGNAL), .signal = SIGKILL, .interrupted = SIGINT },
	  KZ_OUTCOME_FAILED,
	  "signal",
	  "interrupted",
	  130,
	  130 },
	{ { RAN(EXIT), .interrupted = SIGPIPE },
	  KZ_OUTCOME_FAILED,
	  "exit",
	  "interrupted",
	  141,
	  141 },
	{ { .has_failure = true, .failure = KZ_R_CANCELLED, .interrupted = SIGTERM },
	  KZ_OUTCOME_NOT_RUN,
	  "",
	  "interrupted",
	  143,
	  143 },
	{ { .is_dispatched = true, .interrupted = SIGTERM },
	  KZ_OUTCOME_UNKNOWN,
	  "transport_lost",
	  "outcome_unknown",
	  143,
	  143 },
};

static void test_exec16_exact_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct kz_verdict v;

		kz_result_judge(&rows[i].f, &v);
		if (v.outcome != rows[i].outcome || v.plain_status != rows[i].plain ||
		    v.json_status != rows[i].json)
			fail_msg("row %zu: %s %d %d", i, kz_outcome_name(v.outcome), v.plain_status,
				 v.json_status);
		assert_string_equal(kz_cause_name(v.cause), rows[i].cause);
		assert_int_equal(v.has_reason, rows[i].reason != NULL);
		if (rows[i].reason)
			assert_string_equal(kz_reason_code(v.reason), rows[i].reason);
	}
}

/* What must hold whatever the facts are. */
static void check_always(const struct kz_run_facts *f)
{
	struct kz_verdict v;
	bool is_good_end = f->is_dispatched && f->has_record && f->is_started &&
			   f->cause == KZ_CAUSE_EXIT && f->exit == 0 && !f->has_failure &&
			   !f->interrupted;

	kz_result_judge(f, &v);
	assert_int_equal(v.outcome == KZ_OUTCOME_COMPLETED, is_good_end);
	assert_int_equal(v.json_status == 0, is_good_end);
	assert_int_equal(v.plain_status == 0, is_good_end && !f->is_output_cut);
	assert_int_equal(v.cause == KZ_CAUSE_NONE,
			 v.outcome == KZ_OUTCOME_NOT_RUN || v.outcome == KZ_OUTCOME_REFUSED);
	assert_int_equal(v.has_exit, v.cause == KZ_CAUSE_EXIT);
	assert_int_equal(v.has_signal, v.cause == KZ_CAUSE_SIGNAL);
	if (f->is_dispatched && !f->has_record)
		assert_int_equal(v.outcome, KZ_OUTCOME_UNKNOWN);
	if (!f->is_dispatched)
		assert_true(v.outcome == KZ_OUTCOME_NOT_RUN || v.outcome == KZ_OUTCOME_REFUSED);
	if (v.outcome != KZ_OUTCOME_COMPLETED && !v.has_exit && !v.has_signal)
		assert_true(v.has_reason);
	assert_in_range(v.plain_status, 0, 255);
	assert_in_range(v.json_status, 0, 255);
}

static void test_exec8_the_whole_matrix(void **state)
{
	static const int ends[] = { 0, 1, 64, 124, 125, 126, 127, 255 };
	static const int interrupts[] = { 0, SIGINT, SIGTERM, SIGPIPE };
	enum kz_reason last = (enum kz_reason)(KZ_REASON_COUNT - 1);

	(void)state;
	for (unsigned bits = 0; bits < 16; bits++)
		for (int cause = KZ_CAUSE_NONE; cause <= KZ_CAUSE_UNKNOWN; cause++)
			for (size_t e = 0; e < 8; e++)
				for (size_t s = 0; s < 4; s++)
					for (int r = -1; r <= (int)last; r++) {
						struct kz_run_facts f = {
							.is_dispatched = bits & 1,
							.has_record = bits & 2,
							.is_started = bits & 4,
							.is_output_cut = bits & 8,
							.cause = (enum kz_cause)cause,
							.exit = ends[e],
							.signal = 1 + (int)e,
							.interrupted = interrupts[s],
							.has_failure = r >= 0,
							.failure = (enum kz_reason)(r < 0 ? 0 : r),
						};
						check_always(&f);
					}
}

static void test_exec16_names(void **state)
{
	enum kz_cause c;

	(void)state;
	assert_true(kz_cause_find("lease_lost", &c));
	assert_int_equal(c, KZ_CAUSE_LEASE_LOST);
	assert_false(kz_cause_find("", &c));
	assert_int_equal(c, KZ_CAUSE_UNKNOWN);
	assert_false(kz_cause_find("exit ", &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec16_exact_rows),
		cmocka_unit_test(test_exec8_the_whole_matrix),
		cmocka_unit_test(test_exec16_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
