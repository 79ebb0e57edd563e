/*
 * The operator's egress policy: read from STATE/env at each dispatch, so that a change
 * counts for the next run and nothing restarts.  A file that is absent or empty is not
 * set; one that holds nonsense stops nothing and resolves to isolated.  Nothing is taken
 * from a caller's environment.  Layer 3.
 * src: POL-7 to POL-12, POL-14, POL-19 to POL-23, ADM-3, DEP-15
 */
#ifndef KZ_CORE_EGRESS_POLICY_H
#define KZ_CORE_EGRESS_POLICY_H

#include "base/auto.h"
#include "core/conf/conf.h"
#include "core/egress/grant.h"
#include "rule/reason.h"
#include "rule/scope.h"

#define KZ_PROXY_PATH 512

/* What is configured, as one dispatch sees it. */
struct kz_policy {
	struct kz_scope_config config; /* its texts are borrowed from this struct */
	const char *proxy_url;         /* KZ_PROXY_URL; NULL: not set */
	const char *vintage;           /* KZ_INSTALL_VINTAGE; NULL: not set */
	char revision[KZ_REVISION_TEXT];
	char *texts[9]; /* own */
};

/*
 * Read the policy. in: c names the state directory; its settings are not looked at.
 * out: filled also where values make no sense; kz_policy_release it in any case.
 * err: KZ_E_OS (memory); no_permission when STATE/env may not be read
 */
enum kz_rc kz_policy_load(const struct kz_conf *c, struct kz_policy *out, struct kz_err *err);
void kz_policy_release(struct kz_policy *p);
#define kz_auto_policy kz_auto(kz_policy_release)

/* The digest that names a policy: SHA-256 of kz_scope_canonical, hex. err: KZ_E_OS */
enum kz_rc kz_policy_revision(const struct kz_scope_config *c, char out[KZ_REVISION_TEXT],
			      struct kz_err *err);
/* The scope in force: kz_scope_resolve over this policy; kz-run, kz-grant and kz status all ask here. out: as kz_scope_resolve */
enum kz_reason kz_policy_resolve(const struct kz_policy *p, struct kz_scope *out);
/* What is configured: a mode's name, "unknown" for another text, "unset". out: static */
const char *kz_policy_mode(const struct kz_policy *p);
/* How an operator mends what a reason of kz_policy_resolve names, or an approval or the proxy; "" for others. out: static, one line */
const char *kz_policy_fix(enum kz_reason reason);
/* Where the proxy listens: KZ_PROXY_URL is unix:PATH, a relative PATH is below STATE. out: false when it is not of that form */
bool kz_policy_proxy(const char *state, const char *url, char out[KZ_PROXY_PATH]);

#endif
