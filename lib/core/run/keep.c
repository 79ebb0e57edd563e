/* The workspace of a run: what is stored goes into the worker before its code starts. */
#include "core/run/keep.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "core/conf/keys.h"
#include "core/files/tree.h"
#include "core/run/keep_parts.h"
#include "core/worker/tree.h"
#include "rule/reason.h"

/* Small entries go out together. */
#define PIECE 65536

bool kz_job_keeps(const struct kz_job *j)
{
	return j->conf.set.sandbox_workspace_persist &&
	       (j->ask->conversation || j->ask->scope || j->ask->lease);
}

void kz_keep_free(struct kz_keep *k)
{
	if (!k)
		return;
	kz_objects_close(k->objects);
	free(k);
}

const char *kz_keep_label(const struct kz_job *j)
{
	return j->keep->now.name[0] ? j->keep->now.name : "empty";
}

struct kz_deadline kz_keep_sure(void *arg)
{
	struct kz_job *j = arg;

	return j->heart ? kz_heart_sure_until(j->heart) : j->sure;
}

struct kz_deadline kz_keep_until(struct kz_job *j)
{
	return kz_deadline_min(kz_keep_sure(j), kz_deadline_in(KZ_MS(KZ_KEEP_MS)));
}

/* Entries on their way from the archive to the worker. */
struct load {
	struct kz_job *j;
	const struct kz_blob *blob;
	int64_t entries;
	struct kz_keep_peek *peek;
	bool is_peeking; /* what comes is the file to look at */
	struct kz_deadline until;
	struct kz_buf piece;
};

static enum kz_rc flush(struct load *l, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	if (l->piece.len)
		rc = kz_wk_tree_put_add(l->j->worker, l->piece.data, l->piece.len, l->until, err);
	kz_buf_clear(&l->piece);
	return rc;
}

static enum kz_rc load_bytes(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct load *l = arg;
	enum kz_rc rc = l->piece.len + n > PIECE ? flush(l, err) : KZ_OK;

	if (rc)
		return rc;
	return n > PIECE ? kz_wk_tree_put_add(l->j->worker, p, n, l->until, err) :
			   kz_buf_add(&l->piece, p, n, err);
}

static enum kz_rc load_data(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct load *l = arg;

	/* what is too long is none */
	if (l->is_peeking && kz_buf_add(&l->peek->text, p, n, NULL)) {
		l->is_peeking = false;
		kz_buf_clear(&l->peek->text);
	}
	return load_bytes(l, p, n, err);
}

static enum kz_rc load_entry(void *arg, const struct kz_entry *e, const char *name,
			     struct kz_err *err)
{
	struct load *l = arg;
	uint8_t head[KZ_ENTRY_HEAD];
	enum kz_rc rc;

	l->is_peeking = l->peek && name && e->kind == KZ_ENTRY_FILE &&
			e->name_len == strlen(l->peek->name) &&
			!memcmp(name, l->peek->name, e->name_len);
	kz_entry_head(e, head);
	rc = load_bytes(arg, head, sizeof(head), err);
	return rc || !e->name_len ? rc : load_bytes(arg, name, e->name_len, err);
}

/* Unpack the tar into the worker; an empty workspace has none. */
static enum kz_rc stream(struct load *l, int tar_fd, struct kz_err *err)
{
	const struct kz_tree_bounds as_stored = { .bytes = l->blob->size, .entries = l->entries };
	const struct kz_tree_sink sink = { .arg = l, .entry = load_entry, .data = load_data };
	struct kz_entry end = { .kind = KZ_ENTRY_END };
	struct kz_tree_sum sum = { 0 };
	enum kz_rc rc = KZ_OK;

	if (tar_fd >= 0)
		rc = kz_tree_unpack(tar_fd, &as_stored, &sink, &sum, l->j->cancel_fd, l->until,
				    err);
	if (rc)
		return rc;
	end.size = sum.entries;
	rc = load_entry(l, &end, NULL, err);
	if (!rc)
		rc = flush(l, err);
	return rc ? rc : kz_wk_tree_put_end(l->j->worker, l->until, err);
}

enum kz_rc kz_keep_load(struct kz_job *j, enum kz_wk_tree tree, const struct kz_blob *blob,
			int64_t entries, const char *label, struct kz_keep_peek *peek,
			struct kz_err *err)
{
	struct load l = { .j = j,
			  .blob = blob,
			  .entries = entries,
			  .peek = peek,
			  .until = kz_keep_until(j),
			  .piece = KZ_BUF_INIT(2 * PIECE) };
	struct kz_keep *k = j->keep;
	kz_auto_close int tar = -1;
	enum kz_rc rc = KZ_OK;

	if (blob->size >= 0)
		rc = kz_workspace_fetch(k->objects, k->key, blob, &tar, l.until, err);
	if (!rc)
		rc = kz_wk_tree_put_begin(j->worker, j->lease.id, tree, label, l.until, err);
	if (!rc)
		rc = stream(&l, tar, err);
	kz_buf_release(&l.piece);
	return rc;
}

static enum kz_rc open_keep(struct kz_job *j, struct kz_err *err)
{
	struct kz_secret key = { 0 };
	struct kz_keep *k = calloc(1, sizeof(*k));
	enum kz_rc rc;

	if (!k)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	j->keep = k;
	k->snapshot = "skipped";
	kz_generation_none(&k->now);
	rc = kz_keys_read(j->conf.state, KZ_KEY_IDENTITY, &key, err);
	if (rc)
		return rc;
	kz_workspace_key(&key, j->who.actor_id, j->who.conversation_id, k->key);
	kz_secret_release(&key);
	rc = kz_objects_open(&j->conf, &k->objects, err);
	if (!rc)
		rc = kz_workspace_newest(k->objects, k->key, &k->now, kz_keep_until(j), err);
	k->is_known = !rc;
	return rc;
}

enum kz_rc kz_job_restore(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc;

	/* Under a held lease a copy may lie outside the workspace as well. */
	j->scope.is_derived = !j->is_lease_own && kz_json_flag(j->health, "private", true);
	if (!kz_job_keeps(j))
		return KZ_OK;
	rc = open_keep(j, err);
	if (rc)
		return rc;
	j->scope.is_derived = j->scope.is_derived || j->keep->now.is_private;
	/* The worker of an own lease is fresh; that of a held one may have it already, or anything else. */
	if (j->is_lease_own ? j->keep->now.tree.size >= 0 :
			      !kz_str_eq(kz_json_str(j->health, "label", ""), kz_keep_label(j)))
		rc = kz_keep_load(j, KZ_WK_TREE_SPACE, &j->keep->now.tree, j->keep->now.entries,
				  kz_keep_label(j), NULL, err);
	if (kz_job_is_cancelled(j))
		return kz_refuse(err, KZ_R_CANCELLED, NULL);
	return rc;
}
