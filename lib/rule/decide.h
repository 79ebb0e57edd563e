/*
 * The egress decision: may this scope reach this target, given these answers?  The
 * only one in kz: kz-grant explain, kz-proxy and the package broker ask it.  Pure: who
 * asks brings the answers.  Layer 2.
 * src: POL-1, POL-3 to POL-6, POL-14, POL-15, PROXY-4, PROXY-5, PROXY-7, PROXY-8, INV-27, INV-32
 */
#ifndef KZ_RULE_DECIDE_H
#define KZ_RULE_DECIDE_H

#include <stddef.h>

#include "rule/address.h"
#include "rule/host.h"
#include "rule/reason.h"
#include "rule/scope.h"

#define KZ_ANSWERS_MAX 64 /* addresses of one name, both families; more refuse it */
#define KZ_CNAME_MAX 8

/* What holds on this machine, whatever the scope says. */
struct kz_decide_env {
	const struct kz_cidr *deny; /* KZ_EGRESS_DENY_CIDRS, read by kz_scope_deny_parse */
	size_t deny_count;
	bool is_deny_unusable;      /* it could not be read: nothing may be reached */
	const struct kz_addr *self; /* addresses of this machine's interfaces */
	size_t self_count;
};

/*
 * Before any lookup.  out: KZ_R_NONE: a name may be looked up, a literal may be dialled;
 * else the reason: mode_isolated, deny_unusable, port_not_allowed, host_not_allowed,
 * literal_not_allowed, special_name, or of the address: address_CLASS, address_denied,
 * address_self.
 */
enum kz_reason kz_decide_target(const struct kz_scope *s, const struct kz_decide_env *e,
				const struct kz_target *t);
/*
 * All answers of a name, of both families, or the one address of a literal; asks
 * kz_decide_target first, so that nobody can leave it out.
 * out: KZ_R_NONE: each of them may be dialled, and nothing else; else as above,
 * dns_empty, dns_too_many, or the reason against the worst address found [PROXY-5].
 */
enum kz_reason kz_decide_answers(const struct kz_scope *s, const struct kz_decide_env *e,
				 const struct kz_target *t, const struct kz_addr *answers,
				 size_t count);
/*
 * The same for a target that the operator himself named as a registry of packages: its
 * host and port are his word, so private and shared addresses pass too, of a literal also
 * the loopback's, and what lies in the ranges he named with it.  Metadata, link-local,
 * multicast and unspecified addresses, and what he denies, stay refused in any case.
 * in: own[0..own_count); count 0 of a name: before the lookup [BRK-8]
 */
enum kz_reason kz_decide_named(const struct kz_decide_env *e, const struct kz_target *t,
			       const struct kz_cidr *own, size_t own_count,
			       const struct kz_addr *answers, size_t count);

#endif
