/*
 * The egress scope: what an operator's settings come to.  One resolver for kz-run,
 * kz-grant scope and kz status; it has no default, and a value that is missing,
 * unknown or cannot be enforced gives isolated with the reason.  No request of a
 * member, argument of a tool or output of a model is an input.  Pure.  Layer 2.
 * src: POL-1, POL-7 to POL-18, POL-20 to POL-24, GRANT-4, INV-28, INV-29
 */
#ifndef KZ_RULE_SCOPE_H
#define KZ_RULE_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "rule/address.h"
#include "rule/host.h"
#include "rule/reason.h"

#define KZ_SCOPE_HOSTS 64
#define KZ_SCOPE_CIDRS 64
#define KZ_SCOPE_PORTS 64
#define KZ_GRANT_TTL_MOST 14400 /* s */

enum kz_scope_mode {
	KZ_SCOPE_ISOLATED,
	KZ_SCOPE_PUBLIC_INTERNET,
	KZ_SCOPE_PRIVATE_NETWORK,
	KZ_SCOPE_HOST_ALLOWLIST,
};

/* The settings as text; NULL: not set.  Lists are comma-separated, blanks around entries are allowed. */
struct kz_scope_config {
	const char *enabled, *mode, *hosts, *cidrs, *ports, *ttl;
	/* KZ_EGRESS_DENY_CIDRS: refused in every mode; NULL or "": none beyond the table */
	const char *deny_cidrs;
	bool is_cidrs_own; /* the operator set the ranges, they are not the packaged ones [POL-14] */
	bool has_field_key, has_proxy; /* a grant key exists; a proxy address is set [POL-11] */
};

/* What may be reached. */
struct kz_scope {
	enum kz_scope_mode mode;
	size_t host_count, cidr_count, port_count;
	struct kz_target hosts[KZ_SCOPE_HOSTS]; /* host_allowlist; each once, port 0 */
	/* private_network: the ranges; host_allowlist: the operator's own, for private answers */
	struct kz_cidr cidrs[KZ_SCOPE_CIDRS];
	uint16_t ports[KZ_SCOPE_PORTS]; /* sorted, each once */
	int32_t ttl_s;                  /* 1 to KZ_GRANT_TTL_MOST */
};

/* Name of a mode, static; and the mode of a name. out: false for an unknown one or NULL */
const char *kz_scope_mode_name(enum kz_scope_mode mode);
bool kz_scope_mode_parse(const char *name, enum kz_scope_mode *out);

/*
 * The effective scope.  out: KZ_R_NONE, or what is missing (egress_disabled, mode_unknown,
 * ports_unusable, hosts_unusable, cidrs_unusable, ttl_unusable, deny_unusable,
 * proxy_unset, field_key_missing) and then *out is isolated; isolated by choice is
 * KZ_R_NONE.  One bad entry, one too many or none at all makes a list unusable; lists that
 * the mode does not use are not read.  A longer life than KZ_GRANT_TTL_MOST is cut to it.
 */
enum kz_reason kz_scope_resolve(const struct kz_scope_config *c, struct kz_scope *out);
/*
 * Narrow a host_allowlist by a provider's hosts: what is left was configured and hinted.
 * in: hosts NULL: no hint.  Inert in other modes; nothing left: isolated. [POL-16, POL-17]
 */
void kz_scope_narrow(struct kz_scope *s, const char *const *hosts, size_t count);
/*
 * Could kz_scope_resolve or kz_scope_narrow have made this scope?  What a verifier asks
 * of the claims of a grant: hosts only in host_allowlist and there at least one, ranges private
 * and at least one in private_network, none in public_internet, ports sorted, each once and
 * at least one, nothing at all in isolated; ttl_s is not looked at.
 */
bool kz_scope_is_sound(const struct kz_scope *s);
/* Is the port, or the host (whatever its port), in the scope's list? */
bool kz_scope_has_port(const struct kz_scope *s, uint16_t port);
bool kz_scope_has_host(const struct kz_scope *s, const struct kz_target *t);
/* Is all that a reaches also within b: its mode, and each host, range and port? [INV-28, INV-29] */
bool kz_scope_is_within(const struct kz_scope *a, const struct kz_scope *b);
/* The ranges of KZ_EGRESS_DENY_CIDRS; NULL or "": none. out: false when an entry is bad or there are too many */
bool kz_scope_deny_parse(const char *text, struct kz_cidr out[KZ_SCOPE_CIDRS], size_t *count);
/* The canonical text that the policy revision is the digest of: differs whenever a value differs [POL-23]. err: false when memory is out */
bool kz_scope_canonical(const struct kz_scope_config *c, struct kz_buf *out);

#endif
