/* The decision: mode, port, host, and the class of every address. */
#include "rule/decide.h"

static bool in_ranges(const struct kz_cidr *c, size_t count, const struct kz_addr *a)
{
	for (size_t i = 0; i < count; i++)
		if (kz_cidr_has(&c[i], a))
			return true;
	return false;
}

static bool is_self(const struct kz_decide_env *e, const struct kz_addr *a)
{
	for (size_t i = 0; i < e->self_count; i++)
		if (kz_addr_equal(&e->self[i], a))
			return true;
	return false;
}

/*
 * Why an address may not be dialled; of several the highest rank is told.  A mode's no
 * is the mildest, then what this machine and the operator deny, then protected
 * classes; within each the order of the classes counts.
 */
struct verdict {
	enum kz_reason reason;
	int rank;
};
enum { RANK_MODE = 1, RANK_SELF = 100, RANK_DENIED = 200, RANK_PROTECTED = 300 };

static bool mode_allows(const struct kz_scope *s, enum kz_addr_class class, const struct kz_addr *a)
{
	switch (s->mode) {
	case KZ_SCOPE_PUBLIC_INTERNET: return class == KZ_ADDR_PUBLIC;
	case KZ_SCOPE_HOST_ALLOWLIST:
		return class == KZ_ADDR_PUBLIC || in_ranges(s->cidrs, s->cidr_count, a);
	case KZ_SCOPE_PRIVATE_NETWORK: return in_ranges(s->cidrs, s->cidr_count, a);
	case KZ_SCOPE_ISOLATED: return false;
	}
	return false;
}

static struct verdict judge(const struct kz_scope *s, const struct kz_decide_env *e,
			    const struct kz_addr *a)
{
	enum kz_addr_class class = kz_addr_classify(a);
	enum kz_reason reason = kz_addr_class_reason(class);

	if (kz_addr_class_is_protected(class))
		return (struct verdict){ reason, RANK_PROTECTED + (int)class };
	if (in_ranges(e->deny, e->deny_count, a))
		return (struct verdict){ KZ_R_ADDRESS_DENIED, RANK_DENIED };
	if (is_self(e, a))
		return (struct verdict){ KZ_R_ADDRESS_SELF, RANK_SELF };
	if (!mode_allows(s, class, a))
		return (struct verdict){ reason, RANK_MODE + (int)class };
	return (struct verdict){ KZ_R_NONE, 0 };
}

static enum kz_reason decide_name(const struct kz_scope *s, const struct kz_target *t)
{
	enum kz_host_kind kind = kz_host_kind(t->host);

	if (kind == KZ_HOST_NEVER)
		return KZ_R_SPECIAL_NAME;
	if (s->mode == KZ_SCOPE_HOST_ALLOWLIST && !kz_scope_has_host(s, t))
		return KZ_R_HOST_NOT_ALLOWED;
	if (s->mode == KZ_SCOPE_PUBLIC_INTERNET && kind == KZ_HOST_INNER)
		return KZ_R_SPECIAL_NAME;
	return KZ_R_NONE;
}

static enum kz_reason decide_literal(const struct kz_scope *s, const struct kz_decide_env *e,
				     const struct kz_target *t)
{
	struct verdict v = judge(s, e, &t->addr);

	if (v.rank >= RANK_SELF)
		return v.reason; /* whatever the list says */
	if (s->mode == KZ_SCOPE_HOST_ALLOWLIST && !kz_scope_has_host(s, t))
		return KZ_R_LITERAL_NOT_ALLOWED;
	return v.reason;
}

enum kz_reason kz_decide_target(const struct kz_scope *s, const struct kz_decide_env *e,
				const struct kz_target *t)
{
	if (s->mode == KZ_SCOPE_ISOLATED)
		return KZ_R_MODE_ISOLATED;
	if (e->is_deny_unusable)
		return KZ_R_DENY_UNUSABLE;
	if (!kz_scope_has_port(s, t->port))
		return KZ_R_PORT_NOT_ALLOWED;
	return t->is_literal ? decide_literal(s, e, t) : decide_name(s, t);
}

enum kz_reason kz_decide_answers(const struct kz_scope *s, const struct kz_decide_env *e,
				 const struct kz_target *t, const struct kz_addr *answers,
				 size_t count)
{
	enum kz_reason r = kz_decide_target(s, e, t);
	struct verdict worst = { KZ_R_NONE, 0 };

	if (r != KZ_R_NONE)
		return r;
	if (count == 0)
		return KZ_R_DNS_EMPTY;
	if (count > KZ_ANSWERS_MAX)
		return KZ_R_DNS_TOO_MANY;
	for (size_t i = 0; i < count; i++) {
		struct verdict v = judge(s, e, &answers[i]);

		if (t->is_literal && !kz_addr_equal(&answers[i], &t->addr))
			return KZ_R_INVALID_TARGET; /* a literal has no other address */
		if (v.rank > worst.rank)
			worst = v;
	}
	return worst.reason;
}

/* Of a host that the operator named: its classes are his word, but for those that no registry ever has. */
static enum kz_reason judge_named(const struct kz_decide_env *e, const struct kz_addr *a,
				  bool is_own, bool is_literal)
{
	enum kz_addr_class class = kz_addr_classify(a);
	bool is_open = class == KZ_ADDR_PUBLIC || class == KZ_ADDR_PRIVATE ||
		       class == KZ_ADDR_SHARED || (class == KZ_ADDR_LOOPBACK && is_literal);

	if (class == KZ_ADDR_METADATA || class == KZ_ADDR_LINK_LOCAL ||
	    class == KZ_ADDR_MULTICAST || class == KZ_ADDR_UNSPECIFIED)
		return kz_addr_class_reason(class);
	if (in_ranges(e->deny, e->deny_count, a))
		return KZ_R_ADDRESS_DENIED;
	if (is_self(e, a) && !is_own && !is_literal)
		return KZ_R_ADDRESS_SELF;
	return is_open || is_own ? KZ_R_NONE : kz_addr_class_reason(class);
}

enum kz_reason kz_decide_named(const struct kz_decide_env *e, const struct kz_target *t,
			       const struct kz_cidr *own, size_t own_count,
			       const struct kz_addr *answers, size_t count)
{
	if (e->is_deny_unusable)
		return KZ_R_DENY_UNUSABLE;
	if (!t->is_literal && kz_host_kind(t->host) == KZ_HOST_NEVER)
		return KZ_R_SPECIAL_NAME;
	if (count > KZ_ANSWERS_MAX)
		return KZ_R_DNS_TOO_MANY;
	if (t->is_literal)
		return judge_named(e, &t->addr, in_ranges(own, own_count, &t->addr), true);
	for (size_t i = 0; i < count; i++) {
		enum kz_reason r =
			judge_named(e, &answers[i], in_ranges(own, own_count, &answers[i]), false);

		if (r != KZ_R_NONE)
			return r;
	}
	return KZ_R_NONE;
}
