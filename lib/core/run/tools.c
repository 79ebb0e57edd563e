/* The provider snapshot and the check of calls against it. */
#include "core/run/tools.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/time.h"
#include "core/run/tools_parts.h"
#include "port/json.h"
#include "rule/reason.h"

#define SNAPSHOT_MAX (4 << 20)

static bool is_name(const char *s)
{
	size_t n = strlen(s);

	return n >= 1 && n <= KZ_TOOL_NAME_MOST &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == n;
}

enum kz_rc kz_tool_digest(const struct kz_json *tool, char out[KZ_SHA256_HEX], struct kz_err *err)
{
	kz_auto_json struct kz_json *bare = kz_json_object();
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(SNAPSHOT_MAX);
	enum kz_rc rc;

	for (size_t i = 0; i < kz_json_count(tool); i++) {
		const char *key = kz_json_key(tool, i);

		if (!kz_str_eq(key, "digest"))
			kz_json_set(bare, key, kz_json_ref(kz_json_get(tool, key)));
	}
	rc = kz_json_write_canonical(bare, &text, err);
	if (!rc)
		kz_sha256_hex(text.data, text.len, out);
	return rc;
}

static bool has_way(const struct kz_json *tool)
{
	const struct kz_json *command = kz_json_get(tool, "command");
	const char *socket = kz_json_str(tool, "socket", NULL);

	if (!command)
		return socket && socket[0] == '/';
	if (socket || !kz_json_is_array(command) || !kz_json_count(command) ||
	    kz_json_count(command) > KZ_TOOL_WORDS)
		return false;
	for (size_t i = 0; i < kz_json_count(command); i++)
		if (!kz_json_is_string(kz_json_at(command, i)))
			return false;
	return kz_json_str_value(kz_json_at(command, 0))[0] == '/';
}

static enum kz_rc check_tool(const struct kz_json *tool, size_t i, struct kz_err *err)
{
	static const char *const keys[] = { "name",   "class",   "runs_code", "description",
					    "digest", "command", "socket",    NULL };
	const char *name = kz_json_str(tool, "name", ""), *class = kz_json_str(tool, "class", "");

	if (!kz_json_is_object(tool) || kz_json_only(tool, keys, err) != KZ_OK || !is_name(name))
		return kz_refuse(err, KZ_R_TOOLS_INVALID, "tool %zu of the snapshot is malformed",
				 i + 1);
	if (!kz_str_eq(class, "read") && !kz_str_eq(class, "write"))
		return kz_refuse(err, KZ_R_TOOLS_INVALID, "tool %s is neither read nor write",
				 name);
	if (!kz_json_is_bool(kz_json_get(tool, "runs_code")) ||
	    !kz_json_is_string(kz_json_get(tool, "description")) ||
	    strlen(kz_json_str(tool, "digest", "")) != KZ_SHA256_HEX - 1)
		return kz_refuse(err, KZ_R_TOOLS_INVALID,
				 "tool %s lacks runs_code, description or digest", name);
	return has_way(tool) ?
		       KZ_OK :
		       kz_refuse(err, KZ_R_TOOLS_INVALID,
				 "tool %s needs a command or a socket, by absolute path", name);
}

static struct kz_json *find(const struct kz_json *snapshot, const char *name)
{
	const struct kz_json *tools = kz_json_get(snapshot, "tools");

	for (size_t i = 0; i < kz_json_count(tools); i++)
		if (kz_str_eq(kz_json_str(kz_json_at(tools, i), "name", ""), name))
			return kz_json_at(tools, i);
	return NULL;
}

enum kz_rc kz_tools_check(const struct kz_json *snapshot, struct kz_err *err)
{
	const struct kz_json *tools = kz_json_get(snapshot, "tools");
	enum kz_rc rc = KZ_OK;

	if (kz_json_num(snapshot, "v", 0) != 1 || !kz_json_is_array(tools) ||
	    kz_json_count(tools) > KZ_TOOLS_MOST)
		return kz_refuse(err, KZ_R_TOOLS_INVALID, NULL);
	for (size_t i = 0; !rc && i < kz_json_count(tools); i++) {
		const struct kz_json *tool = kz_json_at(tools, i);

		rc = check_tool(tool, i, err);
		if (!rc && find(snapshot, kz_json_str(tool, "name", "")) != tool)
			rc = kz_refuse(err, KZ_R_TOOLS_INVALID, "tool %s is there twice",
				       kz_json_str(tool, "name", ""));
	}
	return rc;
}

static enum kz_rc read_snapshot(const char *path, struct kz_json **out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(SNAPSHOT_MAX);
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc = kz_file_read(AT_FDCWD, path, &text, &why);

	if (!rc)
		rc = kz_json_parse(text.data, text.len, out, &why);
	return rc ? kz_refuse(err, KZ_R_TOOLS_INVALID, "KZ_CALLBACK_PROVIDERS: %s", why.text) :
		    kz_tools_check(*out, err);
}

enum kz_rc kz_tools_open(struct kz_tools *t, const struct kz_settings *set, struct kz_err *err)
{
	*t = (struct kz_tools){ .path = set->kz_callback_providers,
				.max_calls = set->kz_callback_max_calls,
				.rate = set->kz_callback_rate,
				.max_bytes = set->kz_callback_max_bytes,
				.seconds = set->kz_callback_seconds };
	t->began_ms = calloc((size_t)t->rate, sizeof(*t->began_ms));
	if (!t->began_ms)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	return *t->path ? read_snapshot(t->path, &t->snapshot, err) : KZ_OK;
}

void kz_tools_release(struct kz_tools *t)
{
	kz_json_free(kz_take(t->snapshot));
	free(kz_take(t->began_ms));
}

/* The last one stands for whatever else goes wrong with a call. */
static const enum kz_reason reasons[KZ_TOOL_REASONS] = {
	KZ_R_TOOL_UNKNOWN, KZ_R_TOOL_WRITES,    KZ_R_TOOL_RECURSIVE, KZ_R_TOOL_CHANGED,
	KZ_R_TOOL_LIMIT,   KZ_R_TOOL_TOO_LARGE, KZ_R_TOOL_FAILED,
};

const char *kz_tool_reason(size_t i)
{
	return kz_reason_code(reasons[i]);
}

void kz_tools_refused(struct kz_tools *t, const char *reason)
{
	size_t i = 0;

	while (i < KZ_TOOL_REASONS - 1 && !kz_str_eq(reason, kz_tool_reason(i)))
		i++;
	t->refused_for[i]++;
	t->refused++;
}

/* Is a descriptor the one that its digest names? */
static bool is_sound(const struct kz_json *tool)
{
	char digest[KZ_SHA256_HEX];

	return kz_tool_digest(tool, digest, NULL) == KZ_OK &&
	       kz_str_eq(digest, kz_json_str(tool, "digest", ""));
}

static enum kz_rc may_call(const struct kz_json *tool, const char *name, struct kz_err *err)
{
	if (!tool)
		return kz_refuse(err, KZ_R_TOOL_UNKNOWN, "there is no tool %.64s", name);
	if (!kz_str_eq(kz_json_str(tool, "class", ""), "read"))
		return kz_refuse(err, KZ_R_TOOL_WRITES, NULL);
	if (kz_json_flag(tool, "runs_code", true))
		return kz_refuse(err, KZ_R_TOOL_RECURSIVE, NULL);
	return is_sound(tool) ? KZ_OK : kz_refuse(err, KZ_R_TOOL_CHANGED, NULL);
}

struct kz_json *kz_tools_names(const struct kz_tools *t)
{
	const struct kz_json *tools = kz_json_get(t->snapshot, "tools");
	struct kz_json *names = kz_json_array();

	for (size_t i = 0; i < kz_json_count(tools); i++) {
		const struct kz_json *tool = kz_json_at(tools, i);
		const char *name = kz_json_str(tool, "name", "");

		if (may_call(tool, name, NULL) == KZ_OK)
			kz_json_append(names, kz_json_string(name));
	}
	return names;
}

/* What was advertised must still be what the provider says. */
static enum kz_rc still_the_same(const struct kz_tools *t, const struct kz_json *tool,
				 const char *name, struct kz_err *err)
{
	kz_auto_json struct kz_json *now = NULL;
	const struct kz_json *other;

	if (read_snapshot(t->path, &now, NULL) != KZ_OK)
		return kz_refuse(err, KZ_R_TOOL_CHANGED, "the snapshot of tools is gone");
	other = find(now, name);
	if (!other || !is_sound(other) ||
	    !kz_str_eq(kz_json_str(other, "digest", ""), kz_json_str(tool, "digest", "-")))
		return kz_refuse(err, KZ_R_TOOL_CHANGED, NULL);
	return KZ_OK;
}

static enum kz_rc count(struct kz_tools *t, struct kz_err *err)
{
	int64_t now = kz_time_boot_ms(), *slot = &t->began_ms[t->calls % t->rate];

	if (t->calls >= t->max_calls)
		return kz_refuse(err, KZ_R_TOOL_LIMIT,
				 "the cell called tools %lld times (KZ_CALLBACK_MAX_CALLS)",
				 (long long)t->calls);
	if (*slot && now - *slot < 1000)
		return kz_refuse(
			err, KZ_R_TOOL_LIMIT,
			"the cell called tools more than %lld times in a second (KZ_CALLBACK_RATE)",
			(long long)t->rate);
	*slot = now;
	t->calls++;
	return KZ_OK;
}

static enum kz_rc call(struct kz_tools *t, const char *name, const struct kz_json *arguments,
		       int cancel_fd, struct kz_buf *result, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT((size_t)t->max_bytes);
	const struct kz_json *tool = find(t->snapshot, name);
	enum kz_rc rc = count(t, err);

	if (!rc)
		rc = may_call(tool, name, err);
	if (!rc && !kz_json_is_object(arguments))
		rc = kz_refuse(err, KZ_R_TOOL_FAILED, "the arguments are no object");
	if (!rc && kz_json_write(arguments, &text, NULL) != KZ_OK)
		rc = kz_refuse(err, KZ_R_TOOL_TOO_LARGE,
			       "the arguments have more than %lld bytes (KZ_CALLBACK_MAX_BYTES)",
			       (long long)t->max_bytes);
	if (!rc)
		rc = still_the_same(t, tool, name, err);
	if (rc)
		return rc;
	t->bytes += (int64_t)text.len;
	rc = kz_tool_run(tool, &text, t->max_bytes, kz_deadline_in(KZ_SECONDS(t->seconds)),
			 cancel_fd, result, err);
	if (!rc)
		t->bytes += (int64_t)result->len;
	return rc;
}

enum kz_rc kz_tools_call(struct kz_tools *t, const char *name, const struct kz_json *arguments,
			 int cancel_fd, struct kz_buf *result, struct kz_err *err)
{
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc = call(t, name, arguments, cancel_fd, result, &why);

	if (!rc)
		return rc;
	if (!why.reason[0])
		rc = kz_refuse(&why, KZ_R_TOOL_FAILED, NULL);
	kz_tools_refused(t, why.reason);
	if (err)
		*err = why;
	return rc;
}
