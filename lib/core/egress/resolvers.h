/*
 * KZ_EGRESS_RESOLVERS: the name servers that kz-proxy and the package broker ask.  Layer 3.
 * src: PROXY-4
 */
#ifndef KZ_CORE_EGRESS_RESOLVERS_H
#define KZ_CORE_EGRESS_RESOLVERS_H

#include <stdbool.h>

#define KZ_RESOLVERS_TEXT 512

/*
 * Read "ADDRESS[:PORT]" entries with commas or blanks between, IPv6 with a port in brackets.
 * out: as kz_dns_new takes it, "" for none; false when an entry is none
 */
bool kz_resolvers_parse(const char *text, char out[KZ_RESOLVERS_TEXT]);

#endif
