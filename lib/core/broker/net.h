/*
 * What downloads and lookups need of the gateway's loop: descriptors watched for two
 * libraries, and their times.  For the files of the broker only.  Layer 3.
 */
#ifndef KZ_CORE_BROKER_NET_H
#define KZ_CORE_BROKER_NET_H

#include "port/dns.h"
#include "port/http_flow.h"
#include "port/serve.h"

struct kz_brk_net;

/* in: s borrowed. own: kz_brk_net_free. err: KZ_E_OS */
enum kz_rc kz_brk_net_new(struct kz_brk_net **out, struct kz_serve *s, struct kz_err *err);
void kz_brk_net_free(struct kz_brk_net *n);
/* Other name servers from now on; what was asked of the former is still answered. in: as kz_dns_new. err: as kz_dns_new; then it is to be called again */
enum kz_rc kz_brk_net_resolvers(struct kz_brk_net *n, const char *servers,
				enum kz_dns_families families, struct kz_err *err);
/* The HTTP client, loaded at the first call. out: borrowed; NULL: libcurl is not there, which is logged */
struct kz_http_flow *kz_brk_net_flow(struct kz_brk_net *n);
/* out: NULL: not to be had */
struct kz_dns_query *kz_brk_net_ask(struct kz_brk_net *n, const char *name, kz_dns_done done,
				    void *arg);
/* Take back what kz_brk_net_ask gave. */
void kz_brk_net_cancel(struct kz_brk_net *n, struct kz_dns_query *q);

#endif
