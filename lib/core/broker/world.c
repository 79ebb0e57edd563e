/* What the broker goes by. */
#include "core/broker/world.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mark.h"
#include "base/str.h"
#include "core/conf/conf.h"
#include "core/conf/keys.h"
#include "core/egress/policy.h"
#include "core/egress/resolvers.h"
#include "core/egress/self.h"

#define LOOK_MS 500

void kz_brk_world_init(struct kz_brk_world *w, const char *state)
{
	memset(w, 0, sizeof *w);
	(void)kz_str_copy(w->state, sizeof w->state, state, NULL);
	w->why = KZ_R_REGISTRY_UNSET;
	w->env.deny = w->denied;
	w->env.self = w->self;
	w->is_deny_bad = w->env.is_deny_unusable = true;
}

void kz_brk_world_release(struct kz_brk_world *w)
{
	for (int k = 0; k < KZ_REGISTRIES; k++)
		free(w->cas[k]);
	kz_secret_release(&w->key);
	explicit_bzero(w->passwords, sizeof w->passwords);
}

/* The first line of a file, by hand into the place where it stays; of one whose end does not fit there is nothing. */
static bool read_password(const char *path, char out[KZ_REGISTRY_PASSWORD])
{
	kz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, out, KZ_REGISTRY_PASSWORD - 1) : -1;
	size_t end;

	out[n > 0 ? n : 0] = '\0';
	end = strcspn(out, "\r\n");
	out[end < KZ_REGISTRY_PASSWORD - 1 ? end : 0] = '\0';
	return *out && !kz_str_has_control(out);
}

static void complain(const struct kz_err *err)
{
	kz_log(KZ_LOG_ERROR, "package registries are not usable", "reason", err->reason, "text",
	       err->text, NULL);
}

/* The certificates that a registry's own are to be signed by. */
static bool read_ca(const char *path, char **out)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1 << 20);

	if (kz_file_read(AT_FDCWD, path, &b, NULL) != KZ_OK || b.len == 0)
		return false;
	free(*out);
	*out = kz_buf_steal(&b);
	return *out != NULL;
}

static void take_files(struct kz_brk_world *w, enum kz_registry k)
{
	const struct kz_registry_conf *r = &w->registries.of[k];
	struct kz_err err = KZ_ERR_INIT;

	free(w->cas[k]);
	w->cas[k] = NULL;
	if ((!*r->password_file || read_password(r->password_file, w->passwords[k])) &&
	    (!*r->ca || read_ca(r->ca, &w->cas[k])))
		return;
	w->why = KZ_R_REGISTRY_INVALID;
	w->is_stale = w->is_read;
	(void)kz_refuse(&err, w->why, "the password file or the certificates of %s cannot be read",
			kz_registry_name(k));
	if (!w->is_stale)
		complain(&err);
}

static void take_registries(struct kz_brk_world *w, const struct kz_conf *c)
{
	struct kz_err err = KZ_ERR_INIT;

	if (w->is_read && kz_str_eq(w->text, c->set.sandbox_package_registries))
		return;
	(void)kz_str_copy(w->text, sizeof w->text, c->set.sandbox_package_registries, NULL);
	explicit_bzero(w->passwords, sizeof w->passwords);
	w->why = KZ_R_NONE;
	if (kz_registries_parse(w->text, &w->registries, &err) != KZ_OK) {
		w->why = KZ_R_REGISTRY_INVALID;
		complain(&err);
		return;
	}
	for (int k = 0; k < KZ_REGISTRIES; k++)
		take_files(w, (enum kz_registry)k);
}

static void take_denied(struct kz_brk_world *w, const struct kz_conf *c)
{
	kz_auto_policy struct kz_policy p = { .revision = "" };

	w->is_deny_bad = kz_policy_load(c, &p, NULL) != KZ_OK ||
			 !kz_scope_deny_parse(p.config.deny_cidrs, w->denied, &w->env.deny_count);
}

/* This machine's own addresses come and go; when they cannot be listed none may be dialled. */
static void read_self(struct kz_brk_world *w)
{
	bool is_known = kz_self_addresses(w->self, KZ_BRK_SELF, &w->env.self_count);

	w->env.is_deny_unusable = w->is_deny_bad || !is_known;
}

static void take_net(struct kz_brk_world *w, const struct kz_conf *c)
{
	char servers[KZ_RESOLVERS_TEXT];
	enum kz_dns_families families = kz_str_eq(c->set.kz_egress_families, "ipv4") ? KZ_DNS_IPV4 :
					kz_str_eq(c->set.kz_egress_families, "ipv6") ? KZ_DNS_IPV6 :
										       KZ_DNS_BOTH;

	if (!kz_resolvers_parse(c->set.kz_egress_resolvers, servers)) {
		kz_log(KZ_LOG_ERROR, "KZ_EGRESS_RESOLVERS is no list of addresses", NULL);
	} else if (!kz_str_eq(servers, w->servers) || families != w->families) {
		w->has_net = false;
		w->families = families;
		(void)kz_str_copy(w->servers, sizeof w->servers, servers, NULL);
	}
}

/* Resolvers for the servers that are named; again where none could be made, and where the machine's own are others. */
static void renew_net(struct kz_brk_world *w, struct kz_brk_net *net)
{
	uint64_t mark = *w->servers ? 0 : kz_mark_file("/etc/resolv.conf");
	struct kz_err err = KZ_ERR_INIT;

	if (w->has_net && mark == w->resolv_mark)
		return;
	w->resolv_mark = mark;
	w->has_net = kz_brk_net_resolvers(net, w->servers, w->families, &err) == KZ_OK;
	if (!w->has_net)
		kz_log(KZ_LOG_ERROR, "names cannot be resolved", "text", err.text, NULL);
}

/* in: is_changed: they may be others than those that were read last */
static void read_settings(struct kz_brk_world *w, bool is_changed)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_conf c;

	/* Settings that make no sense leave the former ones. */
	if (kz_conf_load(&c, w->state, &err) != KZ_OK) {
		if (is_changed || !w->is_amiss)
			complain(&err);
		w->is_amiss = true;
		return;
	}
	w->max_index = c.set.sandbox_package_max_index_bytes;
	w->max_file = c.set.sandbox_package_max_file_bytes;
	take_denied(w, &c);
	take_net(w, &c);
	take_registries(w, &c);
	/* memory or descriptors may have been out */
	w->is_amiss = w->is_deny_bad;
}

/* The keys are in no folder of the cell, but a rotation changes the public ones too. */
static void read_key(struct kz_brk_world *w)
{
	struct kz_secret key = { .is_set = false };

	if (kz_keys_read(w->state, KZ_KEY_PACKAGE, &key, NULL) == KZ_OK)
		w->key = key;
	else
		w->is_stale |= w->is_read;
	kz_secret_release(&key);
}

void kz_brk_world_look(struct kz_brk_world *w, struct kz_brk_net *net)
{
	char path[300];
	uint64_t mark;

	if (!kz_deadline_passed(w->look))
		return;
	w->look = kz_deadline_in(KZ_MS(LOOK_MS));
	(void)kz_str_format(path, sizeof path, NULL, "%s/env", w->state);
	mark = kz_mark_dir(path);
	if (mark != w->env_mark || !w->is_read || w->is_amiss) {
		bool is_changed = mark != w->env_mark || !w->is_read;

		w->env_mark = mark;
		read_settings(w, is_changed);
	}
	read_self(w);
	renew_net(w, net);
	(void)kz_str_format(path, sizeof path, NULL, "%s/public", w->state);
	mark = kz_mark_dir(path);
	if (mark != w->public_mark || !w->is_read) {
		w->public_mark = mark;
		read_key(w);
	}
	w->is_read = true;
}
