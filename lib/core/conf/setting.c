/* Single settings: from text, to text, and the rules between them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/conf/conf.h"
#include "core/conf/objects_url.h"
#include "rule/reason.h"

static const struct kz_setting *setting_find(const char *name, struct kz_err *err)
{
	for (int i = 0; i < KZ_SETTING_COUNT; i++)
		if (strcmp(kz_setting_table[i].name, name) == 0)
			return &kz_setting_table[i];
	kz_refuse(err, KZ_R_SETTING_UNKNOWN,
		  "there is no setting %.60s (kz config show lists them)", name);
	return NULL;
}

static enum kz_rc check_text(const struct kz_setting *d, const char *value, struct kz_err *err)
{
	size_t len = strlen(value);

	if (len < (size_t)d->least || len > (size_t)d->most)
		return kz_refuse(err, KZ_R_SETTING_INVALID,
				 "%s: a text of %" PRId64 " to %" PRId64 " bytes is needed",
				 d->name, d->least, d->most);
	if (kz_str_has_control(value) || !kz_utf8_valid(value, len))
		return kz_refuse(err, KZ_R_SETTING_INVALID,
				 "%s: the value holds control characters or is not UTF-8", d->name);
	return KZ_OK;
}

static enum kz_rc set_text(const struct kz_setting *d, char *to, const char *value,
			   struct kz_err *err)
{
	enum kz_rc rc = check_text(d, value, err);

	return rc ? rc : kz_str_copy(to, d->size, value, err);
}

/* Is value one of the words in "a,b,c"? */
static bool is_choice(const char *choices, const char *value)
{
	size_t len = strlen(value);

	for (const char *c = choices; *c;) {
		size_t n = strcspn(c, ",");

		if (n == len && memcmp(c, value, n) == 0)
			return len > 0;
		c += n + (c[n] == ',');
	}
	return false;
}

enum kz_rc kz_conf_set(struct kz_settings *s, const char *name, const char *value,
		       struct kz_err *err)
{
	const struct kz_setting *d = setting_find(name, err);
	struct kz_err why = KZ_ERR_INIT;
	char *to;

	if (!d)
		return err ? err->rc : KZ_E_CONFIG;
	to = (char *)s + d->offset;
	switch (d->type) {
	case KZ_SETTING_INT: {
		int64_t n;

		if (kz_str_int(value, d->least, d->most, &n, &why))
			return kz_refuse(err, KZ_R_SETTING_INVALID, "%s: %s", d->name, why.text);
		memcpy(to, &n, sizeof(n));
		return KZ_OK;
	}
	case KZ_SETTING_BOOL: {
		bool on = strcmp(value, "true") == 0;

		if (!on && strcmp(value, "false") != 0)
			return kz_refuse(err, KZ_R_SETTING_INVALID, "%s: true or false is needed",
					 d->name);
		memcpy(to, &on, sizeof(on));
		return KZ_OK;
	}
	case KZ_SETTING_CHOICE:
		if (!is_choice(d->choices, value))
			return kz_refuse(err, KZ_R_SETTING_INVALID, "%s: one of %s is needed",
					 d->name, d->choices);
		return set_text(d, to, value, err);
	case KZ_SETTING_POLICY: return check_text(d, value, err);
	case KZ_SETTING_TEXT: break;
	}
	return set_text(d, to, value, err);
}

enum kz_rc kz_conf_get(const struct kz_settings *s, const char *name, struct kz_buf *out,
		       struct kz_err *err)
{
	const struct kz_setting *d = setting_find(name, err);
	const char *from;

	if (!d)
		return err ? err->rc : KZ_E_CONFIG;
	if (d->type == KZ_SETTING_POLICY)
		return kz_buf_puts(out, "", err);
	from = (const char *)s + d->offset;
	if (d->type == KZ_SETTING_INT) {
		int64_t n;

		memcpy(&n, from, sizeof(n));
		return kz_buf_printf(out, err, "%" PRId64, n);
	}
	if (d->type == KZ_SETTING_BOOL) {
		bool on;

		memcpy(&on, from, sizeof(on));
		return kz_buf_puts(out, on ? "true" : "false", err);
	}
	return kz_buf_puts(out, from, err);
}

bool kz_conf_is_policy(const char *name)
{
	const struct kz_setting *d = setting_find(name, NULL);

	return d && d->type == KZ_SETTING_POLICY;
}

enum kz_rc kz_conf_default(const char *name, struct kz_buf *out, struct kz_err *err)
{
	struct kz_settings s;

	kz_settings_default(&s);
	return kz_conf_get(&s, name, out, err);
}

/* a must not be above b. */
static enum kz_rc ordered(const char *a, int64_t a_value, const char *b, int64_t b_value,
			  struct kz_err *err)
{
	if (a_value <= b_value)
		return KZ_OK;
	return kz_refuse(err, KZ_R_SETTING_INVALID, "%s (%" PRId64 ") is above %s (%" PRId64 ")", a,
			 a_value, b, b_value);
}

static enum kz_rc check_name(const char *name, const char *value, struct kz_err *err)
{
	if (!*value || kz_str_is_name(value))
		return KZ_OK;
	return kz_refuse(err, KZ_R_SETTING_INVALID,
			 "%s: letters a-z, digits, - and _ are allowed, a letter first", name);
}

static enum kz_rc check_pool(const struct kz_settings *s, struct kz_err *err)
{
	enum kz_rc rc = ordered("SANDBOX_WARM_POOL_MIN", s->sandbox_warm_pool_min,
				"SANDBOX_POOL_MAX_ALLOCATED", s->sandbox_pool_max_allocated, err);

	if (!rc)
		rc = ordered("SANDBOX_POOL_TARGET_IDLE", s->sandbox_pool_target_idle,
			     "SANDBOX_POOL_MAX_ALLOCATED", s->sandbox_pool_max_allocated, err);
	/* A holder must be able to miss one beat. */
	if (!rc && 2 * s->sandbox_lease_heartbeat_seconds > s->sandbox_lease_ttl_seconds)
		rc = kz_refuse(err, KZ_R_SETTING_INVALID,
			       "SANDBOX_LEASE_HEARTBEAT_SECONDS (%" PRId64
			       ") is above half of SANDBOX_LEASE_TTL_SECONDS (%" PRId64 ")",
			       s->sandbox_lease_heartbeat_seconds, s->sandbox_lease_ttl_seconds);
	return rc;
}

static enum kz_rc check_objects(const struct kz_settings *s, struct kz_err *err)
{
	struct kz_conf c = { .state = "/", .set = *s };
	struct kz_objects_url url;

	return kz_conf_objects_url(&c, &url, err);
}

bool kz_conf_same_bounds(const struct kz_settings *a, const struct kz_settings *b)
{
	return a->kz_run_memory_bytes == b->kz_run_memory_bytes &&
	       a->kz_run_pids == b->kz_run_pids && a->kz_run_disk_bytes == b->kz_run_disk_bytes &&
	       a->kz_run_inodes == b->kz_run_inodes &&
	       a->kz_packages_max_bytes == b->kz_packages_max_bytes &&
	       a->kz_packages_inodes == b->kz_packages_inodes && a->kz_run_cpus == b->kz_run_cpus &&
	       a->kz_run_open_files == b->kz_run_open_files &&
	       a->sandbox_max_output_bytes == b->sandbox_max_output_bytes;
}

enum kz_rc kz_conf_check(const struct kz_settings *s, struct kz_err *err)
{
	char url[512];
	enum kz_rc rc = check_pool(s, err);

	if (!rc)
		rc = check_name("KZ_DEPLOYMENT_ID", s->kz_deployment_id, err);
	if (!rc)
		rc = check_name("KZ_NODE", s->kz_node, err);
	if (!rc)
		rc = check_name("KZ_GROUP", s->kz_group, err);
	/* Every worker has a range of 65536; the last must end below the ids that mean "nobody". */
	if (!rc && s->kz_uid_base + s->sandbox_pool_max_allocated * 65536 > (int64_t)UINT32_MAX - 1)
		rc = kz_refuse(err, KZ_R_SETTING_INVALID,
			       "KZ_UID_BASE (%" PRId64
			       ") leaves no room for SANDBOX_POOL_MAX_ALLOCATED (%" PRId64
			       ") ranges",
			       s->kz_uid_base, s->sandbox_pool_max_allocated);
	if (!rc && *s->kz_valkey_url) {
		struct kz_conf c = { .state = "/", .set = *s };

		rc = kz_conf_valkey_url(&c, url, sizeof(url), err);
	}
	return rc ? rc : check_objects(s, err);
}
