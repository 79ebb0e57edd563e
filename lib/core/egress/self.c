/* Addresses of the interfaces. */
#include "core/egress/self.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

static bool take(const struct sockaddr *from, struct kz_addr *to)
{
	*to = (struct kz_addr){ .family = 0 };
	if (from && from->sa_family == AF_INET) {
		to->family = 4;
		memcpy(to->bytes, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
	} else if (from && from->sa_family == AF_INET6) {
		to->family = 6;
		memcpy(to->bytes, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr,
		       16);
	}
	return to->family != 0;
}

bool kz_self_addresses(struct kz_addr *out, size_t most, size_t *count)
{
	struct ifaddrs *all = NULL;
	struct kz_addr a;
	bool fits = true;

	*count = 0;
	if (getifaddrs(&all) != 0)
		return false;
	for (const struct ifaddrs *i = all; i && fits; i = i->ifa_next) {
		if (!take(i->ifa_addr, &a))
			continue;
		fits = *count < most;
		if (fits)
			out[(*count)++] = a;
	}
	freeifaddrs(all);
	return fits;
}
