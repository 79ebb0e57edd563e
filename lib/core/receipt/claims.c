/* What a receipt says: rows of the audit store, put into words that can be checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "core/audit/files.h"
#include "core/audit/run.h"
#include "core/receipt/receipt.h"
#include "port/json.h"
#include "rule/evidence.h"

#define CANONICAL_MAX (1 << 20)

/* Copy members under other names: FROM, TO pairs, NULL at the end; what is absent is null. */
static void copy(struct kz_json *to, const struct kz_json *from, const char *const *pairs)
{
	for (; *pairs; pairs += 2) {
		struct kz_json *v = kz_json_get(from, pairs[0]);

		kz_json_set(to, pairs[1], v ? kz_json_ref(v) : kz_json_null());
	}
}

static enum kz_rc digest(const struct kz_json *j, char out[KZ_SHA256_HEX], struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(CANONICAL_MAX);
	enum kz_rc rc = kz_json_write_canonical(j, &b, err);

	if (rc == KZ_OK)
		kz_sha256_hex(b.data, b.len, out);
	return rc;
}

static void set_time(struct kz_json *o, const char *key, int64_t ms)
{
	time_t s = (time_t)(ms / 1000);
	struct tm t;
	char text[32];

	if (!gmtime_r(&s, &t) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &t) == 0)
		text[0] = '\0';
	kz_json_set_str(o, key, text);
}

static struct kz_json *row_name(const struct kz_json *row)
{
	static const char *const pairs[] = { "id", "id", "hash", "hash", NULL };
	struct kz_json *o = row ? kz_json_object() : kz_json_null();

	if (row)
		copy(o, row, pairs);
	return o;
}

/* out: {"bytes","count","files","sha256"}; files null where they are not listed one by one */
static enum kz_rc put_files(struct kz_json *o, const char *key, const struct kz_json *list,
			    bool is_listed, struct kz_err *err)
{
	size_t count = kz_json_count(list);
	kz_auto_free struct kz_audit_file *f = calloc(count + 1, sizeof(*f));
	struct kz_json *all = kz_json_object(), *files = kz_json_array();
	char sha256[KZ_SHA256_HEX];
	int64_t bytes = 0;

	kz_json_set(o, key, all);
	if (!f || !all || !files) {
		kz_json_free(files);
		return kz_err_set(err, KZ_E_OS, "memory is out");
	}
	for (size_t i = 0; i < count; i++) {
		const struct kz_json *v = kz_json_at(list, i);

		kz_str_copy(f[i].name_sha256, sizeof(f[i].name_sha256),
			    kz_json_str(v, "name_sha256", ""), NULL);
		kz_str_copy(f[i].sha256, sizeof(f[i].sha256), kz_json_str(v, "sha256", ""), NULL);
		f[i].bytes = kz_json_num(v, "bytes", 0);
		bytes += f[i].bytes;
	}
	kz_audit_files_digest(f, count, sha256);
	for (size_t i = 0; i < count; i++) {
		struct kz_json *v = kz_json_object();

		kz_json_set_int(v, "bytes", f[i].bytes);
		kz_json_set_str(v, "name_sha256", f[i].name_sha256);
		kz_json_set_str(v, "sha256", f[i].sha256);
		kz_json_append(files, v);
	}
	kz_json_set_int(all, "count", (int64_t)count);
	kz_json_set_int(all, "bytes", bytes);
	kz_json_set_str(all, "sha256", sha256);
	kz_json_set(all, "files", is_listed ? files : kz_json_null());
	if (!is_listed)
		kz_json_free(files);
	return KZ_OK;
}

/* Inputs as they were digested when they were sent; null for a run of before they were. */
static enum kz_rc put_inputs(struct kz_json *o, const struct kz_json *d, struct kz_err *err)
{
	static const char *const pairs[] = { "input_count",   "count",  "input_bytes", "bytes",
					     "inputs_sha256", "sha256", NULL };
	const struct kz_json *list = kz_json_get(d, "dispatch_input");
	int64_t count = kz_json_num(d, "input_count", -1);
	enum kz_rc rc;

	if (count < 0) {
		kz_json_set(o, "inputs", kz_json_null());
		return KZ_OK;
	}
	rc = put_files(o, "inputs", list, (int64_t)kz_json_count(list) == count, err);
	/* the row's own words count: they cover also what is not listed */
	if (rc == KZ_OK)
		copy(kz_json_get(o, "inputs"), d, pairs);
	return rc;
}

static enum kz_rc put_limits(struct kz_json *o, const struct kz_json *d, struct kz_err *err)
{
	static const char *const pairs[] = { "wall_ms",
					     "wall_ms",
					     "memory_bytes",
					     "memory_bytes",
					     "pids",
					     "pids",
					     "disk_bytes",
					     "disk_bytes",
					     "inodes",
					     "inodes",
					     "cpus",
					     "cpus",
					     "open_files",
					     "open_files",
					     "output_bytes",
					     "output_bytes",
					     "artifact_bytes",
					     "artifact_bytes",
					     NULL };
	struct kz_json *l = kz_json_object();
	char sha256[KZ_SHA256_HEX];
	enum kz_rc rc;

	copy(l, d, pairs);
	kz_json_set(o, "limits", l);
	rc = digest(l, sha256, err);
	if (rc == KZ_OK)
		kz_json_set_str(l, "sha256", sha256);
	return rc;
}

/*
 * "clean" is the only good word.  "unread": nothing could be read, as of a worker that
 * serves one lease only; "none": there is no evidence, because the lease is still held
 * or because the worker was lost.
 */
static enum kz_rc put_reset(struct kz_json *o, const struct kz_json *e, struct kz_err *err)
{
	kz_auto_json struct kz_json *said = kz_json_object();
	static const char *const pairs[] = { "clean", "clean", "evidence_surface", "surfaces",
					     NULL };
	const struct kz_json *list = kz_json_get(e, "evidence_surface");
	struct kz_json *r = kz_json_object();
	char sha256[KZ_SHA256_HEX];
	bool is_read = false;
	enum kz_rc rc = KZ_OK;

	kz_json_set(o, "reset", r);
	for (size_t i = 0; i < kz_json_count(list); i++)
		is_read |= kz_json_flag(kz_json_at(list, i), "present", false);
	kz_json_set_str(r, "state",
			!e                              ? "none" :
			kz_json_flag(e, "clean", false) ? "clean" :
			is_read                         ? "unclean" :
							  "unread");
	kz_json_set(r, "sha256", kz_json_null());
	if (!e)
		return KZ_OK;
	copy(said, e, pairs);
	rc = digest(said, sha256, err);
	if (rc == KZ_OK)
		kz_json_set_str(r, "sha256", sha256);
	return rc;
}

static struct kz_json *stream(const struct kz_json *r, const char *name)
{
	static const char *const parts[][2] = { { "seen", "seen_bytes" },
						{ "kept", "kept_bytes" },
						{ "sha256", "sha256" } };
	struct kz_json *o = kz_json_object();
	char key[32];

	for (size_t i = 0; i < 3; i++) {
		const char *const pairs[] = { key, parts[i][1], NULL };

		snprintf(key, sizeof(key), "%s_%s", name, parts[i][0]);
		copy(o, r, pairs);
	}
	return o;
}

static void put_result(struct kz_json *o, const struct kz_json *r)
{
	static const char *const pairs[] = { "outcome", "outcome", "cause",       "cause",
					     "reason",  "reason",  "exit_status", "exit",
					     "signal",  "signal",  "wall_ms",     "wall_ms",
					     "cpu_ms",  "cpu_ms",  "peak_bytes",  "peak_bytes",
					     NULL };
	static const char *const limits[] = { "output", "memory", "pids", "disk",
					      "inodes", "wall",   "cpu",  "other" };
	struct kz_json *v = kz_json_object(), *hit = kz_json_array();
	char key[24];

	copy(v, r, pairs);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		snprintf(key, sizeof(key), "limit_%s", limits[i]);
		if (kz_json_flag(r, key, false))
			kz_json_append(hit, kz_json_string(limits[i]));
	}
	kz_json_set(v, "limits_hit", hit);
	kz_json_set(v, "stdout", stream(r, "stdout"));
	kz_json_set(v, "stderr", stream(r, "stderr"));
	kz_json_set(o, "result", v);
}

static void put_given(struct kz_json *o, const struct kz_json *d, const struct kz_json *r)
{
	static const char *const code[] = { "code_sha256", "sha256",           "language",
					    "language",    "arguments_sha256", "arguments_sha256",
					    NULL };
	static const char *const posture[] = { "posture_sha256", "sha256",     "kernel", "kernel",
					       "single_use",     "single_use", NULL };
	static const char *const egress[] = { "egress_mode",
					      "mode",
					      "egress_reason",
					      "reason",
					      "egress_execution",
					      "execution",
					      "egress_revision",
					      "revision",
					      "approval_sha256",
					      "approval_sha256",
					      NULL };
	static const char *const in[] = { "stdin_bytes", "bytes", "stdin_sha256", "sha256", NULL };
	static const char *const plain[] = { "image", "image", "env_count", "env_count", NULL };
	struct kz_json *c = kz_json_object(), *p = kz_json_object(), *s = kz_json_object();
	struct kz_json *e = kz_json_object();

	copy(c, d, code);
	kz_json_set(o, "code", c);
	copy(o, d, plain);
	copy(p, d, posture);
	kz_json_set(o, "posture", p);
	copy(e, d, egress);
	kz_json_set(o, "egress", e);
	copy(s, r, in);
	kz_json_set(o, "stdin", s);
}

static void put_who(struct kz_json *o, const struct kz_audit_run *run)
{
	static const char *const ids[] = { "run",    "run",          "actor",
					   "actor",  "conversation", "conversation",
					   "worker", "worker",       NULL };
	static const char *const lease[] = { "lease", "id", "fence", "fence", NULL };
	struct kz_json *l = kz_json_object();

	copy(o, run->dispatch, ids);
	copy(l, run->dispatch, lease);
	kz_json_set_int(l, "runs_before", run->runs_before);
	kz_json_set(o, "lease", l);
	kz_json_set_int(o, "dispatched_ms", kz_json_num(run->dispatch, "at_ms", 0));
	kz_json_set_int(o, "ended_ms", kz_json_num(run->record, "at_ms", 0));
}

enum kz_rc kz_receipt_claims(const struct kz_audit_run *run, const char *deployment, int64_t now_ms,
			     struct kz_json **out, struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	struct kz_json *rows = kz_json_object();
	enum kz_rc rc;

	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "iss", "kz");
	set_time(o, "iat", now_ms);
	kz_json_set_str(o, "deployment", deployment);
	put_who(o, run);
	put_given(o, run->dispatch, run->record);
	rc = put_limits(o, run->dispatch, err);
	if (rc == KZ_OK)
		rc = put_inputs(o, run->dispatch, err);
	put_result(o, run->record);
	if (rc == KZ_OK)
		rc = put_files(o, "outputs", kz_json_get(run->record, "record_output"), true, err);
	if (rc == KZ_OK)
		rc = put_reset(o, run->evidence, err);
	kz_json_set(rows, "dispatch", row_name(run->dispatch));
	kz_json_set(rows, "record", row_name(run->record));
	kz_json_set(rows, "evidence", row_name(run->evidence));
	kz_json_set(o, "audit", rows);
	if (rc == KZ_OK)
		*out = kz_take(o);
	return rc;
}
