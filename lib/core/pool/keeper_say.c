/* Whether admission is open, and telling people why it is not. */
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "core/pool/keeper_parts.h"

static bool same(const struct kz_err *a, const struct kz_err *b)
{
	return a->rc == b->rc && kz_str_eq(a->reason, b->reason) && kz_str_eq(a->text, b->text);
}

void kz_keeper_fault(struct kz_keeper *k, const struct kz_err *err)
{
	k->is_owner = k->is_configured = k->is_published = k->is_reconciled = k->is_open =
		k->is_close_told = false;
	k->bad_valkey = *err;
	k->next_inventory = kz_deadline_in(KZ_MS(500));
	if (!kz_str_has_prefix(err->reason, "coordination_") &&
	    !kz_str_eq(err->reason, "library_missing"))
		return;
	kz_auth_close(k->auth);
	k->auth = NULL;
	k->next_connect = kz_deadline_in(KZ_MS(200));
}

void kz_keeper_close(struct kz_keeper *k, const struct kz_err *why)
{
	struct kz_err own = KZ_ERR_INIT;
	bool is_new = k->is_open || !k->is_close_told || !kz_str_eq(k->why.reason, why->reason);
	enum kz_reason known;

	k->is_open = false;
	k->why = *why;
	if (!is_new || !k->auth || !k->is_configured)
		return;
	k->is_close_told = true;
	if (kz_auth_close_admission(k->auth, k->conf.set.kz_node,
				    kz_reason_find(why->reason, &known) ?
					    why->reason :
					    kz_reason_code(KZ_R_INTERNAL),
				    &own) != KZ_OK)
		kz_keeper_fault(k, &own);
}

/* An operator's word goes before what fails on the way down. */
static bool is_to_close(const struct kz_keeper *k)
{
	return k->ends > 0 || k->is_closed_by_operator;
}

/* The first part that does not work; NULL when all do. */
static const struct kz_err *broken(const struct kz_keeper *k)
{
	const struct kz_err *const parts[] = { &k->bad_conf, &k->bad_valkey, &k->bad_image,
					       &k->bad_driver, &k->bad_audit };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i]->rc != KZ_OK)
			return parts[i];
	return NULL;
}

/* What keeps admission closed; NULL when nothing does. in: other is filled when the cause has no record of its own */
static const struct kz_err *obstacle(const struct kz_keeper *k, struct kz_err *other)
{
	const struct kz_err *part = broken(k);

	if (is_to_close(k)) {
		kz_refuse(other, KZ_R_DEPLOYMENT_CLOSED, NULL);
		return other;
	}
	if (part)
		return part;
	if (k->is_published && k->is_reconciled)
		return NULL;
	kz_refuse(other, k->is_published ? KZ_R_NOT_RECONCILED : KZ_R_IMAGE_UNPUBLISHED, NULL);
	return other;
}

/* Until then the node serves without a further inventory: two periods and a list's usual time. */
static struct kz_ms freshness(const struct kz_keeper *k)
{
	return KZ_MS(k->conf.set.kz_inventory_seconds * 2000 + 3000);
}

void kz_keeper_open(struct kz_keeper *k)
{
	struct kz_err why = KZ_ERR_INIT;
	const struct kz_err *what;

	/* One that the driver told of since is no reason to close. */
	if (k->auth && k->is_configured && kz_keeper_publish(k, &why) != KZ_OK)
		kz_keeper_fault(k, &why);
	what = obstacle(k, &why);
	if (what) {
		kz_keeper_close(k, what);
		return;
	}
	if (k->is_open)
		return;
	if (kz_auth_open_admission(k->auth, k->conf.set.kz_node, freshness(k), &why) != KZ_OK) {
		kz_keeper_fault(k, &why);
		return;
	}
	k->is_open = true;
	k->why = (struct kz_err)KZ_ERR_INIT;
	if (k->ready_fd >= 0 && kz_fd_write_all(k->ready_fd, "\n", 1, &why) != KZ_OK)
		kz_log(KZ_LOG_WARNING, "readiness not told", "text", why.text, NULL);
	if (k->ready_fd >= 0)
		close(k->ready_fd);
	k->ready_fd = -1;
}

static struct kz_json *report(const struct kz_keeper *k)
{
	static const char *const from_probe[] = { "runtime", "version", "posture", "single_use" };
	struct kz_json *o = kz_json_object(), *admission = kz_json_object();

	kz_json_set_bool(admission, "open", k->is_open);
	kz_json_set_str(admission, "reason", k->is_open ? "" : k->why.reason);
	kz_json_set_str(admission, "text", k->is_open ? "" : k->why.text);
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "controller");
	kz_json_set_int(o, "pid", getpid());
	kz_json_set_str(o, "node", k->conf.set.kz_node);
	kz_json_set(o, "admission", admission);
	kz_json_set_str(o, "image", k->image);
	for (size_t i = 0; i < sizeof(from_probe) / sizeof(from_probe[0]); i++) {
		struct kz_json *v = kz_json_get(k->probe, from_probe[i]);

		kz_json_set(o, from_probe[i], v ? kz_json_ref(v) : kz_json_null());
	}
	return o;
}

static enum kz_rc write_report(const struct kz_keeper *k, struct kz_err *err)
{
	kz_auto_json struct kz_json *o = report(k);
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(65536);
	char path[512];
	enum kz_rc rc = kz_json_write(o, &b, err);

	if (rc == KZ_OK)
		rc = kz_buf_puts(&b, "\n", err);
	if (rc == KZ_OK)
		rc = kz_conf_path(&k->conf, "run/controller.json", path, sizeof(path), err);
	return rc == KZ_OK ? kz_file_replace(AT_FDCWD, path, b.data, b.len, 0644, (gid_t)-1, err) :
			     rc;
}

void kz_keeper_say(struct kz_keeper *k)
{
	struct kz_err err = KZ_ERR_INIT;

	bool is_known = k->is_logged && same(&k->said, &k->why);

	if (is_known && k->has_said)
		return;
	if (is_known)
		; /* only the report changed */
	else if (k->is_open)
		kz_log(KZ_LOG_INFO, "admission open", "node", k->conf.set.kz_node, "image",
		       k->image, NULL);
	else /* to begin and to end as told is nothing to warn of */
		kz_log(broken(k) && !is_to_close(k) ? KZ_LOG_WARNING : KZ_LOG_INFO,
		       "admission closed", "reason", k->why.reason, "text", k->why.text, NULL);
	k->said = k->why;
	k->is_logged = true;
	k->has_said = write_report(k, &err) == KZ_OK;
	if (!k->has_said) /* tried again with the next turn */
		kz_log(KZ_LOG_WARNING, "cannot write run/controller.json", "text", err.text, NULL);
}
