/* Receipts: from rows of the audit store to a token that verifies with the public key alone, and with nothing else. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/audit/audit.h"
#include "core/audit/rotate.h"
#include "core/audit/run.h"
#include "core/receipt/receipt.h"
#include "port/db.h"
#include "port/json.h"
#include "port/seal-sign.h"
#include "rule/evidence.h"

#define RUN "0123456789abcdef0123456789abcdef"
#define RUN2 "fedcba9876543210fedcba9876543210"
#define LEASE "11111111111111111111111111111111"
#define WHO "22222222222222222222222222222222"
#define HEX64 RUN RUN

struct place {
	char dir[64], path[96];
	struct kz_secret key;
	char pub[KZ_PASERK_PUBLIC_TEXT];
	struct kz_receipt_keys *keys;
	struct kz_audit *a;
};

static void public_of(const struct kz_secret *key, char out[KZ_PASERK_PUBLIC_TEXT])
{
	struct kz_public half;

	kz_sign_public(key, &half);
	kz_paserk_public(&half, out);
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	struct kz_err err = KZ_ERR_INIT;

	kz_str_copy(p->dir, sizeof(p->dir), "/tmp/kz-receipt-XXXXXX", NULL);
	if (!mkdtemp(p->dir) || kz_seal_init(&err))
		return -1;
	snprintf(p->path, sizeof(p->path), "%s/audit.db", p->dir);
	memset(p->key.bytes, 7, sizeof(p->key.bytes));
	p->key.is_set = true;
	public_of(&p->key, p->pub);
	if (kz_receipt_keys_parse(p->pub, strlen(p->pub), &p->keys, &err) ||
	    kz_audit_open(&p->a, p->path, &err))
		return -1;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;
	enum kz_rc rc;

	kz_audit_close(p->a);
	kz_receipt_keys_free(p->keys);
	rc = kz_tree_remove(AT_FDCWD, p->dir, NULL);
	free(p);
	return rc == KZ_OK ? 0 : -1;
}

static struct kz_json *parsed(const char *text)
{
	struct kz_json *j = NULL;
	struct kz_err err = KZ_ERR_INIT;

	if (kz_json_parse(text, strlen(text), &j, &err) != KZ_OK)
		fail_msg("%s", err.text);
	return j;
}

static void dispatch(struct place *p, const char *run, struct kz_audit_file *inputs, size_t count)
{
	struct kz_json *limits = parsed("{\"memory_bytes\":5,\"pids\":6,\"disk_bytes\":7,"
					"\"inodes\":8,\"cpus\":9,\"odd\":1}");
	struct kz_json *posture = parsed(
		"{\"uid_base\":123456,\"gid_base\":123456,\"kernel\":\"shared\",\"single_use\":false}");
	const struct kz_audit_dispatch d = { .run = run,
					     .lease = LEASE,
					     .worker = "w-1",
					     .actor = WHO,
					     .conversation = WHO,
					     .code_sha256 = HEX64,
					     .image = "sha256:" HEX64,
					     .language = "python",
					     .arguments_sha256 = HEX64,
					     .fence = 1,
					     .wall_ms = 2,
					     .memory_bytes = 3,
					     .output_bytes = 4,
					     .limits = limits,
					     .posture = posture,
					     .inputs = inputs,
					     .input_count = count };
	struct kz_err err = KZ_ERR_INIT;

	if (kz_audit_dispatch(p->a, &d, &err) != KZ_OK)
		fail_msg("%s", err.text);
	kz_json_free(limits);
	kz_json_free(posture);
}

static void record(struct place *p, const char *run)
{
	char text[1024];
	struct kz_json *j;
	const struct kz_audit_counted in = { .stdin_bytes = 3, .stdin_sha256 = HEX64 };
	struct kz_err err = KZ_ERR_INIT;

	snprintf(text, sizeof(text),
		 "{\"v\":1,\"type\":\"record\",\"run\":\"%s\",\"outcome\":\"completed\","
		 "\"cause\":\"exit\",\"exit\":0,\"wall_ms\":12,\"limits_hit\":[\"output\"],"
		 "\"stdout\":{\"seen_bytes\":9,\"kept_bytes\":4,\"sha256\":\"" HEX64 "\"},"
		 "\"outputs\":[{\"name\":\"b.csv\",\"bytes\":7,\"sha256\":\"" HEX64 "\"},"
		 "{\"name\":\"a.csv\",\"bytes\":8,\"sha256\":\"" HEX64 "\"}],\"not_run\":null}",
		 run);
	j = parsed(text);
	if (kz_audit_record(p->a, j, &in, &err) != KZ_OK)
		fail_msg("%s", err.text);
	kz_json_free(j);
}

static void evidence(struct place *p, bool clean, bool is_read)
{
	struct kz_json *j = kz_json_object(), *all = kz_json_object();

	kz_json_set_str(j, "worker", "w-1");
	kz_json_set_str(j, "lease", LEASE);
	kz_json_set_bool(j, "clean", clean);
	for (int i = 0; is_read && i < KZ_SURFACE_COUNT; i++)
		kz_json_set(all, kz_surface_code((enum kz_surface)i),
			    parsed("{\"now\":0,\"baseline\":0}"));
	kz_json_set(j, "surfaces", all);
	assert_int_equal(kz_audit_evidence(p->a, j, NULL), KZ_OK);
	kz_json_free(j);
}

static void expect_find(const struct place *p, const char *run, enum kz_rc rc, const char *reason)
{
	struct kz_audit_run r;
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_audit_run_find(p->path, run, &r, &err), rc);
	assert_string_equal(err.reason, reason);
	kz_audit_run_release(&r);
}

static struct kz_json *claims_of(const struct place *p, const char *run)
{
	struct kz_audit_run r;
	struct kz_json *c = NULL;
	struct kz_err err = KZ_ERR_INIT;

	if (kz_audit_run_find(p->path, run, &r, &err) != KZ_OK ||
	    kz_receipt_claims(&r, "d-1", 1764441741000, &c, &err) != KZ_OK)
		fail_msg("%s: %s", err.reason, err.text);
	kz_audit_run_release(&r);
	return c;
}

static void rotate(const struct place *p)
{
	struct kz_audit_keep keep = kz_audit_keep_default(365);
	struct kz_audit_rotated out;

	keep.is_forced = true;
	assert_int_equal(kz_audit_rotate(p->path, &keep, &out, NULL), KZ_OK);
	assert_true(out.is_closed);
}

static void sql(const struct place *p, const char *text)
{
	struct kz_db *db = NULL;
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_db_open(&db, p->path, KZ_DB_WRITE, KZ_SECONDS(5), &err), KZ_OK);
	if (kz_db_exec(db, text, &err) != KZ_OK)
		fail_msg("%s", err.text);
	kz_db_close(db);
}

static const char *state_of(const struct kz_json *c)
{
	return kz_json_str(kz_json_get(c, "reset"), "state", "");
}

/* Unknown, refused before it started, not ended: no receipt. */
static void test_receipt_only_of_ended_runs(void **state)
{
	struct place *p = *state;

	expect_find(p, RUN, KZ_E_NOINPUT, "run_unknown");
	assert_int_equal(kz_audit_denial(p->a, RUN, WHO, WHO, "queue_full", NULL), KZ_OK);
	expect_find(p, RUN, KZ_E_NOINPUT, "run_unknown");
	dispatch(p, RUN, NULL, 0);
	expect_find(p, RUN, KZ_E_TEMPFAIL, "run_unended");
	record(p, RUN);
	expect_find(p, RUN, KZ_OK, "");
	expect_find(p, RUN2, KZ_E_NOINPUT, "run_unknown");
}

/* What the reset found is told as it was, also where it is nothing good. */
static void test_receipt_tells_the_reset(void **state)
{
	struct place *p = *state;
	struct kz_json *c;

	dispatch(p, RUN, NULL, 0);
	record(p, RUN);
	c = claims_of(p, RUN);
	assert_string_equal(state_of(c), "none");
	assert_true(kz_json_is_null(kz_json_get(kz_json_get(c, "reset"), "sha256")));
	kz_json_free(c);
	evidence(p, true, true);
	c = claims_of(p, RUN);
	assert_string_equal(state_of(c), "clean");
	kz_json_free(c);
	/* a later clean one hides nothing */
	evidence(p, false, true);
	evidence(p, true, true);
	c = claims_of(p, RUN);
	assert_string_equal(state_of(c), "unclean");
	kz_json_free(c);
}

static void test_receipt_unread(void **state)
{
	struct place *p = *state;
	struct kz_json *c;

	dispatch(p, RUN, NULL, 0);
	record(p, RUN);
	evidence(p, false, false);
	c = claims_of(p, RUN);
	assert_string_equal(state_of(c), "unread");
	kz_json_free(c);
}

/* The worker's own word on its bounds counts; host ids are no part of its posture; runs of one lease are told. */
static void test_receipt_says_what_was_recorded(void **state)
{
	struct place *p = *state;
	struct kz_json *c, *part;
	char sha256[KZ_SHA256_HEX];
	static const char posture[] = "{\"kernel\":\"shared\",\"single_use\":false}";
	static const char limits[] =
		"{\"artifact_bytes\":0,\"cpus\":9,\"disk_bytes\":7,\"inodes\":8,\"memory_bytes\":5,"
		"\"open_files\":0,\"output_bytes\":4,\"pids\":6,\"wall_ms\":2}";

	dispatch(p, RUN2, NULL, 0);
	dispatch(p, RUN, NULL, 0);
	record(p, RUN);
	c = claims_of(p, RUN);
	kz_sha256_hex(posture, strlen(posture), sha256);
	assert_string_equal(kz_json_str(kz_json_get(c, "posture"), "sha256", ""), sha256);
	part = kz_json_get(c, "limits");
	kz_sha256_hex(limits, strlen(limits), sha256);
	assert_string_equal(kz_json_str(part, "sha256", ""), sha256);
	assert_int_equal(kz_json_num(part, "memory_bytes", -1), 5);
	assert_int_equal(kz_json_num(kz_json_get(c, "lease"), "runs_before", -1), 1);
	assert_string_equal(kz_json_str(c, "iat", ""), "2025-11-29T18:42:21Z");
	part = kz_json_get(c, "outputs");
	assert_int_equal(kz_json_num(part, "count", -1), 2);
	assert_int_equal(kz_json_num(part, "bytes", -1), 15);
	kz_json_free(c);
}

/* The digest over files is that of the canonical JSON, whatever their order; above 256 they are not listed. */
static void test_receipt_files(void **state)
{
	struct place *p = *state;
	struct kz_audit_file f[300];
	struct kz_json *c, *in, *list;
	struct kz_buf b = KZ_BUF_INIT(1 << 20);
	char name[16], sha256[KZ_SHA256_HEX], again[KZ_SHA256_HEX];

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		kz_audit_name_digest(RUN, name, f[i].name_sha256);
		memcpy(f[i].sha256, HEX64, sizeof(HEX64));
		f[i].bytes = i;
	}
	dispatch(p, RUN, f, 256);
	dispatch(p, RUN2, f, 257);
	record(p, RUN);
	record(p, RUN2);
	c = claims_of(p, RUN);
	in = kz_json_get(c, "inputs");
	list = kz_json_get(in, "files");
	assert_int_equal(kz_json_count(list), 256);
	assert_int_equal(kz_json_write_canonical(list, &b, NULL), KZ_OK);
	kz_sha256_hex(b.data, b.len, sha256);
	assert_string_equal(kz_json_str(in, "sha256", ""), sha256);
	kz_json_free(c);
	c = claims_of(p, RUN2);
	in = kz_json_get(c, "inputs");
	assert_true(kz_json_is_null(kz_json_get(in, "files")));
	assert_int_equal(kz_json_num(in, "count", -1), 257);
	kz_audit_files_digest(f, 257, again);
	assert_string_equal(kz_json_str(in, "sha256", ""), again);
	kz_json_free(c);
	kz_buf_release(&b);
}

static void signed_token(const struct place *p, const struct kz_json *c, struct kz_buf *b)
{
	struct kz_err err = KZ_ERR_INIT;

	if (kz_receipt_sign(&p->key, c, b, &err) != KZ_OK)
		fail_msg("%s", err.text);
}

static void expect_token(const struct place *p, const char *token, size_t n, bool is_good)
{
	struct kz_json *c = NULL;
	struct kz_err err = KZ_ERR_INIT;
	char kid[64];
	enum kz_rc rc = kz_receipt_check(p->keys, token, n, kid, &c, &err);

	assert_int_equal(rc, is_good ? KZ_OK : KZ_E_NO);
	assert_string_equal(err.reason, is_good ? "" : "receipt_invalid");
	assert_true(is_good == (c != NULL));
	kz_json_free(c);
}

/* Every byte counts: each one changed, removed, doubled; a tail cut or added. */
static void test_receipt_altered(void **state)
{
	struct place *p = *state;
	struct kz_buf b = KZ_BUF_INIT(KZ_RECEIPT_MAX);
	struct kz_json *c;
	char *t;

	dispatch(p, RUN, NULL, 0);
	record(p, RUN);
	evidence(p, true, true);
	c = claims_of(p, RUN);
	signed_token(p, c, &b);
	expect_token(p, b.data, b.len, true);
	t = calloc(b.len + 2, 1);
	for (size_t i = 0; i < b.len; i++) {
		memcpy(t, b.data, b.len + 1);
		t[i] ^= 1;
		expect_token(p, t, b.len, false);
		memmove(t + i, b.data + i + 1, b.len - i);
		expect_token(p, t, b.len - 1, false);
		expect_token(p, b.data, i, false);
	}
	memcpy(t, b.data, b.len + 1);
	t[b.len] = 'A';
	expect_token(p, t, b.len + 1, false);
	expect_token(p, "", 0, false);
	free(t);
	kz_json_free(c);
	kz_buf_release(&b);
}

static void signed_as(const struct kz_secret *key, const char *payload, const char *footer,
		      const char *implicit, struct kz_buf *b)
{
	kz_buf_clear(b);
	assert_int_equal(kz_token_sign(key, payload, strlen(payload), footer, implicit, b, NULL),
			 KZ_OK);
}

/* Signed, and yet no receipt: another purpose, another key, another footer, other claims. */
static void test_receipt_foreign(void **state)
{
	struct place *p = *state;
	struct kz_buf b = KZ_BUF_INIT(KZ_RECEIPT_MAX), payload = KZ_BUF_INIT(1 << 20);
	struct kz_secret other = { .is_set = true };
	struct kz_public half;
	char pid[KZ_PASERK_PID_TEXT], footer[128], odd[160];
	struct kz_json *c;

	memset(other.bytes, 9, sizeof(other.bytes));
	dispatch(p, RUN, NULL, 0);
	record(p, RUN);
	c = claims_of(p, RUN);
	assert_int_equal(kz_json_write(c, &payload, NULL), KZ_OK);
	kz_sign_public(&p->key, &half);
	kz_paserk_pid(&half, pid);
	snprintf(footer, sizeof(footer), "{\"kid\":\"%s\"}", pid);
	signed_as(&p->key, payload.data, footer, "kz receipt 1", &b);
	expect_token(p, b.data, b.len, true);
	signed_as(&p->key, payload.data, footer, "kz grant 1", &b);
	expect_token(p, b.data, b.len, false);
	signed_as(&p->key, payload.data, footer, "", &b);
	expect_token(p, b.data, b.len, false);
	signed_as(&p->key, payload.data, "", "kz receipt 1", &b);
	expect_token(p, b.data, b.len, false);
	snprintf(odd, sizeof(odd), "{\"kid\":\"%s\",\"x\":1}", pid);
	signed_as(&p->key, payload.data, odd, "kz receipt 1", &b);
	expect_token(p, b.data, b.len, false);
	/* the right name under another's signature */
	signed_as(&other, payload.data, footer, "kz receipt 1", &b);
	expect_token(p, b.data, b.len, false);
	kz_buf_clear(&b);
	assert_int_equal(kz_receipt_sign(&other, c, &b, NULL), KZ_OK);
	expect_token(p, b.data, b.len, false);
	signed_as(&p->key, "{\"v\":1,\"iss\":\"kz\"}", footer, "kz receipt 1", &b);
	expect_token(p, b.data, b.len, false);
	signed_as(&p->key, "[]", footer, "kz receipt 1", &b);
	expect_token(p, b.data, b.len, false);
	kz_json_free(c);
	kz_buf_release(&b);
	kz_buf_release(&payload);
}

/* One claim too few, too many, twice, or of another form: signed or not, it is no receipt. */
static void test_receipt_claims(void **state)
{
	struct place *p = *state;
	struct kz_buf b = KZ_BUF_INIT(KZ_RECEIPT_MAX), text = KZ_BUF_INIT(1 << 20);
	static const char *const parts[] = { "code",  "egress", "posture", "limits",
					     "stdin", "inputs", "result",  "outputs",
					     "reset", "lease",  "audit" };
	struct kz_public half;
	char pid[KZ_PASERK_PID_TEXT], footer[128];
	const char *key;
	struct kz_json *c;

	dispatch(p, RUN, NULL, 0);
	record(p, RUN);
	c = claims_of(p, RUN);
	for (size_t i = 0; (key = kz_json_key(c, i)); i++) {
		struct kz_json *v = kz_json_ref(kz_json_get(c, key));
		char *name = kz_str_dup(key);

		kz_json_set(c, name, parsed("[1]"));
		kz_buf_clear(&b);
		signed_token(p, c, &b);
		expect_token(p, b.data, b.len, false);
		kz_json_set(c, name, v);
		free(name);
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		kz_json_free(c);
		c = claims_of(p, RUN);
		kz_json_set_int(kz_json_get(c, parts[i]), "more", 1);
		kz_buf_clear(&b);
		signed_token(p, c, &b);
		expect_token(p, b.data, b.len, false);
	}
	kz_json_free(c);
	c = claims_of(p, RUN);
	kz_json_set_int(c, "v", 2);
	kz_buf_clear(&b);
	signed_token(p, c, &b);
	expect_token(p, b.data, b.len, false);
	kz_json_set_int(c, "v", 1);
	assert_int_equal(kz_json_write(c, &text, NULL), KZ_OK);
	text.data[text.len - 1] = ',';
	assert_int_equal(kz_buf_puts(&text, "\"v\":1}", NULL), KZ_OK);
	kz_sign_public(&p->key, &half);
	kz_paserk_pid(&half, pid);
	snprintf(footer, sizeof(footer), "{\"kid\":\"%s\"}", pid);
	signed_as(&p->key, text.data, footer, "kz receipt 1", &b);
	expect_token(p, b.data, b.len, false);
	kz_json_free(c);
	kz_buf_release(&b);
	kz_buf_release(&text);
}

static void expect_keys(const char *text, bool is_good)
{
	struct kz_receipt_keys *k = NULL;
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_receipt_keys_parse(text, strlen(text), &k, &err),
			 is_good ? KZ_OK : KZ_E_CONFIG);
	assert_string_equal(err.reason, is_good ? "" : "keys_invalid");
	kz_receipt_keys_free(k);
}

static void test_receipt_keys(void **state)
{
	const struct place *p = *state;
	struct kz_secret other = { .is_set = true };
	struct kz_public half;
	char pub[KZ_PASERK_PUBLIC_TEXT], pid[KZ_PASERK_PID_TEXT], text[1024];

	public_of(&other, pub);
	kz_sign_public(&p->key, &half);
	kz_paserk_pid(&half, pid);
	snprintf(text, sizeof(text), "# ours, then one of before\n%s\r\n\n%s\n", p->pub, pub);
	expect_keys(text, true);
	snprintf(text, sizeof(text),
		 "{\"v\":1,\"grant\":[],\"receipt\":[{\"kid\":\"%s\",\"key\":\"%s\"}]}", pid,
		 p->pub);
	expect_keys(text, true);
	snprintf(text, sizeof(text), "{\"v\":1,\"receipt\":[{\"kid\":\"%s\",\"key\":\"%s\"}]}", pid,
		 pub);
	expect_keys(text, false); /* the name is another key's */
	snprintf(text, sizeof(text), "{\"v\":1,\"receipt\":[{\"key\":\"%s\"}]}", pub);
	expect_keys(text, false);
	/* keys of grants are none of receipts */
	snprintf(text, sizeof(text),
		 "{\"v\":1,\"grant\":[{\"kid\":\"%s\",\"key\":\"%s\"}],\"receipt\":[]}", pid,
		 p->pub);
	expect_keys(text, false);
	snprintf(text, sizeof(text), "{\"v\":2,\"receipt\":[{\"kid\":\"%s\",\"key\":\"%s\"}]}", pid,
		 p->pub);
	expect_keys(text, false);
	expect_keys("", false);
	expect_keys("# nothing\n", false);
	expect_keys("k4.public.", false);
	expect_keys("k4.secret.AAAA", false);
	expect_keys("{", false);
}

/* The chain around the run is checked: an edit of any row from the dispatch on, or a cut tail, gives no receipt. */
static void test_aud9_receipt_of_a_broken_chain(void **state)
{
	struct place *p = *state;

	assert_int_equal(kz_audit_denial(p->a, "", WHO, WHO, "queue_full", NULL), KZ_OK);
	dispatch(p, RUN, NULL, 0);
	record(p, RUN);
	evidence(p, true, true);
	assert_int_equal(kz_audit_denial(p->a, "", WHO, WHO, "queue_full", NULL), KZ_OK);
	expect_find(p, RUN, KZ_OK, "");
	/* what came before it is not its matter */
	sql(p,
	    "DROP TRIGGER denial_update; UPDATE denial SET reason = 'wait_timeout' WHERE id = 1");
	expect_find(p, RUN, KZ_OK, "");
	sql(p, "UPDATE denial SET reason = 'wait_timeout' WHERE id = 5");
	expect_find(p, RUN, KZ_E_NO, "audit_broken");
	sql(p, "UPDATE denial SET reason = 'queue_full' WHERE id = 5");
	expect_find(p, RUN, KZ_OK, "");
	sql(p, "DROP TRIGGER evidence_update; UPDATE evidence SET clean = 0");
	expect_find(p, RUN, KZ_E_NO, "audit_broken");
	sql(p, "UPDATE evidence SET clean = 1; DROP TRIGGER denial_delete; DROP TRIGGER "
	       "entry_delete; DELETE FROM denial WHERE id = 5; DELETE FROM entry WHERE id = 5");
	expect_find(p, RUN, KZ_E_NO, "audit_broken");
}

/* A column that came later is as safe as those of the first form, set or not. */
static void test_aud9_later_columns_are_hashed(void **state)
{
	struct place *p = *state;
	struct kz_audit_file f = { .sha256 = HEX64, .bytes = 1 };

	kz_audit_name_digest(RUN, "x", f.name_sha256);
	dispatch(p, RUN, &f, 1);
	record(p, RUN);
	sql(p, "DROP TRIGGER dispatch_update; DROP TRIGGER record_update; "
	       "DROP TRIGGER dispatch_input_update; DROP TRIGGER record_output_update; "
	       "UPDATE dispatch SET pids = NULL");
	expect_find(p, RUN, KZ_E_NO, "audit_broken");
	sql(p, "UPDATE dispatch SET pids = 7");
	expect_find(p, RUN, KZ_E_NO, "audit_broken");
	/* the value of one in the place of another */
	sql(p, "UPDATE dispatch SET pids = disk_bytes, disk_bytes = 6");
	expect_find(p, RUN, KZ_E_NO, "audit_broken");
	sql(p, "UPDATE dispatch SET pids = 6, disk_bytes = 7");
	expect_find(p, RUN, KZ_OK, "");
	sql(p, "UPDATE record SET stdin_bytes = NULL, stdin_sha256 = NULL");
	expect_find(p, RUN, KZ_E_NO, "audit_broken");
	sql(p, "UPDATE record SET stdin_bytes = 3, stdin_sha256 = '" HEX64 "'");
	expect_find(p, RUN, KZ_OK, "");
	sql(p, "UPDATE record_output SET name_sha256 = NULL WHERE n = 0");
	expect_find(p, RUN, KZ_E_NO, "audit_broken");
	sql(p, "UPDATE dispatch_input SET bytes = 2");
	expect_find(p, RUN, KZ_E_NO, "audit_broken");
	sql(p, "DROP TABLE dispatch_input");
	expect_find(p, RUN, KZ_E_NO, "audit_broken");
}

/* Its rows may lie in several files. */
static void test_receipt_over_segments(void **state)
{
	struct place *p = *state;
	struct kz_json *c;

	assert_int_equal(kz_audit_denial(p->a, "", WHO, WHO, "queue_full", NULL), KZ_OK);
	dispatch(p, RUN2, NULL, 0);
	rotate(p);
	dispatch(p, RUN, NULL, 0);
	rotate(p);
	record(p, RUN);
	rotate(p);
	evidence(p, true, true);
	c = claims_of(p, RUN);
	assert_string_equal(state_of(c), "clean");
	assert_int_equal(kz_json_num(kz_json_get(c, "lease"), "runs_before", -1), 1);
	kz_json_free(c);
	expect_find(p, RUN2, KZ_E_TEMPFAIL, "run_unended");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_receipt_only_of_ended_runs),
		T(test_receipt_tells_the_reset),
		T(test_receipt_unread),
		T(test_receipt_says_what_was_recorded),
		T(test_receipt_files),
		T(test_receipt_altered),
		T(test_receipt_foreign),
		T(test_receipt_claims),
		T(test_receipt_keys),
		T(test_aud9_receipt_of_a_broken_chain),
		T(test_aud9_later_columns_are_hashed),
		T(test_receipt_over_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
