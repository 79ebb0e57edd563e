/*
 * Internet addresses: one text form each, one class each.  The classes are those of
 * policy/addresses.tbl (IANA's special-purpose registries and what no worker may
 * reach); no other file knows a block.  Pure: no resolver, no clock.  Layer 2.
 * src: POL-3 to POL-6, PROXY-8
 */
#ifndef KZ_RULE_ADDRESS_H
#define KZ_RULE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gen/addresses.h" /* enum kz_addr_class: KZ_ADDR_PUBLIC, KZ_ADDR_LOOPBACK ...; kz_addr_class_name; is it denied in every mode? */

#define KZ_ADDR_TEXT 46 /* with the final 0 */

struct kz_addr {
	uint8_t family;    /* 4 or 6 */
	uint8_t bytes[16]; /* network order; of 4 the first four */
};

struct kz_cidr {
	struct kz_addr base; /* no bit set behind the prefix */
	uint8_t bits;
};

/* Parse p[0..n) strictly: four decimal parts without leading zeros, or RFC 4291 text; no zone, no brackets. out: false when it is not one */
bool kz_addr_parse(const char *p, size_t n, struct kz_addr *out);
/* The one text form (RFC 5952 for IPv6). */
void kz_addr_print(const struct kz_addr *a, char out[KZ_ADDR_TEXT]);
bool kz_addr_equal(const struct kz_addr *a, const struct kz_addr *b);
/*
 * The class of an address.  An IPv6 address that carries an IPv4 one (mapped,
 * compatible, NAT64, 6to4, Teredo, ISATAP) is of class embedded_v4, whatever it carries.
 */
enum kz_addr_class kz_addr_classify(const struct kz_addr *a);
/* Parse ADDRESS/BITS strictly: decimal bits without leading zeros, no bit behind the prefix. out: false when it is not one */
bool kz_cidr_parse(const char *p, size_t n, struct kz_cidr *out);
bool kz_cidr_has(const struct kz_cidr *c, const struct kz_addr *a);
/* Have the two an address in common? */
bool kz_cidr_overlaps(const struct kz_cidr *a, const struct kz_cidr *b);
/* Does a range reach an address that is denied in every mode, and is it private (RFC 1918, unique local, 100.64/10) as a whole? */
bool kz_cidr_is_protected(const struct kz_cidr *c);
bool kz_cidr_is_private(const struct kz_cidr *c);

#endif
