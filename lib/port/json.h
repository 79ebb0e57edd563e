/*
 * JSON: strict reading, building, one-line writing.  The only user of jansson.
 *
 * Values are counted references: every function that returns one says whether
 * it is new (kz_json_free) or borrowed.  Reading refuses duplicate keys,
 * trailing text, invalid UTF-8, NUL in strings and depth over 64.  Layer 1.
 */
#ifndef KZ_PORT_JSON_H
#define KZ_PORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/err.h"

struct kz_json;

/* Parse one value from p[0..n). out: new. err: KZ_E_DATA with line and column, KZ_E_OS */
enum kz_rc kz_json_parse(const char *p, size_t n, struct kz_json **out, struct kz_err *err);
/* Drop a reference; NULL is fine. */
void kz_json_free(struct kz_json *j);
/* Another reference to the same value. own: new */
struct kz_json *kz_json_ref(struct kz_json *j);
KZ_AUTO(kz_auto_json_, struct kz_json *, kz_json_free)
#define kz_auto_json kz_auto(kz_auto_json_)

/* New values; NULL when memory is out (every setter below accepts and reports NULL). */
struct kz_json *kz_json_object(void);
struct kz_json *kz_json_array(void);
struct kz_json *kz_json_string(const char *s);
struct kz_json *kz_json_int(int64_t n);
struct kz_json *kz_json_bool(bool b);
struct kz_json *kz_json_null(void);

/* Set object[key]; kz_json_set takes v.  A failure (memory, bad UTF-8) marks the
 * object, and kz_json_write then fails with KZ_E_OS: builders need one check only. */
void kz_json_set(struct kz_json *o, const char *key, struct kz_json *v);
void kz_json_set_str(struct kz_json *o, const char *key, const char *s); /* NULL s: null */
void kz_json_set_int(struct kz_json *o, const char *key, int64_t n);
void kz_json_set_bool(struct kz_json *o, const char *key, bool b);
/* Append to an array; takes v. */
void kz_json_append(struct kz_json *a, struct kz_json *v);

/* The type of a value; false for NULL. */
bool kz_json_is_object(const struct kz_json *j);
bool kz_json_is_array(const struct kz_json *j);
bool kz_json_is_string(const struct kz_json *j);
bool kz_json_is_int(const struct kz_json *j);
bool kz_json_is_bool(const struct kz_json *j);
bool kz_json_is_null(const struct kz_json *j);
/* Member or element, borrowed; NULL when absent or j is NULL. */
struct kz_json *kz_json_get(const struct kz_json *j, const char *key);
struct kz_json *kz_json_at(const struct kz_json *j, size_t i);
size_t kz_json_count(const struct kz_json *j); /* elements or members */
/* The i-th key of an object in insertion order, borrowed; NULL past the end. */
const char *kz_json_key(const struct kz_json *j, size_t i);
/* Values with a fallback for absent or of another type. Strings are borrowed. */
const char *kz_json_str(const struct kz_json *o, const char *key, const char *fallback);
int64_t kz_json_num(const struct kz_json *o, const char *key, int64_t fallback);
bool kz_json_flag(const struct kz_json *o, const char *key, bool fallback);
const char *kz_json_str_value(const struct kz_json *j);
int64_t kz_json_int_value(const struct kz_json *j);
/* Refuse members that are not in the NULL-terminated list. err: KZ_E_DATA naming the first */
enum kz_rc kz_json_only(const struct kz_json *o, const char *const *keys, struct kz_err *err);

/* Append the compact one-line form (members in insertion order), without newline. err: KZ_E_OS, KZ_E_DATA past b->max */
enum kz_rc kz_json_write(const struct kz_json *j, struct kz_buf *b, struct kz_err *err);
/* As kz_json_write with members sorted by key: the canonical form for digests. */
enum kz_rc kz_json_write_canonical(const struct kz_json *j, struct kz_buf *b, struct kz_err *err);

#endif
