/*
 * Internet addresses: one text form each, one class each.  The classes are those of
 * policy/addresses.tbl (IANA's special-purpose registries and what no worker may
 * reach); no other file knows a block.  Pure: no resolver, no clock.  Layer 2.
 * src: POL-3 to POL-6, PROXY-8; RFC 4291, RFC 5952
 */
#ifndef KZ_RULE_ADDRESS_H
#define KZ_RULE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gen/addresses.h" /* enum kz_addr_class: KZ_ADDR_PUBLIC ... KZ_ADDR_METADATA, mildest first */

#define KZ_ADDR_TEXT 46 /* longest text form, with the final 0 */
#define KZ_CIDR_TEXT 50 /* the same of a range */

struct kz_addr {
	uint8_t family;    /* 4 or 6 */
	uint8_t bytes[16]; /* network order; of 4 the first four, the rest 0 */
};

struct kz_cidr {
	struct kz_addr base; /* no bit set behind the prefix */
	uint8_t bits;
};

/*
 * Parse p[0..n) strictly: four decimal parts without leading zeros, or RFC 4291 text
 * ("::" stands for at least one group); no zone, no brackets, no blanks.
 * out: false when it is not one.
 */
bool kz_addr_parse(const char *p, size_t n, struct kz_addr *out);
/* The one text form (RFC 5952 for IPv6; IPv4-mapped ones end in decimal parts). */
void kz_addr_print(const struct kz_addr *a, char out[KZ_ADDR_TEXT]);
bool kz_addr_equal(const struct kz_addr *a, const struct kz_addr *b);

/*
 * The class of an address.  An IPv6 address of a form that carries an IPv4 one
 * (mapped, compatible, translated, 6to4, Teredo, ISATAP) is embedded, whatever it
 * carries.  Of neither family: reserved.
 */
enum kz_addr_class kz_addr_classify(const struct kz_addr *a);
/* Name of a class ("loopback"), the reason of refusing one, and whether every mode refuses it; static. */
const char *kz_addr_class_name(enum kz_addr_class c);
enum kz_reason kz_addr_class_reason(enum kz_addr_class c);
bool kz_addr_class_is_protected(enum kz_addr_class c);

/* Parse ADDRESS/BITS strictly: decimal bits without leading zeros, no bit behind the prefix. out: false when it is not one */
bool kz_cidr_parse(const char *p, size_t n, struct kz_cidr *out);
void kz_cidr_print(const struct kz_cidr *c, char out[KZ_CIDR_TEXT]);
bool kz_cidr_has(const struct kz_cidr *c, const struct kz_addr *a);
/* Have the two an address in common? */
bool kz_cidr_overlaps(const struct kz_cidr *a, const struct kz_cidr *b);
/*
 * May a scope or a grant hold this range?  Only one that lies as a whole in private or
 * shared space (RFC 1918, unique local, carrier-grade NAT) and as a whole in no smaller
 * protected block.  Protected addresses inside a longer range (metadata in unique
 * local space) stay refused all the same: kz_addr_classify comes first. [POL-3, POL-13]
 */
bool kz_cidr_is_private(const struct kz_cidr *c);

#endif
