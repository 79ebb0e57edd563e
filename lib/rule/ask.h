/*
 * What a request to kz-gateway comes to before any route sees it: the line that names the
 * execution, the method, the form of the target, no body, a Host of ours.  Pure; slices
 * point into the head.  Layer 2.
 * src: DEP-5, BRK-5, PROXY-19; RFC 9112 section 3.2
 */
#ifndef KZ_RULE_ASK_H
#define KZ_RULE_ASK_H

#include <stdbool.h>

#include "rule/httphead.h"

#define KZ_EXECUTION_HEX 33                       /* 32 digits and the final 0 */
#define KZ_EXECUTION_LINE (13 + KZ_EXECUTION_HEX) /* "KZ-EXECUTION <32 hex>\n" */

/*
 * The line with which a worker's forwarder begins each connection to kz-proxy or kz-gateway.
 * out: KZ_HEAD_OK and the execution, KZ_EXECUTION_LINE bytes are used; KZ_HEAD_MORE;
 * KZ_HEAD_BAD as soon as a byte shows it
 */
enum kz_head_rc kz_execution_line(const char *p, size_t n, char execution[KZ_EXECUTION_HEX]);

struct kz_ask {
	bool is_head;
	struct kz_slice path, query; /* path begins with '/'; query is what is after the '?' */
};

/* out: 0 and ask, or the status of HTTP that says why not: 405 (GET and HEAD only), 413 (a body), 400 (the target is no path) */
int kz_ask_read(const struct kz_httphead *h, struct kz_ask *ask);
/*
 * Is the Host one that an operator's page may have?  A stranger's name that leads here (DNS
 * rebinding) is not.  Good are localhost, the loopback's addresses, the address that is listened
 * on (any literal address where that is the unspecified one), and the names that are given.
 * in: names "HOST,HOST"; listen ADDRESS:PORT; "" for none
 */
bool kz_ask_host(const struct kz_httphead *h, const char *names, const char *listen);
/* Does a path lie at this prefix: below it when it ends in '/', else the same? */
bool kz_ask_fits(struct kz_slice path, const char *prefix);

#endif
