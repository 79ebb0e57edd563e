/*
 * Hosts and authorities: the one reading of "HOST:PORT" that the whole of kz has.
 * Strict, so that no two readers see different hosts: printable ASCII without
 * user-info, IPv6 in brackets without zone, IPv4 in its one decimal form, names of
 * LDH labels (and '_') in lower case without the final dot.  Pure.  Layer 2.
 * src: POL-15, PROXY-7, PROXY-8; RFC 9110 section 7.2, RFC 9112 section 3.2.3, RFC 1123 section 2.1
 */
#ifndef KZ_RULE_HOST_H
#define KZ_RULE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rule/address.h"
#include "rule/reason.h"

#define KZ_HOST_MAX 253
#define KZ_AUTHORITY_MAX 262  /* bytes that kz_target_parse reads; longer is invalid_target */
#define KZ_AUTHORITY_TEXT 262 /* what kz_target_print writes, with the final 0 */

/* Where a request wants to go. */
struct kz_target {
	bool is_literal;     /* an address; else a name */
	struct kz_addr addr; /* of a literal */
	/* Normal form: the name, or the address as kz_addr_print writes it (no brackets). */
	char host[KZ_HOST_MAX + 1];
	uint16_t port; /* 1 to 65535; 0 after kz_host_parse */
};

/*
 * Parse HOST:PORT (CONNECT), or HOST with an optional port when default_port is not 0.
 * out: KZ_R_NONE and t, or why not (t untouched): invalid_target, numeric_host (an
 * address in a form that other readers take for another one, such as 0x7f.1 or
 * 127.0.0.1.), invalid_port.
 */
enum kz_reason kz_target_parse(const char *p, size_t n, uint16_t default_port, struct kz_target *t);
/* Parse a host alone into its normal form, as an entry of a host list: exact, no wildcard, no port, IPv6 without brackets. out: as above */
enum kz_reason kz_host_parse(const char *p, size_t n, struct kz_target *t);
/* The authority again, IPv6 in brackets: kz_target_parse reads it back as the same target. */
void kz_target_print(const struct kz_target *t, char out[KZ_AUTHORITY_TEXT]);
/* Same host, whatever the port? An address equals only itself, never a name. [POL-15] */
bool kz_target_same_host(const struct kz_target *a, const struct kz_target *b);

/* What a name is before anybody looks it up. */
enum kz_host_kind {
	KZ_HOST_PUBLIC, /* a name of the public DNS */
	KZ_HOST_INNER, /* of a network of one's own (.local, .internal, .home.arpa ...): never asked for the public internet */
	KZ_HOST_NEVER, /* a single label, localhost, .onion, .invalid ...: never asked at all */
};
/* in: host in normal form. */
enum kz_host_kind kz_host_kind(const char *host);

#endif
