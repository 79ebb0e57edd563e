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
	const char *
		deny_cidrs; /* KZ_EGRESS_DENY_CIDRS: refused in every mode; NULL or "" none beyond the table */
	bool is_cidrs_own; /* the operator set the ranges, they are not the packaged ones [POL-14] */
	bool has_field_key, has_proxy; /* a grant key exists; a proxy address is set [POL-11] */
};

/* What may be reached. */
struct kz_scope {
	enum kz_scope_mode mode;
	size_t host_count, cidr_count, port_count;
	struct kz_target hosts[KZ_SCOPE_HOSTS]; /* of host_allowlist; port 0 */
	struct kz_cidr cidrs
		[KZ_SCOPE_CIDRS]; /* private_network; host_allowlist: only the operator's own */
	uint16_t ports[KZ_SCOPE_PORTS]; /* sorted, each once */
	int32_t ttl_s;
};

/* Name of a mode, static; and the mode of a name. out: false for an unknown one */
const char *kz_scope_mode_name(enum kz_scope_mode mode);
bool kz_scope_mode_parse(const char *name, enum kz_scope_mode *out);

/*
 * The effective scope.  out: KZ_R_NONE, or what is missing (egress_disabled, mode_unknown,
 * ports_unusable, proxy_unset, field_key_missing, hosts_unusable, cidrs_unusable,
 * ttl_unusable, deny_unusable) and then *out is isolated; isolated by choice is KZ_R_NONE.
 */
enum kz_reason kz_scope_resolve(const struct kz_scope_config *c, struct kz_scope *out);
/* Narrow a host_allowlist by a provider's hosts (NULL: no hint; an unknown hint is an empty list); inert in other modes [POL-16, POL-17]. */
void kz_scope_narrow(struct kz_scope *s, const char *const *hosts, size_t count);
/* The canonical text that the policy revision is the digest of: changes whenever a value changes [POL-23]. err: false when memory is out */
bool kz_scope_canonical(const struct kz_scope_config *c, struct kz_buf *out);

#endif
