/* A whole tree of a worker, out and in. */
#include "core/worker/tree.h"

#include <string.h>

#include "base/str.h"
#include "core/worker/wire.h"
#include "rule/entry.h"
#include "rule/reason.h"

/* What a worker may send at most for these bounds: heads and names come on top of contents. */
static int64_t longest(int64_t bytes, int64_t entries)
{
	const int64_t each = KZ_ENTRY_HEAD + KZ_ENTRY_NAME_MAX + KZ_ENTRY_TARGET_MAX;

	if (entries >= (INT64_MAX - bytes) / each - 1)
		return INT64_MAX;
	return bytes + (entries + 1) * each;
}

static void set_place(struct kz_json *o, enum kz_wk_tree tree)
{
	if (tree == KZ_WK_TREE_PACKAGES)
		kz_json_set_str(o, "place", "packages");
}

enum kz_rc kz_wk_tree_get(struct kz_wk *w, const char *lease, enum kz_wk_tree tree, int64_t bytes,
			  int64_t entries, kz_wk_sink sink, void *arg, struct kz_deadline until,
			  struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_wire_of_lease(lease);
	int64_t n = 0;
	enum kz_rc rc;

	set_place(o, tree);
	kz_json_set_int(o, "bytes", bytes);
	kz_json_set_int(o, "entries", entries);
	rc = kz_wire_ask(w, "POST", "/v1/tree/get", o, until, &n, err);
	if (rc != KZ_OK)
		return rc;
	/* the bound is ours, whatever the worker says */
	if (n > longest(bytes, entries)) {
		w->is_broken = true;
		return kz_refuse(err, KZ_R_WORKSPACE_OVER_BOUND, NULL);
	}
	return kz_wire_drain(w, n, sink, arg, until, err);
}

static enum kz_rc call_with_label(struct kz_wk *w, const char *path, const char *lease,
				  enum kz_wk_tree tree, const char *label, struct kz_deadline until,
				  struct kz_err *err)
{
	struct kz_json *o = kz_wire_of_lease(lease);

	set_place(o, tree);
	kz_json_set_str(o, "label", label);
	return kz_wire_call(w, "POST", path, o, until, NULL, err);
}

enum kz_rc kz_wk_label(struct kz_wk *w, const char *lease, const char *label,
		       struct kz_deadline until, struct kz_err *err)
{
	return call_with_label(w, "/v1/label", lease, KZ_WK_TREE_SPACE, label, until, err);
}

enum kz_rc kz_wk_tree_put_begin(struct kz_wk *w, const char *lease, enum kz_wk_tree tree,
				const char *label, struct kz_deadline until, struct kz_err *err)
{
	enum kz_rc rc = call_with_label(w, "/v1/tree/put", lease, tree, label, until, err);

	kz_buf_release(&w->tree); /* of a tree that was given up */
	return rc == KZ_OK ? kz_str_copy(w->tree_lease, sizeof w->tree_lease, lease, err) : rc;
}

static enum kz_rc send_piece(struct kz_wk *w, const char *p, size_t n, struct kz_deadline until,
			     struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_wire_of_lease(w->tree_lease), *answer = NULL;
	kz_auto_buf struct kz_buf head = KZ_BUF_INIT(8192);
	int status = 0;
	int64_t got = 0;
	enum kz_rc rc = kz_wire_prefixed(o, &head, err);

	if (rc != KZ_OK)
		return rc;
	rc = kz_wire_head(w, "POST", "/v1/tree/add", (int64_t)(head.len + n), until, err);
	if (rc == KZ_OK)
		rc = kz_wire_send(w, head.data, head.len, until, err);
	if (rc == KZ_OK)
		rc = kz_wire_send(w, p, n, until, err);
	if (rc == KZ_OK)
		rc = kz_wire_answer(w, until, &status, &got, err);
	if (rc != KZ_OK)
		return rc;
	return status == 200 ? kz_wire_json(w, got, until, &answer, err) :
			       kz_wire_refusal(w, status, got, until, err);
}

/* Small entries go together. */
static enum kz_rc flush(struct kz_wk *w, struct kz_deadline until, struct kz_err *err)
{
	enum kz_rc rc = send_piece(w, w->tree.data, w->tree.len, until, err);

	kz_buf_clear(&w->tree);
	return rc;
}

enum kz_rc kz_wk_tree_put_add(struct kz_wk *w, const void *p, size_t n, struct kz_deadline until,
			      struct kz_err *err)
{
	const char *at = p;

	while (n) {
		size_t part =
			n < KZ_WIRE_TREE_MAX - w->tree.len ? n : KZ_WIRE_TREE_MAX - w->tree.len;
		enum kz_rc rc = kz_buf_add(&w->tree, at, part, err);

		if (rc == KZ_OK && w->tree.len == KZ_WIRE_TREE_MAX)
			rc = flush(w, until, err);
		if (rc != KZ_OK)
			return rc;
		at += part;
		n -= part;
	}
	return KZ_OK;
}

enum kz_rc kz_wk_tree_put_end(struct kz_wk *w, struct kz_deadline until, struct kz_err *err)
{
	enum kz_rc rc = w->tree.len ? flush(w, until, err) : KZ_OK;

	return rc == KZ_OK ? kz_wire_call(w, "POST", "/v1/tree/end",
					  kz_wire_of_lease(w->tree_lease), until, NULL, err) :
			     rc;
}
