/* JSON over jansson: reading, building, writing. */
#include "port/json.h"

#include <jansson.h>
#include <stdatomic.h>
#include <string.h>

#include "base/str.h"

/*
 * struct kz_json is never defined: a pointer to it is jansson's json_t.  A failed
 * setter leaves a member of this name in the tree, which reading refuses, so
 * that only a builder's failure can put it there.
 */
#define BROKEN_KEY "\x01kz-broken"
#define DEPTH_MAX 64

/* Set when memory did not even suffice for the mark: from then on nothing is written. */
static atomic_bool mark_lost;

static json_t *native(const struct kz_json *j)
{
	/* jansson counts references through const too. */
	return (json_t *)(uintptr_t)j;
}

static struct kz_json *wrapped(json_t *j)
{
	return (struct kz_json *)j;
}

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
			if (!fault && strcmp(key, BROKEN_KEY) == 0)
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

struct kz_json *kz_json_object(void)
{
	return wrapped(json_object());
}

struct kz_json *kz_json_array(void)
{
	return wrapped(json_array());
}

struct kz_json *kz_json_string(const char *s)
{
	return wrapped(json_string(s));
}

struct kz_json *kz_json_int(int64_t n)
{
	return wrapped(json_integer(n));
}

struct kz_json *kz_json_bool(bool b)
{
	return wrapped(json_boolean(b));
}

struct kz_json *kz_json_null(void)
{
	return wrapped(json_null());
}

/* Remember that something is missing below j. */
static void mark_broken(json_t *j)
{
	json_t *mark = json_is_array(j) ? json_object() : NULL;
	int r;

	if (mark) {
		r = json_object_set_new(mark, BROKEN_KEY, json_true());
		r |= json_array_append_new(j, mark);
	} else {
		r = json_object_set_new(j, BROKEN_KEY, json_true());
	}
	if (r)
		atomic_store(&mark_lost, true);
}

void kz_json_set(struct kz_json *o, const char *key, struct kz_json *v)
{
	/* A missing o fails in kz_json_write all the same. */
	if (json_object_set_new(native(o), key, native(v)) < 0 && o)
		mark_broken(native(o));
}

void kz_json_set_str(struct kz_json *o, const char *key, const char *s)
{
	kz_json_set(o, key, s ? kz_json_string(s) : kz_json_null());
}

void kz_json_set_int(struct kz_json *o, const char *key, int64_t n)
{
	kz_json_set(o, key, kz_json_int(n));
}

void kz_json_set_bool(struct kz_json *o, const char *key, bool b)
{
	kz_json_set(o, key, kz_json_bool(b));
}

void kz_json_append(struct kz_json *a, struct kz_json *v)
{
	if (json_array_append_new(native(a), native(v)) < 0 && a)
		mark_broken(native(a));
}

static bool tree_broken(json_t *j)
{
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_array(j)) {
		json_array_foreach (j, i, v)
			if (tree_broken(v))
				return true;
	} else if (json_is_object(j)) {
		if (json_object_get(j, BROKEN_KEY))
			return true;
		json_object_foreach (j, key, v)
			if (tree_broken(v))
				return true;
	}
	return false;
}

struct sink {
	struct kz_buf *buf;
	struct kz_err *err;
	enum kz_rc rc;
};

static int sink_add(const char *p, size_t n, void *arg)
{
	struct sink *s = arg;

	s->rc = kz_buf_add(s->buf, p, n, s->err);
	return s->rc ? -1 : 0;
}

static enum kz_rc json_dump(const struct kz_json *j, struct kz_buf *b, size_t flags,
			    struct kz_err *err)
{
	struct sink s = { b, err, KZ_OK };
	size_t before = b->len;

	if (!j || atomic_load(&mark_lost) || tree_broken(native(j)))
		return kz_err_set(
			err, KZ_E_OS,
			"a JSON value could not be built (memory, or text that is not UTF-8)");
	if (json_dump_callback(native(j), sink_add, &s, flags | JSON_COMPACT | JSON_ENCODE_ANY) ==
	    0)
		return KZ_OK;
	/* Half a value is worse than none. */
	if (b->data) {
		b->len = before;
		b->data[before] = '\0';
	}
	return s.rc ? s.rc : kz_err_set(err, KZ_E_OS, "cannot write JSON");
}

enum kz_rc kz_json_write(const struct kz_json *j, struct kz_buf *b, struct kz_err *err)
{
	return json_dump(j, b, 0, err);
}

enum kz_rc kz_json_write_canonical(const struct kz_json *j, struct kz_buf *b, struct kz_err *err)
{
	return json_dump(j, b, JSON_SORT_KEYS, err);
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
