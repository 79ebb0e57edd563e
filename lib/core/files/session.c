/* One program at work on one workspace: opening it, reading it. */
#include "core/files/session.h"

#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/str.h"
#include "core/conf/keys.h"
#include "core/files/session_parts.h"
#include "port/json.h"
#include "rule/reason.h"

struct kz_tree_bounds kz_session_bounds(const struct kz_workspace *w)
{
	const struct kz_settings *set = &w->hold.conf.set;

	return (struct kz_tree_bounds){ .bytes = set->sandbox_workspace_max_bytes,
					.entries = set->kz_run_inodes };
}

/* The lease in force must be of this actor and conversation. */
static enum kz_rc adopt(struct kz_workspace *w, const struct kz_workspace_ask *ask,
			struct kz_err *err)
{
	struct kz_hold *h = &w->hold;
	int64_t fence = 0;
	enum kz_rc rc;

	if (w->writes && !ask->token)
		return kz_refuse(err, KZ_R_TOKEN_MISSING, "KZ_LEASE is set without KZ_LEASE_TOKEN");
	rc = kz_hold_find(h, ask->lease, w->writes ? ask->token : NULL, err);
	if (rc)
		return rc;
	if (ask->fence &&
	    (kz_str_int(ask->fence, 0, INT64_MAX, &fence, NULL) || fence != h->lease.fence))
		return kz_refuse(err, KZ_R_LEASE_MISMATCH,
				 "KZ_FENCE is not the fence of the lease in force");
	if ((ask->actor && !kz_str_eq(h->who.actor_id, h->lease.actor)) ||
	    (ask->conversation && !kz_str_eq(h->who.conversation_id, h->lease.conversation)))
		return kz_refuse(err, KZ_R_LEASE_MISMATCH,
				 "the lease in KZ_LEASE is for another actor or conversation");
	memcpy(h->who.actor_id, h->lease.actor, sizeof(h->who.actor_id));
	memcpy(h->who.conversation_id, h->lease.conversation, sizeof(h->who.conversation_id));
	/* A renewal proves that the token is the current one. */
	return w->writes ? kz_hold_renew(h, err) : KZ_OK;
}

static enum kz_rc acquire(struct kz_workspace *w, int cancel_fd, struct kz_err *err)
{
	struct kz_proc_id self;
	char holder[KZ_HOLDER_TEXT];
	enum kz_rc rc = kz_proc_self_id(&self, err);

	if (rc)
		return rc;
	kz_proc_id_format(&self, holder, sizeof(holder));
	rc = kz_hold_acquire(&w->hold, NULL, holder, cancel_fd, err);
	w->is_lease_own = !rc;
	return rc;
}

/* Whose it is, and the right to change it. */
static enum kz_rc identify(struct kz_workspace *w, const struct kz_workspace_ask *ask,
			   struct kz_err *err)
{
	struct kz_hold *h = &w->hold;
	enum kz_rc rc;

	if (!ask->conversation && !ask->lease)
		return kz_refuse(err, KZ_R_USAGE,
				 "whose workspace? give -C, the conversation (and -A, the actor)");
	rc = kz_who_set(&h->who, ask->actor, ask->conversation, err);
	if (rc)
		return rc;
	if (w->writes && !ask->lease)
		rc = kz_hold_open_to_acquire(h, err);
	else if (w->writes || !ask->conversation)
		rc = kz_hold_open(h, err);
	else
		rc = kz_conf_load(&h->conf, NULL, err);
	if (!rc && w->writes && !h->conf.set.sandbox_workspace_persist)
		rc = kz_refuse(err, KZ_R_WORKSPACE_UNKEPT, NULL);
	if (!rc)
		rc = kz_who_hash(&h->who, h->conf.state, err);
	if (rc)
		return rc;
	if (ask->lease && (w->writes || !ask->conversation))
		return adopt(w, ask, err);
	return w->writes ? acquire(w, ask->cancel_fd, err) : KZ_OK;
}

static enum kz_rc load(struct kz_workspace *w, struct kz_err *err)
{
	struct kz_secret key = { 0 };
	enum kz_rc rc = kz_keys_read(w->hold.conf.state, KZ_KEY_IDENTITY, &key, err);

	if (rc)
		return rc;
	kz_workspace_key(&key, w->hold.who.actor_id, w->hold.who.conversation_id, w->key);
	kz_secret_release(&key);
	rc = kz_objects_open(&w->hold.conf, &w->objects, err);
	return rc ? rc :
		    kz_workspace_newest(w->objects, w->key, &w->now,
					kz_deadline_in(KZ_SESSION_CALL), err);
}

enum kz_rc kz_workspace_open(const struct kz_workspace_ask *ask, struct kz_workspace **out,
			     struct kz_err *err)
{
	kz_auto_workspace struct kz_workspace *w = calloc(1, sizeof(*w));
	enum kz_rc rc;

	if (!w)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	w->cancel_fd = ask->cancel_fd;
	w->writes = ask->writes;
	kz_generation_none(&w->now);
	rc = kz_seal_init(err);
	if (!rc)
		rc = identify(w, ask, err);
	if (!rc)
		rc = load(w, err);
	if (!rc)
		*out = kz_take(w);
	return rc;
}

void kz_workspace_close(struct kz_workspace *w)
{
	kz_auto_json struct kz_json *evidence = NULL;
	struct kz_err err = KZ_ERR_INIT;

	if (!w)
		return;
	kz_objects_close(w->objects);
	/* What was done stands; the worker is retired by whoever finds it so. */
	if (w->is_lease_own && kz_hold_release(&w->hold, NULL, &evidence, &err))
		kz_log(KZ_LOG_WARNING, "worker not returned to the pool", "reason", err.reason,
		       NULL);
	kz_hold_close(&w->hold);
	free(w);
}

const struct kz_conf *kz_workspace_conf(const struct kz_workspace *w)
{
	return &w->hold.conf;
}

const struct kz_generation *kz_workspace_now(const struct kz_workspace *w)
{
	return &w->now;
}

/* A reader holds no lease: what it stands on may be removed behind it, and then a newer one is there. */
static enum kz_rc fetch(struct kz_workspace *w, bool tree, int *fd, int64_t *size,
			struct kz_err *err)
{
	struct kz_deadline until = kz_deadline_in(KZ_SESSION_CALL);
	char name[KZ_GENERATION_TEXT];
	enum kz_rc rc;

	for (;;) {
		const struct kz_blob *b = tree ? &w->now.tree : &w->now.lines;
		struct kz_err e = KZ_ERR_INIT;

		*size = b->size;
		*fd = -1;
		if (b->size < 0)
			return KZ_OK;
		rc = kz_workspace_fetch(w->objects, w->key, b, fd, until, &e);
		memcpy(name, w->now.name, sizeof(name));
		if (!rc || w->writes ||
		    kz_workspace_newest(w->objects, w->key, &w->now, until, err) ||
		    !strcmp(name, w->now.name)) {
			if (rc)
				*err = e;
			return rc;
		}
	}
}

enum kz_rc kz_workspace_lines(struct kz_workspace *w, int *fd, int64_t *size, struct kz_err *err)
{
	return fetch(w, false, fd, size, err);
}

enum kz_rc kz_session_image(struct kz_workspace *w, struct kz_image *m, struct kz_err *err)
{
	struct kz_tree_bounds as_stored;
	kz_auto_close int fd = -1;
	int64_t size = 0;
	enum kz_rc rc = fetch(w, true, &fd, &size, err);

	if (rc || fd < 0)
		return rc;
	as_stored = (struct kz_tree_bounds){ .bytes = size, .entries = w->now.entries };
	return kz_image_read(m, fd, &as_stored, w->cancel_fd, kz_deadline_in(KZ_SESSION_CALL), err);
}

enum kz_rc kz_workspace_tar(struct kz_workspace *w, int *fd, int64_t *size, struct kz_err *err)
{
	struct kz_image none kz_auto_image = KZ_IMAGE_INIT;
	struct kz_tree_bounds b = kz_session_bounds(w);
	kz_auto_close int file = -1;
	struct kz_tree_sum sum;
	enum kz_rc rc = fetch(w, true, fd, size, err);

	if (rc || *fd >= 0)
		return rc;
	rc = kz_memory_file("kz-tar", &file, err);
	if (!rc)
		rc = kz_image_write(&none, file, &b, &sum, kz_deadline_in(KZ_SESSION_CALL), err);
	if (!rc)
		rc = kz_fd_rewind(file, err);
	if (rc)
		return rc;
	*size = sum.bytes;
	*fd = kz_take_fd(&file);
	return KZ_OK;
}

enum kz_rc kz_workspace_entries(struct kz_workspace *w, kz_workspace_each each, void *arg,
				struct kz_err *err)
{
	struct kz_image m kz_auto_image = KZ_IMAGE_INIT;
	char target[KZ_ENTRY_TARGET_MAX + 1];
	enum kz_rc rc = kz_session_image(w, &m, err);

	for (size_t i = 0; !rc && i < m.count; i++) {
		const struct kz_image_entry *e = &m.entries[i];
		bool is_link = e->head.kind == KZ_ENTRY_LINK;

		if (is_link) {
			ssize_t n = pread(e->fd, target, sizeof(target) - 1, e->at);

			if (n < e->head.size)
				return kz_refuse(err, KZ_R_IO_FAILED, "cannot read a link");
			target[e->head.size] = 0;
		}
		rc = each(arg, &e->head, e->name, is_link ? target : NULL, err);
	}
	return rc;
}

static enum kz_rc to_file(void *fd, const void *part, size_t n, struct kz_err *err)
{
	return kz_fd_write_all(*(int *)fd, part, n, err);
}

enum kz_rc kz_workspace_file(struct kz_workspace *w, const char *path, int64_t max, int *fd,
			     int64_t *size, uint32_t *mode, struct kz_err *err)
{
	struct kz_image m kz_auto_image = KZ_IMAGE_INIT;
	kz_auto_close int file = -1;
	struct kz_image_entry *e = NULL;
	enum kz_rc rc = kz_session_image(w, &m, err);

	if (!rc)
		rc = kz_image_file(&m, path, &e, err);
	if (rc)
		return rc;
	if (e->head.size > max)
		return kz_refuse(err, KZ_R_FILE_TOO_LARGE,
				 "%.200s has %lld bytes, at most %lld are allowed", path,
				 (long long)e->head.size, (long long)max);
	rc = kz_memory_file("kz-file", &file, err);
	if (!rc)
		rc = kz_image_content(e, to_file, &file, err);
	if (!rc)
		rc = kz_fd_rewind(file, err);
	if (rc)
		return rc;
	*size = e->head.size;
	if (mode)
		*mode = e->head.mode;
	*fd = kz_take_fd(&file);
	return KZ_OK;
}
