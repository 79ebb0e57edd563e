/* The grant of a request: who shows it, what it allows, whether it still stands. */
#include "core/egress/proxy_loop.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/str.h"

/* Is the grant this peer's, and this execution's? */
static bool is_own(const struct kz_px_conn *c, const struct kz_grant *g)
{
	if (c->is_tcp)
		return g->uid_count == 0; /* nobody vouches for who that is */
	if (strcmp(g->execution, c->execution) != 0)
		return false;
	return g->uid_count == 0 || (c->uid >= g->uid_base && c->uid - g->uid_base < g->uid_count);
}

enum kz_reason kz_px_standing(const struct kz_px_conn *c)
{
	const struct kz_px_world *w = c->loop->world;
	const struct kz_grant *g = &c->grant->grant;
	int64_t now_s = kz_time_wall_ms() / 1000;

	if (now_s >= g->expires_s)
		return KZ_R_GRANT_EXPIRED;
	if (g->issued_s > now_s + KZ_GRANT_SKEW_S)
		return KZ_R_GRANT_EARLY;
	if (!w->revoked) {
		/* one that runs outlives the moment between two files of a rotation */
		bool is_open = c->state == KZ_PX_TUNNEL || c->state == KZ_PX_PLAIN;

		return is_open && !w->is_cut ? KZ_R_NONE : KZ_R_REVOCATION_INVALID;
	}
	return kz_revoked_has(w->revoked, g) ? KZ_R_GRANT_REVOKED : KZ_R_NONE;
}

void kz_px_refuse_late(struct kz_px_conn *c, enum kz_reason otherwise)
{
	enum kz_reason why = kz_px_standing(c);

	kz_px_refuse(c, why != KZ_R_NONE ? why : otherwise);
}

static enum kz_reason verify(struct kz_px_conn *c, const char *token, size_t n, const char *digest)
{
	const struct kz_px_world *w = c->loop->world;
	struct kz_err err = KZ_ERR_INIT;
	struct kz_grant g;
	enum kz_reason why = KZ_R_GRANT_CLAIMS;

	if (kz_grant_verify(w->keys, w->audience, token, n, kz_time_wall_ms() / 1000, &g, &err) ==
	    KZ_OK)
		return kz_px_book_add(&c->loop->shared->book, digest, w->keys_number, &g,
				      w->tunnels_per_grant, &c->grant);
	if (!kz_reason_find(err.reason, &why))
		why = KZ_R_SYSTEM_FAILED;
	return why;
}

static enum kz_reason find_grant(struct kz_px_conn *c, const struct kz_httphead *h)
{
	const struct kz_px_world *w = c->loop->world;
	char token[KZ_GRANT_MAX], digest[KZ_SHA256_HEX];
	size_t n;
	enum kz_reason why = kz_px_token(h, token, &n);

	if (why != KZ_R_NONE)
		return why;
	if (!w->keys)
		return w->keys_reason;
	kz_sha256_hex(token, n, digest);
	why = kz_px_book_find(&c->loop->shared->book, digest, w->keys_number, w->tunnels_per_grant,
			      &c->grant);
	if (why == KZ_R_NONE && !c->grant)
		why = verify(c, token, n, digest);
	return why;
}

/* At most one reading a second, whoever asks. */
static bool may_park(const struct kz_px_conn *c)
{
	return !c->is_retried &&
	       atomic_load(&c->loop->shared->read_ms) + KZ_PX_REREAD_MS <= c->loop->now_ms;
}

/* The keys may have been changed a moment ago: they are read once more, and then it is judged for good [PROXY-11]. */
static void park(struct kz_px_conn *c)
{
	struct kz_px_shared *s = c->loop->shared;
	uint64_t one = 1;

	c->is_retried = true;
	kz_px_state(c, KZ_PX_PARKED);
	atomic_store(&s->is_unknown, true);
	(void)!write(s->wake, &one, sizeof one);
}

void kz_px_judge_again(struct kz_px_conn *c)
{
	struct kz_httphead h;

	/* it was whole and sound a moment ago; slices point into the buffer, which may have moved since */
	if (kz_httphead_parse(c->in + c->in_used, c->in_len - c->in_used, &h) != KZ_HEAD_OK ||
	    kz_px_request_read(&h, &c->request) != KZ_R_NONE)
		kz_px_refuse(c, KZ_R_HEAD_MALFORMED);
	else
		kz_px_judge(c, &h);
}

void kz_px_judge(struct kz_px_conn *c, const struct kz_httphead *h)
{
	struct kz_decide_env *env = &c->loop->world->env;
	enum kz_reason why = find_grant(c, h);

	if ((why == KZ_R_GRANT_KEY_UNKNOWN || why == KZ_R_KEYS_MISSING ||
	     why == KZ_R_KEYS_INVALID) &&
	    may_park(c)) {
		park(c);
		return;
	}
	/* whose it is comes first, and whose refusal it is with it */
	if (why == KZ_R_NONE && !(c->is_own = is_own(c, &c->grant->grant)))
		why = KZ_R_GRANT_FOREIGN;
	if (why == KZ_R_NONE)
		why = kz_px_standing(c);
	if (why == KZ_R_NONE)
		why = kz_decide_target(&c->grant->grant.scope, env, &c->request.target);
	if (why != KZ_R_NONE) {
		kz_px_refuse(c, why);
		return;
	}
	if (!c->request.is_connect && !(c->plain = kz_px_plain_new(h, &c->request))) {
		kz_px_refuse(c, KZ_R_SYSTEM_FAILED);
		return;
	}
	c->in_used += h->bytes;
	kz_px_resolve(c);
}
