/* JSON over jansson: reading and access. */
#include <string.h>

#include "port/json_parts.h"

#define DEPTH_MAX 64

/* What is wrong with a parsed tree, NULL when nothing is. */
static const char *tree_fault(json_t *j, int depth)
{
	const char *key, *fault = NULL;
	json_t *v;
	size_t i;

	if (depth > DEPTH_MAX)
		return "nested too deep";
	if (json_is_array(j)) {
		json_array_foreach (j, i, v)
			if (!fault)
				fault = tree_fault(v, depth + 1);
	} else if (json_is_object(j)) {
		json_object_foreach (j, key, v) {
			if (!fault && strcmp(key, KZ_JSON_BROKEN) == 0)
				fault = "a key is not allowed";
			if (!fault)
				fault = tree_fault(v, depth + 1);
		}
	}
	return fault;
}

enum kz_rc kz_json_parse(const char *p, size_t n, struct kz_json **out, struct kz_err *err)
{
	json_error_t e;
	const char *fault, *near;
	json_t *j;

	/* jansson takes a byte 0 for the end of the text. */
	if (n > 0 && memchr(p, 0, n))
		return kz_err_set(err, KZ_E_DATA, "malformed JSON: a byte 0");
	j = json_loadb(n > 0 ? p : "", n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
	if (!j && json_error_code(&e) == json_error_out_of_memory)
		return kz_err_set(err, KZ_E_OS, "out of memory for JSON");
	if (!j) {
		/* What stands there may be a secret: the place is enough. */
		if (json_error_code(&e) == json_error_null_character)
			return kz_err_set(
				err, KZ_E_DATA,
				"malformed JSON at line %d column %d: the character U+0000 is in no text here",
				e.line, e.column);
		near = strstr(e.text, " near ");
		return kz_err_set(err, KZ_E_DATA, "malformed JSON at line %d column %d: %.*s",
				  e.line, e.column,
				  near ? (int)(near - e.text) : (int)strlen(e.text), e.text);
	}
	fault = tree_fault(j, 1);
	if (fault) {
		json_decref(j);
		return kz_err_set(err, KZ_E_DATA, "malformed JSON: %s", fault);
	}
	*out = wrapped(j);
	return KZ_OK;
}

void kz_json_free(struct kz_json *j)
{
	json_decref(native(j));
}

struct kz_json *kz_json_ref(struct kz_json *j)
{
	return wrapped(json_incref(native(j)));
}

bool kz_json_is_object(const struct kz_json *j)
{
	return json_is_object(native(j));
}

bool kz_json_is_array(const struct kz_json *j)
{
	return json_is_array(native(j));
}

bool kz_json_is_string(const struct kz_json *j)
{
	return json_is_string(native(j));
}

bool kz_json_is_int(const struct kz_json *j)
{
	return json_is_integer(native(j));
}

bool kz_json_is_bool(const struct kz_json *j)
{
	return json_is_boolean(native(j));
}

bool kz_json_is_null(const struct kz_json *j)
{
	return json_is_null(native(j));
}

struct kz_json *kz_json_get(const struct kz_json *j, const char *key)
{
	return wrapped(json_object_get(native(j), key));
}

struct kz_json *kz_json_at(const struct kz_json *j, size_t i)
{
	return wrapped(json_array_get(native(j), i));
}

size_t kz_json_count(const struct kz_json *j)
{
	return json_is_array(native(j)) ? json_array_size(native(j)) : json_object_size(native(j));
}

const char *kz_json_key(const struct kz_json *j, size_t i)
{
	void *it = json_object_iter(native(j));

	while (it && i-- > 0)
		it = json_object_iter_next(native(j), it);
	return it ? json_object_iter_key(it) : NULL;
}

const char *kz_json_str(const struct kz_json *o, const char *key, const char *fallback)
{
	const char *s = json_string_value(json_object_get(native(o), key));

	return s ? s : fallback;
}

int64_t kz_json_num(const struct kz_json *o, const char *key, int64_t fallback)
{
	json_t *v = json_object_get(native(o), key);

	return json_is_integer(v) ? json_integer_value(v) : fallback;
}

bool kz_json_flag(const struct kz_json *o, const char *key, bool fallback)
{
	json_t *v = json_object_get(native(o), key);

	return json_is_boolean(v) ? json_is_true(v) : fallback;
}

const char *kz_json_str_value(const struct kz_json *j)
{
	return json_string_value(native(j));
}

int64_t kz_json_int_value(const struct kz_json *j)
{
	return json_integer_value(native(j));
}

enum kz_rc kz_json_only(const struct kz_json *o, const char *const *keys, struct kz_err *err)
{
	const char *key;
	json_t *v;

	json_object_foreach (native(o), key, v) {
		const char *const *k = keys;

		while (*k && strcmp(*k, key) != 0)
			k++;
		if (!*k)
			return kz_err_set(err, KZ_E_DATA, "unknown member \"%.60s\"", key);
	}
	return KZ_OK;
}
