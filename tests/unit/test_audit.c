/* The audit store: what it takes, and what it refuses. test_audit_chain.c has what verify sees. */
#include <fcntl.h>

#include "audit_place.h"
#include "base/fd.h"
#include "core/audit/event.h"
#include "gen/worker_sm.h"

/* Every pair of the worker machine: what the table has goes in, what it has not is refused. */
static void test_pool10_impossible_transition(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);
	const struct kz_sm *m = &kz_worker_sm;
	int64_t seq = 0;

	for (int s = 0; s < m->state_count; s++)
		for (int e = 0; e < m->event_count; e++)
			for (int to = 0; to < m->state_count; to++) {
				const struct kz_sm_cell *c = &m->cells[s * m->event_count + e];
				struct kz_transition t =
					step(seq + 1, m->states[s], m->events[e], m->states[to]);
				struct kz_err err = KZ_ERR_INIT;
				enum kz_rc rc = kz_audit_transitions(a, &t, 1, false, &err);

				if (c->to == to) {
					assert_int_equal(rc, KZ_OK);
					seq++;
				} else {
					assert_int_equal(rc, KZ_E_SOFTWARE);
					assert_string_equal(err.reason, "audit_refused");
				}
			}
	assert_true(seq > 20);
	kz_audit_close(a);
	expect_ok(p, seq);
}

static void test_aud8_append_only(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);

	put_steps(a, 1, 3);
	kz_audit_close(a);
	assert_int_equal(sql_rc(p, "UPDATE transition SET to_state = 'warm' WHERE id = 2"),
			 KZ_E_DATA);
	assert_int_equal(sql_rc(p, "UPDATE entry SET at_ms = 1"), KZ_E_DATA);
	assert_int_equal(sql_rc(p, "DELETE FROM transition WHERE id = 3"), KZ_E_DATA);
	assert_int_equal(sql_rc(p, "DELETE FROM entry WHERE id = 3"), KZ_E_DATA);
	assert_int_equal(
		sql_rc(p,
		       "INSERT OR REPLACE INTO transition SELECT * FROM transition WHERE id = 2"),
		KZ_E_DATA);
	assert_int_equal(
		sql_rc(p, "INSERT INTO entry SELECT 1, at_ms, kind, hash FROM entry WHERE id = 3"),
		KZ_E_DATA);
	assert_int_equal(sql_rc(p, "DELETE FROM machine_edge"), KZ_E_DATA);
	assert_int_equal(sql_rc(p, "DELETE FROM reason WHERE code = 'internal'"), KZ_E_DATA);
	expect_ok(p, 3);
}

/* Every table of the file, what codes may be included, refuses change and removal. */
static void test_aud8_every_table(void **state)
{
	const struct place *p = *state;
	struct kz_db *db = NULL;
	int64_t bare = -1, all = 0;

	kz_audit_close(opened(p));
	assert_int_equal(kz_db_open(&db, p->path, KZ_DB_READ, KZ_SECONDS(5), NULL), KZ_OK);
	assert_int_equal(kz_db_int(db, "SELECT count(*) FROM sqlite_master WHERE type = 'table'", 0,
				   &all, NULL),
			 KZ_OK);
	assert_int_equal(
		kz_db_int(db,
			  "SELECT count(*) FROM sqlite_master t, (SELECT 'update' AS what UNION "
			  "SELECT 'delete') WHERE t.type = 'table' AND NOT EXISTS (SELECT 1 FROM "
			  "sqlite_master WHERE type = 'trigger' AND name = t.name || '_' || what)",
			  0, &bare, NULL),
		KZ_OK);
	kz_db_close(db);
	assert_true(all > 20);
	assert_int_equal(bare, 0);
}

/* A canary in every text that callers can give: nothing of it reaches the file [AUD-2, AUD-11]. */
static void test_aud8_no_free_text(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);
	struct kz_audit_dispatch good = { .run = HEX32,
					  .lease = HEX32,
					  .worker = "kz-1",
					  .actor = HEX32,
					  .conversation = HEX32,
					  .code_sha256 = HEX64,
					  .image = "sha256:" HEX64,
					  .language = "python",
					  .fence = 1,
					  .wall_ms = 1,
					  .memory_bytes = 1,
					  .output_bytes = 1 };
	const char **fields[] = { &good.run,   &good.lease,        &good.worker,
				  &good.actor, &good.conversation, &good.code_sha256,
				  &good.image, &good.language };
	static const char *const bad[] = {
		"CANARY secret", "canary/file", "", "x\ny",
		"CANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARY"
		"CANARYCANARYCANARYCANARYCANARYCANARYCANARY"
	};
	struct kz_err err = KZ_ERR_INIT;
	struct kz_buf file = KZ_BUF_INIT(1 << 24);

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
			const char *keep = *fields[i];
			bool may_be_null = fields[i] == &good.image && !*bad[k];

			if (may_be_null)
				continue;
			*fields[i] = bad[k];
			assert_int_equal(kz_audit_dispatch(a, &good, &err), KZ_E_SOFTWARE);
			assert_string_equal(err.reason, "audit_refused");
			assert_null(strstr(err.text, "CANARY"));
			*fields[i] = keep;
		}
	assert_int_equal(kz_audit_denial(a, "", HEX32, HEX32, "CANARY", &err), KZ_E_SOFTWARE);
	assert_int_equal(kz_audit_denial(a, "CANARY", HEX32, HEX32, "queue_full", &err),
			 KZ_E_SOFTWARE);
	assert_int_equal(kz_audit_denial(a, "", HEX32, "", "queue_full", &err), KZ_OK);
	assert_int_equal(kz_audit_run_step(a, HEX32, "admitted", "CANARY", "prepared", &err),
			 KZ_E_SOFTWARE);
	assert_int_equal(kz_audit_run_step(a, HEX32, "admitted", "prepare", "prepared", &err),
			 KZ_OK);
	assert_int_equal(kz_audit_dispatch(a, &good, &err), KZ_OK);
	assert_int_equal(kz_audit_dispatch(a, &good, &err), KZ_E_SOFTWARE); /* one dispatch a run */
	kz_audit_close(a);
	expect_ok(p, 3);
	assert_int_equal(kz_file_read(AT_FDCWD, p->path, &file, &err), KZ_OK);
	assert_null(memmem(file.data, file.len, "CANARY", 6));
	kz_buf_release(&file);
}

static struct kz_json *parsed(const char *text)
{
	struct kz_json *j = NULL;

	assert_int_equal(kz_json_parse(text, strlen(text), &j, NULL), KZ_OK);
	return j;
}

/* Records and evidence keep numbers, codes and digests; names stay outside [AUD-4, RESET-13]. */
static void test_aud4_record_and_evidence(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);
	struct kz_json *record = parsed(
		"{\"v\":1,\"type\":\"record\",\"run\":\"" HEX32
		"\",\"outcome\":\"failed\",\"cause\":\"exit\","
		"\"exit\":3,\"signal\":null,\"reason\":null,\"wall_ms\":12,\"cpu_ms\":5,\"peak_bytes\":4096,"
		"\"limits_hit\":[\"output\",\"disk\",\"later\"],\"stdout\":{\"seen_bytes\":9,\"kept_bytes\":4,"
		"\"dropped_bytes\":5,\"sha256\":\"" HEX64
		"\"},\"stderr\":{\"seen_bytes\":0,\"kept_bytes\":0,"
		"\"dropped_bytes\":0,\"sha256\":\"" HEX64
		"\"},\"killed_count\":2,\"snapshot\":null,"
		"\"egress\":null,\"outputs\":[{\"name\":\"CANARY.csv\",\"bytes\":7,\"sha256\":\"" HEX64
		"\",\"media_type\":\"text/csv\"}],\"not_run\":false}");
	struct kz_json *evidence = parsed(
		"{\"v\":1,\"type\":\"evidence\",\"clean\":false,\"worker\":\"kz-1\","
		"\"lease\":\"" OTHER32 "\",\"surfaces\":{\"sysv_shm\":{\"now\":1,"
		"\"baseline\":0},\"tmp\":{\"now\":0,\"baseline\":-5,\"text\":\"CANARY\"},"
		"\"disk\":{\"now\":0,\"baseline\":0,\"digest\":\"CANARY/5\",\"baseline_digest\":\"4096/5\"}}}");
	struct kz_audit_filter by_run = { .run = HEX32 }, by_kind = { .kind = "evidence" };
	struct kz_json *rows = kz_json_array(), *row;
	struct kz_err err = KZ_ERR_INIT;
	struct kz_buf text = KZ_BUF_INIT(1 << 20);

	assert_int_equal(kz_audit_record(a, record, NULL, &err), KZ_OK);
	assert_int_equal(kz_audit_evidence(a, evidence, &err), KZ_OK);
	kz_audit_close(a);
	assert_int_equal(kz_audit_each(p->path, &by_run, collect, rows, &err), KZ_OK);
	assert_int_equal(kz_audit_each(p->path, &by_kind, collect, rows, &err), KZ_OK);
	assert_int_equal(kz_json_count(rows), 2);
	row = kz_json_at(rows, 0);
	assert_int_equal(kz_json_num(row, "exit_status", -1), 3);
	assert_true(kz_json_flag(row, "limit_output", false));
	assert_true(kz_json_flag(row, "limit_disk", false));
	assert_true(kz_json_flag(row, "limit_other", false));
	assert_false(kz_json_flag(row, "limit_memory", true));
	assert_int_equal(kz_json_num(kz_json_at(kz_json_get(row, "record_output"), 0), "bytes", -1),
			 7);
	assert_int_equal(kz_json_write(rows, &text, &err), KZ_OK);
	assert_null(strstr(kz_buf_str(&text), "CANARY"));
	assert_non_null(
		strstr(kz_buf_str(&text),
		       "{\"surface\":\"sysv_shm\",\"present\":true,\"now\":1,\"baseline\":0"));
	/* A surface that was not read has a row that says so. */
	assert_non_null(
		strstr(kz_buf_str(&text), "{\"surface\":\"keys\",\"present\":false,\"now\":null"));
	expect_ok(p, 2);
	kz_buf_release(&text);
	kz_json_free(rows);
	kz_json_free(record);
	kz_json_free(evidence);
}

/* Egress refusals: host, port, execution, revision and a count; no host that is not in normal form. */
static void test_aud6_egress(void **state)
{
	static const char *const bad[] = {
		"A.example", "a.example/path", "u@a.example", "a.example?q=1", "a b", "[::1]", " "
	};
	struct place *p = *state;
	struct kz_audit *a = opened(p);
	struct kz_audit_egress e = { .run = HEX32,
				     .actor = OTHER32,
				     .execution = HEX32,
				     .revision = HEX64,
				     .reason = "host_not_allowed",
				     .host = "a.example",
				     .port = 443,
				     .count = 3 };
	struct kz_audit_egress least = { .reason = "head_malformed", .count = 1 };
	char longest[254];

	memset(longest, 'a', 253);
	longest[253] = '\0';
	assert_int_equal(kz_audit_egress_denial(a, &e, NULL), KZ_OK);
	assert_int_equal(kz_audit_egress_denial(a, &least, NULL), KZ_OK);
	e.host = longest;
	assert_int_equal(kz_audit_egress_denial(a, &e, NULL), KZ_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		e.host = bad[i];
		assert_int_not_equal(kz_audit_egress_denial(a, &e, NULL), KZ_OK);
	}
	assert_int_equal(kz_audit_denial(a, HEX32, OTHER32, "", "queue_full", NULL), KZ_OK);
	kz_audit_close(a);
	expect_ok(p, 4);
	assert_int_equal(sql_rc(p, "UPDATE egress SET host = 'b.example'"), KZ_E_DATA);
	sql(p, "DROP TRIGGER egress_update; UPDATE egress SET host = 'b.example' WHERE port = 443");
	expect_problem(p, "row_changed");
}

/* The rows that a filter finds, as text. */
static void expect_rows(const struct place *p, const char *kind, const char *part)
{
	struct kz_audit_filter by_kind = { .kind = kind };
	struct kz_json *rows = kz_json_array();
	struct kz_buf text = KZ_BUF_INIT(1 << 20);

	assert_int_equal(kz_audit_each(p->path, &by_kind, collect, rows, NULL), KZ_OK);
	assert_int_equal(kz_json_write(rows, &text, NULL), KZ_OK);
	if (!strstr(kz_buf_str(&text), part))
		fail_msg("%s is not in %s", part, kz_buf_str(&text));
	assert_null(strstr(kz_buf_str(&text), "CANARY"));
	kz_buf_release(&text);
	kz_json_free(rows);
}

/* Withheld selections: a code, a reason of the table, counts; nothing else fits in [AUD-12, PRJ-29]. */
static void test_aud12_event(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);
	const struct kz_audit_event good = { .code = KZ_AUDIT_SANDBOX_SELECTION_WITHHELD,
					     .run = HEX32,
					     .actor = OTHER32,
					     .reason = "resource_over_bytes",
					     .count = 3,
					     .bytes = 9000000 };
	struct kz_audit_event e = { .code = KZ_AUDIT_RUN_CODE_SELECTION_WITHHELD,
				    .reason = "resource_audience_changed",
				    .count = -1,
				    .bytes = -1 };
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_audit_event(a, &good, &err), KZ_OK);
	assert_int_equal(kz_audit_event(a, &e, &err), KZ_OK);
	e.reason = "CANARY.pdf is too large";
	assert_int_equal(kz_audit_event(a, &e, &err), KZ_E_SOFTWARE);
	assert_string_equal(err.reason, "audit_refused");
	e = good;
	e.conversation = "CANARY";
	assert_int_equal(kz_audit_event(a, &e, &err), KZ_E_SOFTWARE);
	kz_audit_close(a);
	expect_ok(p, 2);
	assert_int_equal(sql_rc(p, "INSERT INTO event VALUES (9, 'CANARY', NULL, NULL, NULL, "
				   "'queue_full', NULL, NULL)"),
			 KZ_E_DATA);
	expect_rows(
		p, "event",
		"\"code\":\"sandbox.private_selection_withheld\",\"run\":\"" HEX32
		"\",\"actor\":\"" OTHER32
		"\",\"conversation\":null,\"reason\":\"resource_over_bytes\",\"count\":3,\"bytes\":9000000");
	expect_rows(
		p, "event",
		"\"code\":\"run_code.private_selection_withheld\",\"run\":null,\"actor\":null,"
		"\"conversation\":null,\"reason\":\"resource_audience_changed\",\"count\":null,\"bytes\":null");
}

/* Denials say which scope they were of [AUD-1], and how much was refused, not what it was called [AUD-4]. */
static void test_aud1_scope_of_a_denial(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);
	struct kz_audit_scope scope = { .audience_version = "CANARY 7",
					.capability = "v4.public.CANARY",
					.manifest_sha256 = HEX64 };
	struct kz_audit_denial d = { .run = HEX32,
				     .actor = HEX32,
				     .conversation = OTHER32,
				     .reason = "resource_over_count",
				     .scope = &scope,
				     .count = 21,
				     .bytes = 5 };
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_audit_scope_denial(a, &d, &err), KZ_OK);
	scope.manifest_sha256 = "CANARY";
	assert_int_equal(kz_audit_scope_denial(a, &d, &err), KZ_E_SOFTWARE);
	assert_int_equal(kz_audit_denial(a, HEX32, HEX32, OTHER32, "queue_full", &err), KZ_OK);
	kz_audit_close(a);
	expect_ok(p, 2);
	expect_rows(
		p, "denial",
		"\"reason\":\"resource_over_count\",\"audience_sha256\":\"dcac61d6325af9570ab6fe8912b32dce0aa29503405098dadd360c7348188ca5\","
		"\"capability_sha256\":\"9bfdad809be3a2c8a70ae71bea3617d55bf9432632e5564ba65ce9678edb8b62\",\"manifest_sha256\":\"" HEX64
		"\",\"count\":21,\"bytes\":5,\"cause\":null,\"packages_sha256\":null,\"egress\":[]");
	expect_rows(p, "denial",
		    "\"reason\":\"queue_full\",\"audience_sha256\":null,\"capability_sha256\":null,"
		    "\"manifest_sha256\":null,\"count\":null,\"bytes\":null,\"cause\":null,"
		    "\"packages_sha256\":null,\"egress\":[]");
}

/* What the owner of a run counted of calls of tools; a run that is no cell has none [CB-9]. */
static void test_aud1_calls_of_tools(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);
	struct kz_json *cell = parsed("{\"run\":\"" HEX32 "\",\"outcome\":\"completed\"}");
	struct kz_json *other = parsed("{\"run\":\"" OTHER32 "\",\"outcome\":\"completed\"}");
	struct kz_audit_counted own = { .stdin_bytes = 3,
					.stdin_sha256 = HEX64,
					.is_cell = true,
					.calls = 5,
					.calls_refused = 2,
					.call_bytes = 77 };

	assert_int_equal(kz_audit_record(a, cell, &own, NULL), KZ_OK);
	own.is_cell = false;
	assert_int_equal(kz_audit_record(a, other, &own, NULL), KZ_OK);
	kz_audit_close(a);
	expect_ok(p, 2);
	expect_rows(p, "record", "\"call_count\":5,\"call_refused_count\":2,\"call_bytes\":77,");
	expect_rows(p, "record",
		    "\"call_count\":null,\"call_refused_count\":null,\"call_bytes\":null,");
	sql(p, "DROP TRIGGER record_update; UPDATE record SET call_refused_count = 0 WHERE id = 1");
	expect_problem(p, "row_changed");
	kz_json_free(cell);
	kz_json_free(other);
}

/* Packages that could not be installed: why and how many, and a digest of their names [AUD-4, BRK-20]. */
static void test_aud4_packages(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);
	struct kz_json *names = parsed("[\"CANARY\",\"numpy\"]"), *none = kz_json_array();
	struct kz_audit_denial d = { .run = HEX32,
				     .reason = "dependency_install_failed",
				     .count = 2,
				     .bytes = -1,
				     .cause = "registry_unreachable",
				     .packages = names };
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_audit_scope_denial(a, &d, &err), KZ_OK);
	d.cause = NULL;
	d.packages = none;
	assert_int_equal(kz_audit_scope_denial(a, &d, &err), KZ_OK);
	d.cause = "CANARY";
	assert_int_equal(kz_audit_scope_denial(a, &d, &err), KZ_E_SOFTWARE);
	assert_string_equal(err.reason, "audit_refused");
	kz_audit_close(a);
	expect_ok(p, 2);
	/* printf '["CANARY","numpy"]' | sha256sum */
	expect_rows(
		p, "denial",
		"\"count\":2,\"bytes\":null,\"cause\":\"registry_unreachable\",\"packages_sha256\":"
		"\"7dea52fbd2f6c5b8c0b42657eb646c51247a9cc6c436afd9cff0ff3af8f1fc49\"");
	expect_rows(p, "denial", "\"cause\":null,\"packages_sha256\":null");
	kz_json_free(names);
	kz_json_free(none);
}

/* A file that has some columns of a kind which came after its first form, and not the newest, gets those. */
static void test_aud9_form_between(void **state)
{
	const struct place *p = *state;
	struct kz_audit_denial d = {
		.run = HEX32, .reason = "dependency_install_failed", .count = 1, .bytes = -1
	};
	struct kz_audit *a = opened(p);

	assert_int_equal(kz_audit_scope_denial(a, &d, NULL), KZ_OK);
	kz_audit_close(a);
	sql(p,
	    "ALTER TABLE denial DROP COLUMN packages_sha256; ALTER TABLE denial DROP COLUMN cause; "
	    "PRAGMA user_version = 3");
	expect_ok(p, 1);
	a = opened(p);
	d.cause = "registry_unset";
	assert_int_equal(kz_audit_scope_denial(a, &d, NULL), KZ_OK);
	kz_audit_close(a);
	expect_ok(p, 2);
	expect_rows(p, "denial", "\"cause\":null");
	expect_rows(p, "denial", "\"cause\":\"registry_unset\"");
}

/* A file that was closed before denials had parts is whole. */
static void test_aud6_older_file(void **state)
{
	struct place *p = *state;
	struct kz_audit *a = opened(p);

	assert_int_equal(kz_audit_denial(a, HEX32, OTHER32, "", "queue_full", NULL), KZ_OK);
	kz_audit_close(a);
	sql(p, "DROP TABLE egress");
	expect_ok(p, 1);
}

static void test_aud9_again_and_conflict(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = opened(p);
	struct kz_transition t[2] = { step(1, "absent", "create", "creating"),
				      step(2, "creating", "ready", "warm") };
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_audit_transitions(a, t, 2, false, &err), KZ_OK);
	assert_int_equal(kz_audit_transitions(a, t, 2, false, &err),
			 KZ_OK); /* the acknowledgement was lost */
	kz_str_copy(t[1].subject, sizeof(t[1].subject), "kz-2", NULL);
	assert_int_equal(kz_audit_transitions(a, t, 2, false, &err), KZ_E_SOFTWARE);
	assert_string_equal(err.reason, "audit_conflict");
	kz_audit_close(a);
	expect_ok(p, 2);
}

/* A place that cannot be written is a failure with its reason, never silence [AUD-10]. */
static void test_aud10_unwritable(void **state)
{
	const struct place *p = *state;
	struct kz_audit *a = NULL;
	struct kz_err err = KZ_ERR_INIT;
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/none/audit.db", p->dir);
	assert_int_equal(kz_audit_open(&a, path, &err), KZ_E_UNAVAILABLE);
	assert_string_equal(err.reason, "audit_unavailable");
	f = fopen(p->path, "w");
	fputs("this is not a database, it is a text of some length, long enough for a header to be read from "
	      "it and to be refused",
	      f);
	fclose(f);
	assert_int_equal(kz_audit_open(&a, p->path, &err), KZ_E_UNAVAILABLE);
	assert_string_equal(err.reason, "audit_unavailable");
	assert_null(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_pool10_impossible_transition),
		T(test_aud8_append_only),
		T(test_aud8_every_table),
		T(test_aud8_no_free_text),
		T(test_aud4_record_and_evidence),
		T(test_aud6_egress),
		T(test_aud12_event),
		T(test_aud1_scope_of_a_denial),
		T(test_aud1_calls_of_tools),
		T(test_aud4_packages),
		T(test_aud9_form_between),
		T(test_aud6_older_file),
		T(test_aud9_again_and_conflict),
		T(test_aud10_unwritable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
