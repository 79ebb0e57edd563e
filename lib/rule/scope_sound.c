/* Scopes as a verifier and a minter look at them: well made, and one within another. */
#include "rule/scope.h"

static bool has_sound_ports(const struct kz_scope *s)
{
	if (s->port_count == 0 || s->port_count > KZ_SCOPE_PORTS)
		return false;
	for (size_t i = 0; i < s->port_count; i++)
		if (s->ports[i] == 0 || (i > 0 && s->ports[i] <= s->ports[i - 1]))
			return false;
	return true;
}

static bool has_sound_hosts(const struct kz_scope *s)
{
	if (s->mode != KZ_SCOPE_HOST_ALLOWLIST)
		return s->host_count == 0;
	if (s->host_count == 0 || s->host_count > KZ_SCOPE_HOSTS)
		return false;
	for (size_t i = 0; i < s->host_count; i++)
		for (size_t k = 0; k < i; k++)
			if (kz_target_same_host(&s->hosts[i], &s->hosts[k]))
				return false;
	return true;
}

static bool has_sound_cidrs(const struct kz_scope *s)
{
	if (s->mode == KZ_SCOPE_PUBLIC_INTERNET)
		return s->cidr_count == 0;
	if (s->cidr_count > KZ_SCOPE_CIDRS ||
	    (s->cidr_count == 0 && s->mode == KZ_SCOPE_PRIVATE_NETWORK))
		return false;
	for (size_t i = 0; i < s->cidr_count; i++)
		if (!kz_cidr_is_private(&s->cidrs[i]))
			return false;
	return true;
}

bool kz_scope_is_sound(const struct kz_scope *s)
{
	if (s->mode == KZ_SCOPE_ISOLATED)
		return s->host_count == 0 && s->cidr_count == 0 && s->port_count == 0;
	return has_sound_ports(s) && has_sound_hosts(s) && has_sound_cidrs(s);
}

bool kz_scope_has_port(const struct kz_scope *s, uint16_t port)
{
	for (size_t i = 0; i < s->port_count; i++)
		if (s->ports[i] == port)
			return true;
	return false;
}

bool kz_scope_has_host(const struct kz_scope *s, const struct kz_target *t)
{
	for (size_t i = 0; i < s->host_count; i++)
		if (kz_target_same_host(&s->hosts[i], t))
			return true;
	return false;
}

/* Does one range of the scope hold all of c? */
static bool has_range(const struct kz_scope *s, const struct kz_cidr *c)
{
	for (size_t i = 0; i < s->cidr_count; i++)
		if (s->cidrs[i].bits <= c->bits && kz_cidr_has(&s->cidrs[i], &c->base))
			return true;
	return false;
}

bool kz_scope_is_within(const struct kz_scope *a, const struct kz_scope *b)
{
	if (a->mode == KZ_SCOPE_ISOLATED)
		return true;
	if (a->mode != b->mode)
		return false;
	for (size_t i = 0; i < a->port_count; i++)
		if (!kz_scope_has_port(b, a->ports[i]))
			return false;
	for (size_t i = 0; i < a->host_count; i++)
		if (!kz_scope_has_host(b, &a->hosts[i]))
			return false;
	for (size_t i = 0; i < a->cidr_count; i++)
		if (!has_range(b, &a->cidrs[i]))
			return false;
	return true;
}
