/*
 * Settings and places: what a program of kz reads before it does anything.
 *
 * Settings come from STATE/env (one file a variable, as s6-envdir reads) over the
 * defaults of policy/settings.tbl, and from nowhere else; a caller's environment
 * chooses KZ_STATE only [DEP-15].  A nonsensical set fails with the setting's
 * name [POOL-8].  Settings of the egress policy have no default and no member: their
 * text is in STATE/env, whatever it is, and core/egress/policy.h makes sense of it.  Layer 3.
 */
#ifndef KZ_CORE_CONF_CONF_H
#define KZ_CORE_CONF_CONF_H

#include "base/buf.h"
#include "base/err.h"
#include "gen/settings.h" /* struct kz_settings: one typed member a setting, e.g. .sandbox_warm_pool_min (int64_t), .kz_valkey_url (char[]) */

struct kz_conf {
	char state[256]; /* the state directory, absolute */
	struct kz_settings set;
};

/*
 * Find the state directory of the kz to call: KZ_STATE, else /var/lib/kz for root,
 * else the caller's own where it exists, else /var/lib/kz where it exists.
 * err: KZ_E_CONFIG when relative or too long (sockets below it must fit).
 */
enum kz_rc kz_conf_state(char out[256], struct kz_err *err);
/* The state directory that the caller's own "kz up" makes: /var/lib/kz for root, else $XDG_STATE_HOME/kz or ~/.local/state/kz. err: as kz_conf_state */
enum kz_rc kz_conf_state_own(char out[256], struct kz_err *err);
/* Where the caller's "kz up" makes it: KZ_STATE, else the caller's own. err: as kz_conf_state */
enum kz_rc kz_conf_state_make(char out[256], struct kz_err *err);
/*
 * Load everything. in: state NULL means kz_conf_state.
 * err: not_running (69) when there is no state directory yet; no_permission (77)
 * with the fix; setting_invalid (78) naming the setting.
 */
enum kz_rc kz_conf_load(struct kz_conf *c, const char *state, struct kz_err *err);
/* One setting from text into s (of the policy: only whether it could be stored); and the rules between settings (min <= max ...). err: setting_invalid, setting_unknown */
enum kz_rc kz_conf_set(struct kz_settings *s, const char *name, const char *value,
		       struct kz_err *err);
enum kz_rc kz_conf_check(const struct kz_settings *s, struct kz_err *err);
/* Have both the same bounds of a worker? They are part of what an image is: a worker under others is of another image. */
bool kz_conf_same_bounds(const struct kz_settings *a, const struct kz_settings *b);
/* The value of a setting as text; of one of the policy "", which is its default. err: setting_unknown */
enum kz_rc kz_conf_get(const struct kz_settings *s, const char *name, struct kz_buf *out,
		       struct kz_err *err);
/* Is this a setting of the policy: without a default, any text? */
bool kz_conf_is_policy(const char *name);
/*
 * The stored text of a setting of the policy.
 * in: state directory. out: appended; is_set false when the file is absent or empty
 * err: no_permission, not_running; setting_invalid when it is no text of one line and bounded length
 */
enum kz_rc kz_conf_policy(const char *state, const char *name, struct kz_buf *out, bool *is_set,
			  struct kz_err *err);
/* The same for several: STATE/env opened once (own: the caller closes it), and one setting of it. err: as kz_conf_policy */
enum kz_rc kz_conf_env_open(const char *state, int *dir, struct kz_err *err);
enum kz_rc kz_conf_policy_at(int dir, const char *name, struct kz_buf *out, bool *is_set,
			     struct kz_err *err);
/* The value of any setting as text: kz_conf_get, or the stored text of one of the policy ("" when not set). err: as both */
enum kz_rc kz_conf_text(const struct kz_conf *c, const char *name, struct kz_buf *out,
			struct kz_err *err);
/* Settings that stand in the caller's environment with another value, where nobody reads them. out: names, with ", " between [DEP-15] */
void kz_conf_ignored(const struct kz_conf *c, struct kz_buf *names);
/* The default of a setting as text. err: setting_unknown */
enum kz_rc kz_conf_default(const char *name, struct kz_buf *out, struct kz_err *err);
/* Write one value to STATE/env, whole or not at all; checks it, and the set that it makes, first. err: as kz_conf_set, kz_conf_check; not_running, no_permission */
enum kz_rc kz_conf_store(const char *state, const char *name, const char *value,
			 struct kz_err *err);
/* STATE/suffix into out[0..size). */
enum kz_rc kz_conf_path(const struct kz_conf *c, const char *suffix, char *out, size_t size,
			struct kz_err *err);
/* "unix:STATE/run/valkey.sock" unless KZ_VALKEY_URL is set; refuses schemes that are not supported (url_unsupported). */
enum kz_rc kz_conf_valkey_url(const struct kz_conf *c, char *out, size_t size, struct kz_err *err);
/* The same for a program that does not start Valkey. err: not_running where kz is down, and as above */
enum kz_rc kz_conf_valkey_there(const struct kz_conf *c, char *out, size_t size,
				struct kz_err *err);

#endif
