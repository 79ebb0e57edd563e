/* Rows in memory, their canonical form and their hash. */
#include "core/audit/row.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

struct kz_audit_row *kz_audit_row_new(enum kz_audit_kind kind)
{
	struct kz_audit_row *r = calloc(1, sizeof(*r));

	if (r)
		r->kind = kind;
	return r;
}

void kz_audit_row_free(struct kz_audit_row *r)
{
	if (!r)
		return;
	free(r->child);
	free(r);
}

void kz_audit_value_int(struct kz_audit_value *v, int64_t n)
{
	v->is = KZ_AUDIT_V_INT;
	v->n = n;
}

void kz_audit_value_text(struct kz_audit_value *v, const char *text)
{
	v->is = KZ_AUDIT_V_NULL;
	if (!text || !*text)
		return;
	v->is = KZ_AUDIT_V_TEXT;
	/* What does not fit is no closed text; a blank is refused by every column's check. */
	if (kz_str_copy(v->text, sizeof(v->text), text, NULL) != KZ_OK)
		memcpy(v->text, " ", 2);
}

void kz_audit_row_int(struct kz_audit_row *r, const char *col, int64_t n)
{
	int i = kz_audit_col_find(kz_audit_table(r->kind), col);

	if (i >= 0)
		kz_audit_value_int(&r->v[i], n);
}

void kz_audit_row_text(struct kz_audit_row *r, const char *col, const char *text)
{
	int i = kz_audit_col_find(kz_audit_table(r->kind), col);

	if (i >= 0)
		kz_audit_value_text(&r->v[i], text);
}

const struct kz_audit_value *kz_audit_row_get(const struct kz_audit_row *r, const char *col)
{
	int i = kz_audit_col_find(kz_audit_table(r->kind), col);

	return i >= 0 ? &r->v[i] : NULL;
}

enum kz_rc kz_audit_row_child(struct kz_audit_row *r, struct kz_audit_value **out,
			      struct kz_err *err)
{
	size_t width = kz_audit_table(r->kind)->child->count;
	struct kz_audit_value *grown;

	if (r->child_count >= KZ_AUDIT_CHILDREN)
		return kz_err_set(err, KZ_E_DATA, "too many parts in one audit row");
	grown = realloc(r->child, (r->child_count + 1) * width * sizeof(*grown));
	if (!grown)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	r->child = grown;
	*out = grown + r->child_count * width;
	memset(*out, 0, width * sizeof(*grown));
	r->child_count++;
	return KZ_OK;
}

static void hash_text(struct kz_sha256 *h, const char *s)
{
	kz_sha256_add(h, s, strlen(s));
}

static void hash_value(struct kz_sha256 *h, const struct kz_audit_value *v)
{
	char head[32];

	switch (v->is) {
	case KZ_AUDIT_V_NULL: hash_text(h, "n\n"); return;
	case KZ_AUDIT_V_INT:
		snprintf(head, sizeof(head), "i%lld\n", (long long)v->n);
		hash_text(h, head);
		return;
	case KZ_AUDIT_V_TEXT:
		snprintf(head, sizeof(head), "t%zu:", strlen(v->text));
		hash_text(h, head);
		hash_text(h, v->text);
		hash_text(h, "\n");
		return;
	}
}

static void hash_cols(struct kz_sha256 *h, const struct kz_audit_table *t,
		      const struct kz_audit_value *v)
{
	size_t first = t->count - t->later;

	for (size_t i = 0; i < t->count; i++) {
		if (i >= first && v[i].is == KZ_AUDIT_V_NULL)
			continue;
		if (i >= first) {
			hash_text(h, "+");
			hash_text(h, t->cols[i].name);
			hash_text(h, "\n");
		}
		hash_value(h, &v[i]);
	}
}

void kz_audit_row_seal(struct kz_audit_row *r, const char *prev)
{
	const struct kz_audit_table *t = kz_audit_table(r->kind);
	struct kz_sha256 h;
	char head[160];

	kz_sha256_start(&h);
	hash_text(&h, "kz-audit-1\n");
	hash_text(&h, prev);
	snprintf(head, sizeof(head), "\n%lld\n%lld\n%s\n", (long long)r->id, (long long)r->at_ms,
		 t->name);
	hash_text(&h, head);
	hash_cols(&h, t, r->v);
	for (size_t i = 0; t->child && i < r->child_count; i++) {
		hash_text(&h, "row\n");
		hash_cols(&h, t->child, r->child + i * t->child->count);
	}
	kz_sha256_end(&h, r->hash);
}

static void json_cols(struct kz_json *o, const struct kz_audit_table *t,
		      const struct kz_audit_value *v)
{
	for (size_t i = 0; i < t->count; i++) {
		const char *name = t->cols[i].name;

		if (v[i].is == KZ_AUDIT_V_NULL)
			kz_json_set(o, name, kz_json_null());
		else if (v[i].is == KZ_AUDIT_V_TEXT)
			kz_json_set_str(o, name, v[i].text);
		else if (t->cols[i].type == KZ_AUDIT_FLAG)
			kz_json_set_bool(o, name, v[i].n != 0);
		else
			kz_json_set_int(o, name, v[i].n);
	}
}

struct kz_json *kz_audit_row_json(const struct kz_audit_row *r)
{
	const struct kz_audit_table *t = kz_audit_table(r->kind);
	struct kz_json *o = kz_json_object();
	struct kz_json *parts;

	if (!o)
		return NULL;
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "audit");
	kz_json_set_int(o, "id", r->id);
	kz_json_set_int(o, "at_ms", r->at_ms);
	kz_json_set_str(o, "kind", t->name);
	json_cols(o, t, r->v);
	if (t->child) {
		parts = kz_json_array();
		for (size_t i = 0; parts && i < r->child_count; i++) {
			struct kz_json *part = kz_json_object();

			if (part)
				json_cols(part, t->child, r->child + i * t->child->count);
			kz_json_append(parts, part);
		}
		kz_json_set(o, t->child->name, parts);
	}
	kz_json_set_str(o, "hash", r->hash);
	return o;
}
