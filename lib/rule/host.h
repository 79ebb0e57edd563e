/*
 * Hosts and authorities: the one reading of "HOST:PORT" that the whole of kz has.
 * Strict, so that no two readers see different hosts: printable ASCII without
 * user-info, IPv6 in brackets without zone, IPv4 in its one decimal form, names of
 * LDH labels in lower case without the final dot.  Pure.  Layer 2.
 * src: POL-15, PROXY-7, PROXY-8; RFC 9110 section 7.2, RFC 9112 section 3.2.3
 */
#ifndef KZ_RULE_HOST_H
#define KZ_RULE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rule/address.h"
#include "rule/reason.h"

#define KZ_HOST_MAX 253
#define KZ_AUTHORITY_MAX 262 /* [name or address]:65535 */

/* Where a request wants to go. */
struct kz_target {
	bool is_literal;     /* an address; else a name */
	struct kz_addr addr; /* of a literal */
	char host[KZ_HOST_MAX +
		  1];  /* normal form: the name, or the address as kz_addr_print writes it */
	uint16_t port; /* 1 to 65535 */
};

/*
 * Parse HOST:PORT (CONNECT), or HOST with an optional port when default_port is not 0.
 * out: KZ_R_NONE and t, or why not: invalid_target, numeric_host (an address in a
 * form that other readers take for another one), invalid_port.
 */
enum kz_reason kz_target_parse(const char *p, size_t n, uint16_t default_port, struct kz_target *t);
/* Parse a host alone into its normal form, as an entry of a host list: exact, no wildcard, no port. IPv6 without brackets. */
enum kz_reason kz_host_parse(const char *p, size_t n, struct kz_target *t);
/* Names that are never looked up on the public internet: single labels, localhost, .local, .internal, .onion and their like. */
bool kz_host_is_special(const char *host);

#endif
