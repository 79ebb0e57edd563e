/*
 * What a request head asks of the proxy: CONNECT, or plain HTTP in absolute form.
 * Judged before any grant: here are the answers that tell a client of its own
 * mistake (400, 431, 501) and the question for credentials (407).  Pure.  Layer 3.
 * src: PROXY-3, PROXY-12, PROXY-18; RFC 9112 sections 3.2, 6.1, 6.3; RFC 9110 sections 9.3.6, 11.7
 */
#ifndef KZ_CORE_EGRESS_PROXY_REQUEST_H
#define KZ_CORE_EGRESS_PROXY_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/egress/grant.h"
#include "rule/host.h"
#include "rule/httphead.h"
#include "rule/reason.h"

enum kz_px_body { KZ_PX_BODY_NONE, KZ_PX_BODY_LENGTH, KZ_PX_BODY_CHUNKED };

struct kz_px_request {
	bool is_connect;
	bool is_head; /* HEAD: its answer has no content */
	bool has_target, has_credentials;
	struct kz_target target;
	struct kz_slice path; /* plain: from the '/' or '?' on; may be empty */
	enum kz_px_body body; /* plain */
	int64_t length;       /* of a body by length */
};

/*
 * Read the form of a parsed head.
 * out: KZ_R_NONE, or: head_malformed, invalid_target, invalid_port, numeric_host,
 * host_mismatch (400); request_unsupported (501).  r->has_target and r->target are set
 * as soon as they are known.
 */
enum kz_reason kz_px_request_read(const struct kz_httphead *h, struct kz_px_request *r);
/*
 * The grant's token: the password of Basic credentials of the user "grant", or Bearer.
 * out: token[0..*n), not checked.  KZ_R_NONE; grant_missing (407) without credentials of
 * these kinds; head_malformed when the field is repeated; grant_malformed when no token
 * can be in them
 */
enum kz_reason kz_px_token(const struct kz_httphead *h, char token[KZ_GRANT_MAX], size_t *n);

/* What the client is told for a reason: 400, 407, 431, 501, and 403 for every other one [INV-33]. */
int kz_px_status(enum kz_reason reason);
/* The whole answer of a status, static; is_head: without its content. 403 is one constant. */
const char *kz_px_answer(int status, bool is_head);

#endif
