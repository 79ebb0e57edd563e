/* What the proxy goes by, read again when it changes. */
#include "core/egress/proxy_world.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mark.h"
#include "base/str.h"
#include "core/egress/policy.h"
#include "core/egress/self.h"

/* Keys and revocations are two files, and a rotation replaces one after the other. */
#define LOST_MS 2000
/* Between two readings of what was not to be had: memory or descriptors may have been out. */
#define AGAIN_MS 2000
/* Steering moves both clocks alike; only one that is set moves against boot time. */
#define MOVED_MS 1000

/* Changes with any change of a folder's files. */
static uint64_t mark_dir(const char *state, const char *name)
{
	char path[300];

	return kz_str_format(path, sizeof path, NULL, "%s/%s", state, name) == KZ_OK ?
		       kz_mark_dir(path) :
		       0;
}

static void take_denied(struct kz_px_world *n, const struct kz_policy *p)
{
	n->is_deny_bad = !kz_scope_deny_parse(p->config.deny_cidrs, n->deny, &n->env.deny_count);
}

/* What the operator denies counts at once, whatever the other settings are. */
static void read_denied(const struct kz_px_watch *w, struct kz_px_world *n)
{
	struct kz_conf c = { .state = "" };
	kz_auto_policy struct kz_policy p = { .revision = "" };

	if (kz_str_copy(c.state, sizeof c.state, w->state, NULL) == KZ_OK &&
	    kz_policy_load(&c, &p, NULL) == KZ_OK)
		take_denied(n, &p);
	else
		n->is_deny_bad = true;
}

static enum kz_rc read_settings(struct kz_px_watch *w, struct kz_px_world *n, struct kz_err *err)
{
	struct kz_conf c;
	kz_auto_policy struct kz_policy p = { .revision = "" };
	enum kz_rc rc = kz_conf_load(&c, w->state, err);

	if (rc != KZ_OK || (rc = kz_policy_load(&c, &p, err)) != KZ_OK)
		return rc;
	kz_grant_audience(c.set.kz_deployment_id, n->audience);
	take_denied(n, &p);
	n->is_servers_unusable = !kz_resolvers_parse(c.set.kz_egress_resolvers, n->servers);
	n->families = kz_str_eq(c.set.kz_egress_families, "ipv4") ? KZ_DNS_IPV4 :
		      kz_str_eq(c.set.kz_egress_families, "ipv6") ? KZ_DNS_IPV6 :
								    KZ_DNS_BOTH;
	n->head_ms = c.set.kz_proxy_head_seconds * 1000;
	n->connect_ms = c.set.kz_proxy_connect_seconds * 1000;
	n->first_byte_ms = c.set.kz_proxy_first_byte_seconds * 1000;
	n->idle_ms = c.set.kz_proxy_idle_seconds * 1000;
	n->tunnels_per_grant = (unsigned)c.set.kz_proxy_tunnels_per_grant;
	return KZ_OK;
}

static void copy_settings(struct kz_px_world *n, const struct kz_px_world *last)
{
	memcpy(n->audience, last->audience, sizeof n->audience);
	memcpy(n->deny, last->deny, sizeof n->deny);
	memcpy(n->servers, last->servers, sizeof n->servers);
	n->env.deny_count = last->env.deny_count;
	n->is_deny_bad = last->is_deny_bad;
	n->is_servers_unusable = last->is_servers_unusable;
	n->families = last->families;
	n->head_ms = last->head_ms;
	n->connect_ms = last->connect_ms;
	n->first_byte_ms = last->first_byte_ms;
	n->idle_ms = last->idle_ms;
	n->tunnels_per_grant = last->tunnels_per_grant;
}

/* Keys and revocations are read together: the ones verify the others. What is wrong is told once. */
static void read_public(struct kz_px_watch *w, const struct kz_px_world *last,
			struct kz_px_world *n)
{
	struct kz_err err = KZ_ERR_INIT;
	char path[300];

	w->read_ms = kz_time_boot_ms();
	n->keys_number = n->number;
	n->keys_reason = KZ_R_KEYS_MISSING;
	if (kz_str_format(path, sizeof path, &err, "%s/public/keys.json", w->state) != KZ_OK ||
	    kz_keyring_read(path, &n->keys, &err) != KZ_OK) {
		n->keys = NULL;
		kz_reason_find(err.reason, &n->keys_reason);
		if (!last || last->keys || last->keys_reason != n->keys_reason)
			kz_log(KZ_LOG_WARNING, "no public keys, so everything is refused", "reason",
			       err.reason, NULL);
		return;
	}
	if (kz_str_format(path, sizeof path, &err, "%s/" KZ_REVOKED_FILE, w->state) != KZ_OK ||
	    kz_revoked_read(path, n->keys, n->serial, &n->revoked, &err) != KZ_OK) {
		n->revoked = NULL;
		if (!last || !last->keys || last->revoked)
			kz_log(KZ_LOG_WARNING,
			       "the revocations do not count, so everything is refused", "reason",
			       err.reason, NULL);
		return;
	}
	n->serial = kz_revoked_serial(n->revoked);
	kz_log(KZ_LOG_INFO, "keys and revocations read", "keys",
	       kz_log_int((long long)kz_keyring_count(n->keys)), "serial", kz_log_int(n->serial),
	       NULL);
}

/* Every address of this machine; when they cannot be listed none may be dialled. */
static void read_self(struct kz_px_world *n)
{
	if (!kz_self_addresses(n->self, KZ_PX_SELF, &n->env.self_count))
		n->is_self_bad = true;
}

static bool same_self(const struct kz_px_world *a, const struct kz_px_world *b)
{
	return a->env.self_count == b->env.self_count &&
	       memcmp(a->self, b->self, a->env.self_count * sizeof *a->self) == 0;
}

struct kz_px_world *kz_px_world_take(struct kz_px_world *w)
{
	atomic_fetch_add(&w->refs, 1);
	return w;
}

void kz_px_world_give(struct kz_px_world *w)
{
	if (!w || atomic_fetch_sub(&w->refs, 1) != 1)
		return;
	kz_keyring_free(w->keys);
	kz_revoked_free(w->revoked);
	free(w);
}

bool kz_px_world_ready(const struct kz_px_world *w)
{
	return w->keys && w->revoked && kz_keyring_count(w->keys) > 0;
}

/* Is it time to read again what was not to be had? */
static bool is_again(const struct kz_px_watch *w)
{
	return w->is_amiss && kz_time_boot_ms() - w->read_ms > AGAIN_MS;
}

/* Settings that make no sense any more leave the former ones in force. */
static enum kz_rc take_settings(struct kz_px_watch *w, const struct kz_px_world *last,
				struct kz_px_world *n, bool is_changed, struct kz_err *err)
{
	struct kz_err why = KZ_ERR_INIT;

	if (last)
		copy_settings(n, last);
	if (last && !is_changed && !is_again(w))
		return KZ_OK;
	if (read_settings(w, n, &why) == KZ_OK) {
		w->is_settings_bad = false;
		return KZ_OK;
	}
	if (!last) {
		if (err)
			*err = why;
		return why.rc;
	}
	copy_settings(n, last);
	read_denied(w, n);
	if (is_changed || !w->is_settings_bad)
		kz_log(KZ_LOG_ERROR, "the settings make no sense, so the former ones count",
		       "reason", why.reason, "text", why.text, NULL);
	w->is_settings_bad = true;
	return KZ_OK;
}

/* What differs from the set before. */
struct change {
	uint64_t env, public; /* marks */
	int64_t clock_ms;     /* of the day less boot time */
	bool is_env, is_public, is_late, is_again, is_moved;
};

static struct change look(const struct kz_px_watch *w, const struct kz_px_world *last)
{
	struct change c = { .env = mark_dir(w->state, "env"),
			    .public = mark_dir(w->state, "public"),
			    .clock_ms = kz_time_wall_ms() - kz_time_boot_ms() };

	c.is_env = !last || c.env != w->env_mark;
	c.is_public = !last || c.public != w->public_mark;
	/* a clock that was set ends grants, or begins them: every connection is looked at again */
	c.is_moved = last && llabs(c.clock_ms - w->clock_ms) > MOVED_MS;
	c.is_late = last && !last->revoked && !last->is_cut &&
		    kz_time_boot_ms() - last->lost_ms > LOST_MS;
	c.is_again = last && is_again(w);
	return c;
}

/* The set after last, without its keys. */
static struct kz_px_world *follow(const struct kz_px_world *last)
{
	struct kz_px_world *n = calloc(1, sizeof *n);

	if (!n)
		return NULL;
	atomic_init(&n->refs, 1);
	n->number = last ? last->number + 1 : 1;
	n->serial = last ? last->serial : 0;
	n->resolv_mark = kz_mark_file("/etc/resolv.conf");
	n->env.deny = n->deny;
	n->env.self = n->self;
	read_self(n);
	return n;
}

/* The rings are not counted by reference: each set reads its own. */
static void take_public(struct kz_px_watch *w, const struct kz_px_world *last,
			const struct change *c, struct kz_px_world *n)
{
	read_public(w, last, n);
	/* what was verified by the same files, for the same deployment, stays verified */
	if (!c->is_public && strcmp(last->audience, n->audience) == 0)
		n->keys_number = last->keys_number;
	n->lost_ms = last && !last->revoked ? last->lost_ms : kz_time_boot_ms();
	n->is_cut = !n->revoked && (c->is_late || (last && last->is_cut));
	w->is_amiss = !n->keys || !n->revoked || n->is_deny_bad || w->is_settings_bad;
}

enum kz_rc kz_px_world_next(struct kz_px_watch *w, const struct kz_px_world *last, bool force,
			    struct kz_px_world **out, struct kz_err *err)
{
	struct change c = look(w, last);
	struct kz_px_world *n = follow(last);
	bool is_same;
	enum kz_rc rc;

	*out = NULL;
	if (!n)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	rc = take_settings(w, last, n, c.is_env, err);
	n->env.is_deny_unusable = n->is_deny_bad || n->is_self_bad;
	is_same = last && n->is_self_bad == last->is_self_bad && same_self(n, last) &&
		  n->resolv_mark == last->resolv_mark;
	if (rc != KZ_OK || (is_same && !force && !c.is_env && !c.is_public && !c.is_late &&
			    !c.is_again && !c.is_moved)) {
		kz_px_world_give(n);
		return rc;
	}
	w->clock_ms = c.clock_ms;
	w->env_mark = c.env;
	w->public_mark = c.public;
	take_public(w, last, &c, n);
	*out = n;
	return KZ_OK;
}
