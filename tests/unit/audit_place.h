/*
 * An audit store of its own for each test, and what tests of it ask over and over.  For tests/unit/test_audit*.c only.
 */
#ifndef KZ_TEST_AUDIT_PLACE_H
#define KZ_TEST_AUDIT_PLACE_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/audit/audit.h"
#include "core/audit/read.h"
#include "core/audit/verify.h"
#include "port/db.h"
#include "port/json.h"

#define HEX32 "0123456789abcdef0123456789abcdef"
#define OTHER32 "fedcba9876543210fedcba9876543210"
#define HEX64 HEX32 HEX32

struct place {
	char dir[64];
	char path[96];
};

static inline int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	kz_str_copy(p->dir, sizeof(p->dir), "/tmp/kz-audit-XXXXXX", NULL);
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->path, sizeof(p->path), "%s/audit.db", p->dir);
	*state = p;
	return 0;
}

static inline int teardown(void **state)
{
	struct place *p = *state;
	enum kz_rc rc = kz_tree_remove(AT_FDCWD, p->dir, NULL);

	free(p);
	return rc == KZ_OK ? 0 : -1;
}

static inline struct kz_audit *opened(const struct place *p)
{
	struct kz_audit *a = NULL;
	struct kz_err err = KZ_ERR_INIT;

	if (kz_audit_open(&a, p->path, &err) != KZ_OK)
		fail_msg("open: %s", err.text);
	return a;
}

static inline struct kz_transition step(int64_t seq, const char *from, const char *event,
					const char *to)
{
	struct kz_transition t = { .store = HEX32,
				   .seq = seq,
				   .at_ms = 1000 + seq,
				   .machine = "worker",
				   .subject = "kz-1",
				   .worker = "kz-1",
				   .cause = "" };

	kz_str_copy(t.from, sizeof(t.from), from, NULL);
	kz_str_copy(t.event, sizeof(t.event), event, NULL);
	kz_str_copy(t.to, sizeof(t.to), to, NULL);
	return t;
}

static inline void put_steps(struct kz_audit *a, int64_t from, int64_t to)
{
	for (int64_t i = from; i <= to; i++) {
		struct kz_transition t = step(i, "absent", "create", "creating");
		struct kz_err err = KZ_ERR_INIT;

		if (kz_audit_transitions(a, &t, 1, false, &err) != KZ_OK)
			fail_msg("%s", err.text);
	}
}

static inline void sql(const struct place *p, const char *text)
{
	struct kz_db *db = NULL;
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_db_open(&db, p->path, KZ_DB_WRITE, KZ_SECONDS(5), &err), KZ_OK);
	if (kz_db_exec(db, text, &err) != KZ_OK)
		fail_msg("%s", err.text);
	kz_db_close(db);
}

static inline enum kz_rc sql_rc(const struct place *p, const char *text)
{
	struct kz_db *db = NULL;
	enum kz_rc rc;

	assert_int_equal(kz_db_open(&db, p->path, KZ_DB_WRITE, KZ_SECONDS(5), NULL), KZ_OK);
	rc = kz_db_exec(db, text, NULL);
	kz_db_close(db);
	return rc;
}

static inline struct kz_json *report(const struct place *p)
{
	struct kz_json *j = NULL;
	struct kz_err err = KZ_ERR_INIT;

	if (kz_audit_verify(p->path, &j, &err) != KZ_OK)
		fail_msg("verify: %s", err.text);
	return j;
}

static inline bool has_problem(const struct kz_json *j, const char *code)
{
	const struct kz_json *list = kz_json_get(j, "problems");

	for (size_t i = 0; i < kz_json_count(list); i++)
		if (kz_str_eq(kz_json_str(kz_json_at(list, i), "code", ""), code))
			return true;
	return false;
}

static inline void expect_ok(const struct place *p, int64_t rows)
{
	struct kz_json *j = report(p);

	if (!kz_json_flag(j, "ok", false)) {
		struct kz_buf b = KZ_BUF_INIT(1 << 20);

		kz_json_write(j, &b, NULL);
		fail_msg("not ok: %s", kz_buf_str(&b));
	}
	assert_int_equal(kz_json_num(j, "rows", -1), rows);
	kz_json_free(j);
}

static inline void expect_problem(const struct place *p, const char *code)
{
	struct kz_json *j = report(p);

	assert_false(kz_json_flag(j, "ok", true));
	if (!has_problem(j, code)) {
		struct kz_buf b = KZ_BUF_INIT(1 << 20);

		kz_json_write(j, &b, NULL);
		fail_msg("no %s in %s", code, kz_buf_str(&b));
	}
	kz_json_free(j);
}

/* A reader's: the row goes into the array arg. */
static inline enum kz_rc collect(void *arg, struct kz_json *j, struct kz_err *err)
{
	(void)err;
	kz_json_append(arg, j);
	return KZ_OK;
}

#endif
