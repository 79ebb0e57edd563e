/* Generations: their names, their text, their listing. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/files/workspace_parts.h"
#include "port/json.h"
#include "rule/reason.h"

#define FENCE_DIGITS 20
#define SEQ_DIGITS 6

void kz_generation_none(struct kz_generation *g)
{
	memset(g, 0, sizeof(*g));
	g->tree.size = g->lines.size = g->packages.size = -1;
}

static bool same_blob(const struct kz_blob *a, const struct kz_blob *b)
{
	return a->size == b->size && !strcmp(a->sha256, b->sha256);
}

bool kz_generation_same(const struct kz_generation *a, const struct kz_generation *b)
{
	return same_blob(&a->tree, &b->tree) && same_blob(&a->lines, &b->lines) &&
	       same_blob(&a->packages, &b->packages) && a->is_private == b->is_private;
}

void kz_workspace_key(const struct kz_secret *identity, const char *actor_id,
		      const char *conversation_id, char out[KZ_ID_HEX])
{
	const char *fields[] = { actor_id, conversation_id };

	kz_keyed_id(identity, "workspace", fields, 2, out);
}

static bool digits(const char *p, size_t n, int64_t *out)
{
	int64_t v = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9' || v > (INT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (p[i] - '0');
	}
	*out = v;
	return true;
}

bool kz_generation_name_parse(const char *name, int64_t *fence, int64_t *seq)
{
	return strlen(name) == KZ_GENERATION_TEXT - 1 && name[FENCE_DIGITS] == '-' &&
	       digits(name, FENCE_DIGITS, fence) &&
	       digits(name + FENCE_DIGITS + 1, SEQ_DIGITS, seq);
}

void kz_generation_name(int64_t fence, int64_t seq, char out[KZ_GENERATION_TEXT])
{
	kz_str_format(out, KZ_GENERATION_TEXT, NULL, "%020lld-%06lld", (long long)fence,
		      (long long)seq);
}

void kz_generation_object(const char *key, const char *name, char out[KZ_OBJECT_NAME_MAX + 1])
{
	kz_str_format(out, KZ_OBJECT_NAME_MAX + 1, NULL, "w/%s/g/%s", key, name);
}

void kz_blob_object(const char *key, const char *id, char out[KZ_OBJECT_NAME_MAX + 1])
{
	kz_str_format(out, KZ_OBJECT_NAME_MAX + 1, NULL, "w/%s/b/%s", key, id);
}

static void set_blob(struct kz_json *o, const char *member, const struct kz_blob *b)
{
	struct kz_json *v;

	if (b->size < 0) {
		kz_json_set(o, member, kz_json_null());
		return;
	}
	v = kz_json_object();
	kz_json_set_str(v, "id", b->id);
	kz_json_set_str(v, "sha256", b->sha256);
	kz_json_set_int(v, "size", b->size);
	kz_json_set(o, member, v);
}

enum kz_rc kz_generation_write(const struct kz_generation *g, const char *key, struct kz_buf *out,
			       struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	kz_auto_buf struct kz_buf bare = KZ_BUF_INIT(KZ_GENERATION_MAX);
	char digest[KZ_SHA256_HEX];
	enum kz_rc rc;

	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "generation");
	kz_json_set_str(o, "workspace", key);
	kz_json_set_str(o, "name", g->name);
	kz_json_set_str(o, "parent", g->parent);
	set_blob(o, "tree", &g->tree);
	set_blob(o, "lines", &g->lines);
	kz_json_set_int(o, "entries", g->entries);
	kz_json_set_int(o, "at_s", g->at_s);
	if (g->packages.size >=
	    0) { /* those without are written as they were before there were any */
		set_blob(o, "packages", &g->packages);
		kz_json_set_int(o, "packages_entries", g->packages_entries);
	}
	if (g->is_private) /* those from before there was a mark have no such member */
		kz_json_set_bool(o, "private", true);
	rc = kz_json_write_canonical(o, &bare, err);
	if (rc)
		return rc;
	kz_sha256_hex(bare.data, bare.len, digest);
	kz_json_set_str(o, "digest", digest);
	rc = kz_json_write_canonical(o, out, err);
	return rc ? rc : kz_buf_add(out, "\n", 1, err);
}

static bool take_text(char *to, size_t size, const struct kz_json *o, const char *member)
{
	return !kz_str_copy(to, size, kz_json_str(o, member, ""), NULL);
}

static bool take_blob(const struct kz_json *o, const char *member, struct kz_blob *b)
{
	const struct kz_json *v = kz_json_get(o, member);

	if (kz_json_is_null(v))
		return true;
	b->size = kz_json_num(v, "size", -1);
	return b->size >= 0 && take_text(b->sha256, sizeof(b->sha256), v, "sha256") &&
	       take_text(b->id, sizeof(b->id), v, "id") && strlen(b->id) == KZ_ID_HEX - 1 &&
	       strspn(b->id, "0123456789abcdef") == KZ_ID_HEX - 1;
}

static enum kz_rc altered(struct kz_err *err)
{
	return kz_refuse(err, KZ_R_OBJECT_DAMAGED, "a generation of the workspace was altered");
}

enum kz_rc kz_generation_read(const char *p, size_t n, const char *key, const char *name,
			      struct kz_generation *out, bool *is_cut, struct kz_err *err)
{
	kz_auto_json struct kz_json *o = NULL;
	kz_auto_buf struct kz_buf again = KZ_BUF_INIT(KZ_GENERATION_MAX);
	enum kz_rc rc;

	kz_generation_none(out);
	*is_cut = n == 0 || p[n - 1] != '\n';
	if (*is_cut)
		return KZ_OK;
	if (kz_json_parse(p, n - 1, &o, NULL) || !kz_json_is_object(o))
		return altered(err);
	out->entries = kz_json_num(o, "entries", -1);
	out->packages_entries = kz_json_num(o, "packages_entries", 0);
	out->at_s = kz_json_num(o, "at_s", -1);
	out->is_private = kz_json_flag(o, "private", false);
	if (!take_text(out->name, sizeof(out->name), o, "name") || strcmp(out->name, name) ||
	    !take_text(out->parent, sizeof(out->parent), o, "parent") ||
	    !take_blob(o, "tree", &out->tree) || !take_blob(o, "lines", &out->lines) ||
	    (kz_json_get(o, "packages") && !take_blob(o, "packages", &out->packages)))
		return altered(err);
	/* One generation has one text: what is not that was not written by us. */
	rc = kz_generation_write(out, key, &again, err);
	if (rc)
		return rc;
	return again.len == n && !memcmp(again.data, p, n) ? KZ_OK : altered(err);
}

enum kz_rc kz_generation_get(struct kz_objects *o, const char *key, const char *name,
			     struct kz_generation *out, bool *is_cut, struct kz_deadline until,
			     struct kz_err *err)
{
	char object[KZ_OBJECT_NAME_MAX + 1], sha256[KZ_SHA256_HEX];
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_GENERATION_MAX);
	kz_auto_close int fd = -1;
	int64_t size = 0;
	enum kz_rc rc = kz_memory_file("kz-generation", &fd, err);

	if (rc)
		return rc;
	kz_generation_object(key, name, object);
	rc = kz_objects_get(o, object, fd, KZ_GENERATION_MAX - 1, &size, sha256, until, err);
	if (rc && kz_str_eq(err->reason, kz_reason_code(KZ_R_OBJECT_TOO_LARGE)))
		return altered(err);
	if (!rc)
		rc = kz_fd_read_all(fd, &text, err);
	return rc ? rc : kz_generation_read(text.data, text.len, key, name, out, is_cut, err);
}

void kz_generations_release(struct kz_generations *l)
{
	free(l->names);
	*l = (struct kz_generations){ 0 };
}

/* Objects of other names are nothing of ours. */
static enum kz_rc list_one(void *arg, const struct kz_object *x, struct kz_err *err)
{
	struct kz_generations *l = arg;
	const char *name = strrchr(x->name, '/');
	int64_t fence, seq;
	void *more;

	if (!name || !kz_generation_name_parse(name + 1, &fence, &seq))
		return KZ_OK;
	if (!(l->count & (l->count - 1))) { /* full at powers of two */
		more = realloc(l->names, (l->count ? l->count * 2 : 1) * sizeof(*l->names));
		if (!more)
			return kz_err_set(err, KZ_E_OS, "memory is out");
		l->names = more;
	}
	memcpy(l->names[l->count++], name + 1, KZ_GENERATION_TEXT);
	return KZ_OK;
}

enum kz_rc kz_generations_list(struct kz_objects *o, const char *key, struct kz_generations *out,
			       struct kz_deadline until, struct kz_err *err)
{
	char prefix[KZ_OBJECT_NAME_MAX + 1];
	enum kz_rc rc;

	kz_generations_release(out);
	rc = kz_str_format(prefix, sizeof(prefix), err, "w/%s/g/", key);
	return rc ? rc : kz_objects_list(o, prefix, list_one, out, until, err);
}
