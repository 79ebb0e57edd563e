/*
 * Reading one DNS answer.  For the files of port/dns only, and their tests.  Layer 1.
 */
#ifndef KZ_PORT_DNS_PARTS_H
#define KZ_PORT_DNS_PARTS_H

#include "port/dns.h"

/* What was found so far, of all families. */
struct kz_dns_found {
	size_t count;
	struct kz_dns_addr addr[KZ_DNS_MOST];
};

/*
 * Take the addresses of name out of the message p[0..n): the records of one family
 * that belong to the end of its chain of aliases.  An address of any other name, or
 * anything that does not parse, fails it.  wait: never
 */
enum kz_dns_rc kz_dns_answer(const uint8_t *p, size_t n, const char *name, uint8_t family,
			     struct kz_dns_found *out);

#endif
