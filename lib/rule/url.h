/*
 * URLs of upstreams: http and https alone, in one reading.  No user-info, no byte outside
 * visible ASCII, no backslash; the host as rule/host reads it; dot segments removed.
 * Pure.  Layer 2.
 * src: RFC 3986 sections 3 and 5.2, BRK-8
 */
#ifndef KZ_RULE_URL_H
#define KZ_RULE_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "rule/host.h"

#define KZ_URL_PATH 1536
#define KZ_URL_FRAGMENT 256
#define KZ_URL_TEXT (8 + KZ_AUTHORITY_TEXT + KZ_URL_PATH) /* as printed, with the final 0 */

struct kz_url {
	bool is_https;
	struct kz_target at;            /* port is always set */
	char path[KZ_URL_PATH];         /* with the query, encoded as it came; begins with '/' */
	char fragment[KZ_URL_FRAGMENT]; /* what stands after '#', or "" */
};

/* Parse an absolute URL. out: false when it is none that is taken, u is then untouched */
bool kz_url_parse(const char *p, size_t n, struct kz_url *u);
/* What a reference p[0..n) on a page at base means, by RFC 3986 section 5.2. out: as kz_url_parse; u may be base */
bool kz_url_resolve(const struct kz_url *base, const char *p, size_t n, struct kz_url *u);
/* The URL without its fragment; a port that is the scheme's own is left out. */
void kz_url_print(const struct kz_url *u, char out[KZ_URL_TEXT]);
/* Same scheme, host and port? */
bool kz_url_same_origin(const struct kz_url *a, const struct kz_url *b);
/* The same URL with text put behind its path, before any query. out: false when it does not fit */
bool kz_url_append(struct kz_url *u, const char *text);

#endif
