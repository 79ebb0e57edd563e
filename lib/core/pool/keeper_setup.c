/* Settings, the connection to Valkey, the published image. */
#include <string.h>

#include "base/log.h"
#include "base/mark.h"
#include "base/str.h"
#include "base/where.h"
#include "core/pool/keeper_parts.h"

/* Changes with any change of the files of STATE/env. */
static uint64_t conf_mark(const char *state)
{
	char path[300];

	return kz_str_format(path, sizeof(path), NULL, "%s/env", state) == KZ_OK ?
		       kz_mark_dir(path) :
		       0;
}

/* What was made with other settings is made anew. */
static void forget_driver(struct kz_keeper *k)
{
	kz_json_free(k->probe);
	k->probe = NULL;
	k->image[0] = '\0';
	k->is_published = false;
	k->bad_image = (struct kz_err)KZ_ERR_INIT;
	k->next_driver = k->next_image = (struct kz_deadline){ 0 };
}

static bool same_driver(const struct kz_settings *a, const struct kz_settings *b)
{
	return kz_str_eq(a->kz_driver, b->kz_driver) && kz_str_eq(a->kz_runtime, b->kz_runtime) &&
	       kz_str_eq(a->kz_image, b->kz_image) && a->kz_uid_base == b->kz_uid_base;
}

static enum kz_rc take(struct kz_keeper *k, const struct kz_conf *next, struct kz_err *err)
{
	enum kz_rc rc = kz_where_program(next->set.kz_driver, k->driver, sizeof(k->driver), err);

	if (rc != KZ_OK)
		return kz_refuse(err, KZ_R_SETTING_INVALID, "KZ_DRIVER: there is no program %s",
				 next->set.kz_driver);
	if (k->has_conf && (!kz_str_eq(k->conf.set.kz_valkey_url, next->set.kz_valkey_url) ||
			    !kz_str_eq(k->conf.set.kz_deployment_id, next->set.kz_deployment_id) ||
			    !kz_str_eq(k->conf.set.kz_node, next->set.kz_node)))
		return kz_refuse(
			err, KZ_R_SETTING_INVALID,
			"KZ_VALKEY_URL, KZ_DEPLOYMENT_ID or KZ_NODE changed: it counts after kz down and kz up");
	if (k->has_conf && !same_driver(&k->conf.set, &next->set))
		forget_driver(k);
	/* asked for now: until it is known, every create is of the former image and refused */
	if (k->has_conf && !kz_conf_same_bounds(&k->conf.set, &next->set))
		k->next_image = (struct kz_deadline){ 0 };
	k->conf = *next;
	k->has_conf = true;
	k->is_configured = false; /* told again, without closing anything */
	return kz_conf_path(&k->conf, "audit/audit.db", k->audit_path, sizeof(k->audit_path), err);
}

void kz_keeper_conf(struct kz_keeper *k)
{
	uint64_t mark;
	struct kz_conf next;
	struct kz_err err = KZ_ERR_INIT;
	enum kz_rc rc;

	if (!kz_deadline_passed(k->next_conf))
		return;
	k->next_conf = kz_deadline_in(KZ_SECONDS(1));
	mark = conf_mark(k->conf.state);
	if (k->has_conf && mark == k->conf_mark)
		return;
	rc = kz_conf_load(&next, k->conf.state, &err);
	if (rc == KZ_OK)
		rc = take(k, &next, &err);
	k->conf_mark = mark;
	k->bad_conf = rc == KZ_OK ? (struct kz_err)KZ_ERR_INIT : err;
	if (rc == KZ_OK)
		kz_log(KZ_LOG_INFO, "settings read", NULL);
}

static enum kz_rc open_auth(struct kz_keeper *k, struct kz_err *err)
{
	char url[300];
	enum kz_rc rc = kz_conf_valkey_url(&k->conf, url, sizeof(url), err);

	return rc == KZ_OK ? kz_auth_load(&k->auth, url, k->conf.set.kz_deployment_id,
					  kz_deadline_in(KZ_SECONDS(2)), err) :
			     rc;
}

enum kz_rc kz_keeper_publish(struct kz_keeper *k, struct kz_err *err)
{
	enum kz_rc rc;

	if (k->is_published || !k->image[0])
		return KZ_OK;
	rc = kz_auth_image(k->auth, k->image, err);
	k->is_published = rc == KZ_OK;
	if (rc == KZ_OK)
		kz_log(KZ_LOG_INFO, "image published", "identity", k->image, NULL);
	return rc;
}

static enum kz_rc tell(struct kz_keeper *k, struct kz_err *err)
{
	bool is_over = true;
	enum kz_rc rc = KZ_OK;

	/* First of all: a second controller of a node must not touch anything of the first one's. */
	if (!k->is_owner)
		rc = kz_auth_own(k->auth, k->conf.set.kz_node, k->me, &is_over, err);
	if (rc != KZ_OK)
		return rc;
	k->is_owner = true;
	if (!k->is_configured)
		rc = kz_auth_configure(k->auth, &k->conf.set, err);
	if (rc != KZ_OK)
		return rc;
	k->is_configured = true;
	/* Of one that may still live somewhere, the creates wait for their deadline [FENCE-6]. */
	if (!k->has_begun && is_over)
		rc = kz_auth_predecessor_over(k->auth, k->conf.set.kz_node, err);
	if (rc != KZ_OK)
		return rc;
	k->has_begun = true;
	return kz_keeper_publish(k, err);
}

void kz_keeper_connect(struct kz_keeper *k)
{
	struct kz_err err = KZ_ERR_INIT;

	if (!k->has_conf)
		return;
	if (!k->auth) {
		if (!kz_deadline_passed(k->next_connect))
			return;
		k->next_connect = kz_deadline_in(KZ_MS(500));
		if (open_auth(k, &err) != KZ_OK) {
			k->bad_valkey = err;
			return;
		}
		k->next_inventory = k->next_step = (struct kz_deadline){ 0 };
	}
	if (tell(k, &err) != KZ_OK) /* with node_taken it is asked again in the next turn */
		kz_keeper_fault(k, &err);
}
