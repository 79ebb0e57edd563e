/* JSON over jansson: building and writing. */
#include <stdatomic.h>

#include "port/json_parts.h"

/* Set when memory did not even suffice for the mark: from then on nothing is written. */
static atomic_bool mark_lost;

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
		r = json_object_set_new(mark, KZ_JSON_BROKEN, json_true());
		r |= json_array_append_new(j, mark);
	} else {
		r = json_object_set_new(j, KZ_JSON_BROKEN, json_true());
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
		if (json_object_get(j, KZ_JSON_BROKEN))
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
