/* A schema's words, one after the other. */
#include "core/mcp/arguments.h"

#include <string.h>

#include "base/str.h"
#include "rule/reason.h"

#define NAME_SIZE 128

static bool has_type(const struct kz_json *v, const char *type)
{
	static const struct {
		const char *name;
		bool (*is)(const struct kz_json *);
	} types[] = {
		{ "object", kz_json_is_object }, { "array", kz_json_is_array },
		{ "string", kz_json_is_string }, { "integer", kz_json_is_int },
		{ "boolean", kz_json_is_bool },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (kz_str_eq(types[i].name, type))
			return types[i].is(v);
	return false;
}

static enum kz_rc check_enum(const struct kz_json *list, const struct kz_json *v, const char *name,
			     struct kz_err *err)
{
	kz_auto_buf struct kz_buf words = KZ_BUF_INIT(512);

	for (size_t i = 0; i < kz_json_count(list); i++) {
		const char *word = kz_json_str_value(kz_json_at(list, i));

		if (kz_str_eq(word, kz_json_str_value(v)))
			return KZ_OK;
		(void)kz_buf_printf(&words, NULL, "%s%s", i ? ", " : "", word);
	}
	return list ? kz_refuse(err, KZ_R_USAGE, "%s has to be one of: %s", name,
				kz_buf_str(&words)) :
		      KZ_OK;
}

static enum kz_rc check_size(const struct kz_json *s, const struct kz_json *v, const char *name,
			     struct kz_err *err)
{
	int64_t n = 0, least = INT64_MIN, most = INT64_MAX;
	const char *unit = "";

	if (kz_json_is_string(v)) {
		unit = " bytes";
		n = (int64_t)strlen(kz_json_str_value(v));
		least = kz_json_num(s, "minLength", 0);
		most = kz_json_num(s, "maxLength", INT64_MAX);
	} else if (kz_json_is_array(v)) {
		unit = " items";
		n = (int64_t)kz_json_count(v);
		most = kz_json_num(s, "maxItems", INT64_MAX);
	} else if (kz_json_is_int(v)) {
		n = kz_json_int_value(v);
		least = kz_json_num(s, "minimum", INT64_MIN);
		most = kz_json_num(s, "maximum", INT64_MAX);
	}
	if (n < least && kz_json_is_string(v) && !n)
		return kz_refuse(err, KZ_R_USAGE, "%s is empty", name);
	if (n < least)
		return kz_refuse(err, KZ_R_USAGE, "%s has to be at least %lld%s", name,
				 (long long)least, unit);
	if (n > most)
		return kz_refuse(err, KZ_R_USAGE, "%s has to be at most %lld%s", name,
				 (long long)most, unit);
	return KZ_OK;
}

static bool is_identity(const char *key)
{
	return kz_str_eq(key, "actor") || kz_str_eq(key, "conversation");
}

/* How a member is called: alone, or behind what it is in. in: at: the place in an array, or -1 */
static void path(char out[NAME_SIZE], const char *in, const char *key, int64_t at)
{
	int full;

	if (at >= 0)
		full = kz_str_format(out, NAME_SIZE, NULL, "%s[%lld]", in, (long long)at);
	else if (kz_str_eq(in, KZ_MCP_ARGUMENTS))
		full = kz_str_copy(out, NAME_SIZE, key, NULL);
	else
		full = kz_str_format(out, NAME_SIZE, NULL, "%s.%s", in, key);
	if (full)
		out[0] = 0;
}

/* Whoever guessed a name is told those that there are. */
static enum kz_rc unknown(const struct kz_json *known, const char *key, struct kz_err *err)
{
	kz_auto_buf struct kz_buf words = KZ_BUF_INIT(300);

	for (size_t i = 0; i < kz_json_count(known); i++)
		(void)kz_buf_printf(&words, NULL, "%s%s", i ? ", " : "", kz_json_key(known, i));
	return kz_refuse(err, KZ_R_USAGE, "there is no argument %.100s; there are: %s", key,
			 words.len ? kz_buf_str(&words) : "none");
}

static enum kz_rc check_members(const struct kz_json *s, const struct kz_json *v, const char *name,
				struct kz_err *err)
{
	const struct kz_json *known = kz_json_get(s, "properties"),
			     *needed = kz_json_get(s, "required");
	enum kz_rc rc = KZ_OK;
	char called[NAME_SIZE];

	for (size_t i = 0; !rc && i < kz_json_count(v); i++) {
		const char *key = kz_json_key(v, i);
		const struct kz_json *of = kz_json_get(known, key);

		path(called, name, of ? key : "", -1);
		if (of)
			rc = kz_mcp_arguments(of, kz_json_get(v, key), called, err);
		else if (is_identity(key))
			rc = kz_refuse(
				err, KZ_R_USAGE,
				"%s is said by the server's configuration, never by arguments",
				key);
		else
			rc = unknown(known, key, err);
	}
	for (size_t i = 0; !rc && i < kz_json_count(needed); i++) {
		const char *key = kz_json_str_value(kz_json_at(needed, i));

		path(called, name, key, -1);
		if (!kz_json_get(v, key))
			rc = kz_refuse(err, KZ_R_USAGE, "%s is missing", called);
	}
	return rc;
}

enum kz_rc kz_mcp_arguments(const struct kz_json *schema, const struct kz_json *value,
			    const char *name, struct kz_err *err)
{
	const char *type = kz_json_str(schema, "type", "");
	const struct kz_json *items = kz_json_get(schema, "items");
	char called[NAME_SIZE];
	enum kz_rc rc = KZ_OK;

	if (!has_type(value, type))
		return kz_refuse(err, KZ_R_USAGE, "%s has to be of type %s", name, type);
	rc = check_enum(kz_json_get(schema, "enum"), value, name, err);
	if (!rc)
		rc = check_size(schema, value, name, err);
	if (!rc && kz_json_is_object(value))
		rc = check_members(schema, value, name, err);
	if (!kz_json_is_array(value))
		return rc;
	for (size_t i = 0; !rc && i < kz_json_count(value); i++) {
		path(called, name, "", (int64_t)i);
		rc = kz_mcp_arguments(items, kz_json_at(value, i), called, err);
	}
	return rc;
}
