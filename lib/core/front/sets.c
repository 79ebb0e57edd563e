/* Changing settings: all of them or none. */
#include <string.h>

#include "base/str.h"
#include "core/broker/registry.h"
#include "core/egress/view.h"
#include "core/front/parts.h"

/* "NAME=VALUE" apart. out: name[0..size), value borrowed from text */
static enum kz_rc split(const char *text, char *name, size_t size, const char **value,
			struct kz_err *err)
{
	const char *eq = strchr(text, '=');

	if (!eq || eq == text || (size_t)(eq - text) >= size)
		return kz_err_set(err, KZ_E_USAGE, "a setting is given as NAME=VALUE, not as %s",
				  text);
	memcpy(name, text, (size_t)(eq - text));
	name[eq - text] = 0;
	*value = eq + 1;
	return KZ_OK;
}

/* Check all of them together against a copy, so that either all are stored or none. */
enum kz_rc kz_front_check(const struct kz_conf *c, const char *const *sets, size_t count,
			  struct kz_err *err)
{
	struct kz_settings all = c->set;
	char name[64];
	const char *value;
	enum kz_rc rc;

	for (size_t i = 0; i < count; i++)
		if ((rc = split(sets[i], name, sizeof name, &value, err)) ||
		    (rc = kz_conf_set(&all, name, value, err)))
			return rc;
	return kz_conf_check(&all, err);
}

enum kz_rc kz_front_check_early(const struct kz_front *f, const char *const *sets, size_t count,
				struct kz_err *err)
{
	struct kz_conf c;
	char name[64];
	const char *value;
	enum kz_rc rc;

	for (size_t i = 0; i < count; i++)
		if ((rc = split(sets[i], name, sizeof name, &value, err)))
			return rc;
	if (kz_conf_load(&c, f->state, NULL) != KZ_E_UNAVAILABLE)
		return KZ_OK;
	kz_settings_default(&c.set);
	return kz_front_check(&c, sets, count, err);
}

/* Is that the value already? Of the policy a text that cannot be read is another one, and an empty one is not the absent one. */
static bool is_stored(const struct kz_conf *c, const char *name, const char *value)
{
	kz_auto_buf struct kz_buf old = KZ_BUF_INIT(8192);
	bool is_set = true;
	enum kz_rc rc = kz_conf_is_policy(name) ?
				kz_conf_policy(c->state, name, &old, &is_set, NULL) :
				kz_conf_get(&c->set, name, &old, NULL);

	return !rc && is_set && strcmp(kz_buf_str(&old), value) == 0;
}

/*
 * Store each setting.  One may only become right after another (a least below a
 * most), so those that are refused are tried again while any goes through.
 */
static enum kz_rc store(struct kz_conf *c, const char *const *sets, size_t count, size_t *changed,
			struct kz_err *err)
{
	char name[64];
	const char *value;
	enum kz_rc rc = KZ_OK;

	*changed = 0;
	for (size_t round = 0, left = count; left > 0 && round <= count; round++) {
		left = 0;
		for (size_t i = 0; i < count; i++) {
			if ((rc = split(sets[i], name, sizeof name, &value, err)))
				return rc;
			if (is_stored(c, name, value))
				continue;
			rc = kz_conf_store(c->state, name, value, err);
			/* Only a set that is wrong so far can become right; a failed write is told. */
			if (rc == KZ_E_CONFIG)
				left++;
			else if (rc || (rc = kz_conf_set(&c->set, name, value, err)))
				return rc;
			else
				++*changed;
		}
	}
	return rc;
}

enum kz_rc kz_front_store(struct kz_conf *c, const char *const *sets, size_t count, size_t *changed,
			  struct kz_err *err)
{
	enum kz_rc rc = kz_front_check(c, sets, count, err);

	*changed = 0;
	return rc ? rc : store(c, sets, count, changed, err);
}

enum kz_rc kz_front_store_one(const struct kz_front *f, const char *set, struct kz_err *err)
{
	char name[64];
	const char *value;
	enum kz_rc rc = split(set, name, sizeof name, &value, err);

	return rc ? rc : kz_conf_store(f->state, name, value, err);
}

/* Read only when the services are started. */
static bool is_for_start(const char *name)
{
	static const char *const names[] = { "KZ_VALKEY_URL", "KZ_GROUP", "KZ_LOG_KEEP_BYTES",
					     "KZ_DEPLOYMENT_ID" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

void kz_front_told(const struct kz_front *f, const char *const *sets, size_t count, size_t changed)
{
	char name[64];
	const char *value;

	if (changed == 0)
		return;
	kz_front_say(f, "%zu setting%s stored", changed, changed == 1 ? "" : "s");
	for (size_t i = 0; i < count && kz_front_is_scanning(f); i++)
		if (!split(sets[i], name, sizeof name, &value, NULL) && is_for_start(name))
			kz_front_say(f, "note: %s counts after the next: kz down; kz up", name);
}

void kz_front_note_environment(const struct kz_front *f, const struct kz_conf *c)
{
	kz_auto_buf struct kz_buf names = KZ_BUF_INIT(4096);

	kz_conf_ignored(c, &names);
	if (names.len)
		kz_front_say(f,
			     "note: not taken from the environment: %s; store a setting with: "
			     "kz up --set NAME=VALUE",
			     kz_buf_str(&names));
}

/* What a change of the policy comes to is said at once, since a value that makes no sense is stored all the same. */
static void tell_scope(const struct kz_front *f, const struct kz_conf *c, const char *const *sets,
		       size_t count)
{
	kz_auto_egress_view struct kz_egress_view v = { .reason = KZ_R_NONE };
	bool is_policy = false;
	const char *value;
	char name[64];

	for (size_t i = 0; i < count && !is_policy; i++)
		is_policy =
			!split(sets[i], name, sizeof name, &value, NULL) && kz_conf_is_policy(name);
	if (!is_policy || kz_egress_look(c, kz_deadline_in(KZ_EGRESS_PATIENCE), &v, NULL))
		return;
	if (v.reason == KZ_R_NONE)
		kz_front_say(f, "the next approved run: %s", kz_scope_mode_name(v.scope.mode));
	else
		kz_front_say(f, "the next approved run: %s: %s%s%s",
			     kz_scope_mode_name(v.scope.mode), kz_reason_text(v.reason),
			     v.is_attention ? "; fix: " : "",
			     v.is_attention ? kz_policy_fix(v.reason) : "");
}

/* So is what is wrong with the registries of packages, where one part that makes no sense counts for all. */
static void tell_registries(const struct kz_front *f, const struct kz_conf *c,
			    const char *const *sets, size_t count)
{
	static struct kz_registries r; /* too large for a stack */
	struct kz_err err = KZ_ERR_INIT;
	bool is_named = false;

	for (size_t i = 0; i < count; i++)
		is_named |= kz_str_has_prefix(sets[i], "SANDBOX_PACKAGE_REGISTRIES=");
	if (is_named && kz_registries_parse(c->set.sandbox_package_registries, &r, &err))
		kz_front_say(f, "no package can be installed: %s (docs/packages.md)", err.text);
}

/* Does the controller serve with another image than was? */
static bool is_taken_up(const struct kz_front *f, const char *was)
{
	kz_auto_json struct kz_json *c = kz_front_controller(f);

	return !kz_str_eq(kz_json_str(c, "image", was), was) &&
	       kz_json_flag(kz_json_get(c, "admission"), "open", false);
}

/*
 * A run asks for the bounds that are stored, and a worker made under lesser ones refuses it: wait until no such worker is
 * handed out any more. in: was: the controller's report of before
 */
static void await_bounds(const struct kz_front *f, const struct kz_json *was)
{
	struct kz_deadline until = kz_deadline_in(KZ_SECONDS(15));
	const char *image = kz_json_str(was, "image", "");
	struct kz_service s = { .is_up = false };

	while (!is_taken_up(f, image)) {
		if (kz_front_service(f, "kz-controller", &s, NULL) || !s.is_up)
			return; /* who begins reads what is stored */
		if (kz_deadline_passed(until)) {
			kz_front_say(
				f, "the controller has not taken this up yet: until then a run may "
				   "be refused; see: kz status");
			return;
		}
		kz_time_sleep(KZ_MS(50), until);
	}
}

enum kz_rc kz_front_set(struct kz_front *f, const char *const *sets, size_t count,
			struct kz_err *err)
{
	kz_auto_json struct kz_json *controller = NULL;
	kz_auto_close int lock = -1;
	struct kz_settings before;
	struct kz_conf c;
	size_t changed;
	enum kz_rc rc;

	if ((rc = kz_front_may(f, "config set", err)) ||
	    (rc = kz_front_check_early(f, sets, count, err)))
		return rc;
	/* where there is no state there is no lock */
	rc = kz_conf_load(&c, f->state, err);
	if ((rc && rc != KZ_E_CONFIG) || (rc = kz_front_lock(f, &lock, err)))
		return rc;
	/* another may have changed them while it was waited for */
	controller = kz_front_controller(f);
	rc = kz_conf_load(&c, f->state, err);
	if (rc == KZ_E_CONFIG && count == 1 && !kz_front_store_one(f, sets[0], err))
		rc = kz_conf_load(&c, f->state, err);
	before = c.set;
	if (rc || (rc = kz_front_store(&c, sets, count, &changed, err)))
		return rc;
	kz_auto_close_(&lock);
	lock = -1;
	/* kz-controller looks for changed files itself */
	kz_front_told(f, sets, count, changed);
	tell_scope(f, &c, sets, count);
	tell_registries(f, &c, sets, count);
	if (!kz_conf_same_bounds(&before, &c.set) && kz_front_is_scanning(f))
		await_bounds(f, controller);
	return KZ_OK;
}
