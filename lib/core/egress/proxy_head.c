/* Reading the head: the preamble of a worker's forwarder, then one request. */
#include "core/egress/proxy_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "rule/ask.h"

#define FIRST 2048 /* most heads fit */

static bool grow(struct kz_px_conn *c)
{
	size_t cap = c->in_cap ? c->in_cap * 2 : FIRST;
	char *p = realloc(c->in, cap < KZ_PX_IN ? cap : KZ_PX_IN);

	if (!p)
		return false;
	c->in = p;
	c->in_cap = cap < KZ_PX_IN ? cap : KZ_PX_IN;
	return true;
}

/* out: KZ_HEAD_MORE, KZ_HEAD_BAD, or KZ_HEAD_OK and the execution */
static enum kz_head_rc read_preamble(struct kz_px_conn *c)
{
	enum kz_head_rc rc = kz_execution_line(c->in, c->in_len, c->execution);

	if (rc == KZ_HEAD_OK) {
		c->has_preamble = true;
		c->in_used = KZ_EXECUTION_LINE;
	}
	return rc;
}

/* What is there so far. out: false when nothing more is to be read */
static bool look(struct kz_px_conn *c)
{
	enum kz_head_rc rc = c->has_preamble ? KZ_HEAD_OK : read_preamble(c);
	struct kz_httphead h;
	enum kz_reason why;

	if (rc == KZ_HEAD_OK)
		rc = kz_httphead_find(c->in + c->in_used, c->in_len - c->in_used, &c->head_at);
	if (rc == KZ_HEAD_OK)
		rc = kz_httphead_read(c->in + c->in_used, c->head_at, &h);
	switch (rc) {
	case KZ_HEAD_MORE: return true;
	case KZ_HEAD_BAD: kz_px_refuse(c, KZ_R_HEAD_MALFORMED); return false;
	case KZ_HEAD_LARGE: kz_px_refuse(c, KZ_R_HEAD_TOO_LARGE); return false;
	case KZ_HEAD_OK: break;
	}
	why = kz_px_request_read(&h, &c->request);
	if (why != KZ_R_NONE)
		kz_px_refuse(c, why);
	else
		kz_px_judge(c, &h);
	return false;
}

void kz_px_head_read(struct kz_px_conn *c)
{
	while (c->state == KZ_PX_HEAD) {
		ssize_t n;

		if (c->in_len == c->in_cap && (c->in_cap == KZ_PX_IN || !grow(c))) {
			kz_px_refuse(c, c->in_cap == KZ_PX_IN ? KZ_R_HEAD_TOO_LARGE :
								KZ_R_SYSTEM_FAILED);
			return;
		}
		n = recv(c->client.fd, c->in + c->in_len, c->in_cap - c->in_len, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) { /* it went without a request */
			kz_px_close(c, false);
			return;
		}
		c->in_len += (size_t)n;
		if (!look(c))
			return;
	}
}
