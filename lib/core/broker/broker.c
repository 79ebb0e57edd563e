/* Routes of the package broker, and who may ask. */
#include "core/broker/broker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/log.h"
#include "base/str.h"
#include "core/broker/job.h"

#define SWEEP KZ_SECONDS(10)
#define IDLE KZ_SECONDS(5)

static const char *const bases[] = { "127.0.0.1:8000", "localhost:8000" };

/* The token out of "Bearer TOKEN" or "Basic BASE64(kz:TOKEN)". out: its bytes, 0: none */
static size_t token_of(const struct kz_httphead *head, char out[128])
{
	const struct kz_slice *v = kz_httphead_field(head, "authorization");
	size_t n = 0, len = 0;

	while (v && n < v->n && v->p[n] != ' ')
		n++;
	if (!v || n == v->n)
		return 0;
	len = v->n - n - 1;
	if (n == 6 && strncasecmp(v->p, "bearer", n) == 0 && len <= 128) {
		memcpy(out, v->p + n + 1, len);
		return len;
	}
	if (n != 5 || strncasecmp(v->p, "basic", n) != 0 ||
	    !kz_base64_decode(KZ_BASE64_STANDARD, v->p + n + 1, len, out, 128, &len) || len < 3 ||
	    memcmp(out, "kz:", 3) != 0)
		return 0;
	memmove(out, out + 3, len - 3);
	return len - 3;
}

/* Who asks without a run of its own to be counted with: a few lines a second are told. */
static void refuse(struct kz_broker *b, struct kz_gw_request *r, int status, enum kz_reason why,
		   const struct kz_pkg_claims *c)
{
	int64_t now = kz_time_boot_ms() / 1000;
	const char *fields;
	int usual = kz_job_status(why, &fields);

	if (b->told_s != now)
		b->told = 95; /* of the hundred that kz_job_tell writes */
	b->told_s = now;
	kz_job_tell(b, &b->told, why, c ? c->run : NULL, NULL, NULL, NULL);
	kz_gw_refuse(r, status ? status : usual, why, status == 403 ? NULL : fields);
}

/* Is there a good token, and on the connection of its execution? out: false: it was refused */
static bool is_known(struct kz_broker *b, struct kz_gw_request *r, struct kz_pkg_claims *c)
{
	int64_t now_s = kz_time_wall_ms() / 1000;
	char token[128];
	size_t n = token_of(r->head, token);
	enum kz_rc rc = n && b->world.key.is_set ?
				kz_pkg_token_verify(&b->world.key, token, n, now_s, c, NULL) :
				KZ_E_NOPERM;

	explicit_bzero(token, sizeof token);
	if (rc != KZ_OK) {
		refuse(b, r, 0, KZ_R_PACKAGE_TOKEN, NULL);
		return false;
	}
	if (r->from != KZ_GW_WORKER || !kz_str_eq(r->execution, c->execution)) {
		refuse(b, r, 403, KZ_R_PACKAGE_TOKEN, c);
		return false;
	}
	if (kz_deadline_passed(b->sweep)) {
		b->sweep = kz_deadline_in(SWEEP);
		kz_brk_book_sweep(b->book);
	}
	return true;
}

/* What links begin with: the name that the client called us by, of the two that we have. */
static bool base_of(const struct kz_gw_request *r, char out[32])
{
	const struct kz_slice *host = kz_httphead_field(r->head, "host");

	for (size_t i = 0; host && i < 2; i++)
		if (kz_slice_is(*host, bases[i]))
			return kz_str_format(out, 32, NULL, "http://%s", bases[i]) == KZ_OK;
	return false;
}

/* Take up what changed. */
static void look(struct kz_broker *b)
{
	kz_brk_world_look(&b->world, b->net);
	if (b->world.is_stale) {
		kz_log(KZ_LOG_INFO, "keys or files of registries changed: starting anew", NULL);
		kz_serve_stop(b->s);
	}
}

static void answer_package(void *arg, struct kz_gw_request *r)
{
	struct kz_broker *b = arg;
	struct kz_pkg_claims claims;
	struct kz_pkg_path path;
	char base[32];

	look(b);
	if (!is_known(b, r, &claims))
		return;
	/* A '?' is no part of any name, also without anything behind it. */
	if (memchr(r->head->target.p, '?', r->head->target.n) || !base_of(r, base) ||
	    !kz_pkg_path_parse(r->path.p, r->path.n, &path))
		refuse(b, r, 0, KZ_R_PACKAGE_NAME, &claims);
	else if (b->world.why != KZ_R_NONE)
		refuse(b, r, 0, b->world.why, &claims);
	else if (!b->world.registries.of[path.registry].is_set)
		refuse(b, r, 0, KZ_R_REGISTRY_UNSET, &claims);
	else
		kz_job_new(b, r, &path, &claims, base);
}

/* How this execution fared: asked once, after an installer failed [BRK-17]. */
static void answer_state(void *arg, struct kz_gw_request *r)
{
	struct kz_broker *b = arg;
	struct kz_pkg_claims claims;
	const struct kz_brk_book_fare *fare;
	struct kz_brk_book_run *run;
	enum kz_reason last = KZ_R_NONE;
	char text[300], code[80];

	look(b);
	if (!is_known(b, r, &claims))
		return;
	run = kz_brk_book_run(b->book, claims.execution, kz_job_until(&claims));
	if (!run) {
		refuse(b, r, 503, KZ_R_SYSTEM_FAILED, &claims);
		return;
	}
	fare = kz_brk_book_fare(run);
	if (b->world.why != KZ_R_NONE)
		last = b->world.why;
	else if (!kz_registries_any(&b->world.registries))
		last = KZ_R_REGISTRY_UNSET;
	else
		last = fare->is_unreachable[0] || fare->is_unreachable[1] ?
			       KZ_R_REGISTRY_UNREACHABLE :
			       fare->last;
	(void)kz_str_format(code, sizeof code, NULL, last == KZ_R_NONE ? "null" : "\"%s\"",
			    last == KZ_R_NONE ? "" : kz_reason_code(last));
	(void)kz_str_format(
		text, sizeof text, NULL,
		"{\"v\":1,\"type\":\"broker_state\",\"registries\":{\"pypi\":{\"reachable\":%s},"
		"\"npm\":{\"reachable\":%s}},\"reason\":%s}\n",
		fare->is_unreachable[KZ_REGISTRY_PYPI] ? "false" : "true",
		fare->is_unreachable[KZ_REGISTRY_NPM] ? "false" : "true", code);
	kz_gw_answer(r, 200, "application/json", text, strlen(text), "Cache-Control: no-store\r\n");
}

static enum kz_rc add_routes(struct kz_broker *b, struct kz_err *err)
{
	static const struct {
		const char *prefix;
		void (*answer)(void *arg, struct kz_gw_request *r);
	} routes[] = { { "/pypi/", answer_package },
		       { "/npm/", answer_package },
		       { "/broker/state", answer_state } };
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && i < sizeof routes / sizeof routes[0]; i++) {
		struct kz_gw_route route = { routes[i].prefix, KZ_GW_WORKER | KZ_GW_OPERATOR,
					     routes[i].answer, b };

		rc = kz_gw_add(b->gw, &route, err);
	}
	return rc;
}

static void add_counters(struct kz_broker *b)
{
	struct kz_counts *c = kz_gw_counts(b->gw);

	for (int k = 0; k < KZ_REGISTRIES; k++) {
		char label[40];

		(void)kz_str_format(label, sizeof label, NULL, "registry=\"%s\"",
				    kz_registry_name((enum kz_registry)k));
		b->requests[k] = kz_count(c, "kz_broker_requests_total", label,
					  "requests for packages with a good token");
		b->bytes[k] = kz_count(c, "kz_broker_bytes_total", label,
				       "bytes of indexes and files handed out");
	}
	b->fetch.cooldowns = kz_count(c, "kz_broker_cooldowns_total", "",
				      "times that the host of a registry was found not to answer");
}

/* Alone it goes on while it has work to do; then it comes back to the others. */
static void on_idle(void *arg)
{
	struct kz_broker *b = arg;

	if (b->first || !kz_share_is_lost(b->share))
		return;
	kz_log(KZ_LOG_WARNING, "no cooldown is shared any more: starting anew", NULL);
	kz_serve_stop(b->s);
}

void kz_broker_changed(struct kz_broker *b)
{
	b->world.look = (struct kz_deadline){ 0 };
	look(b);
}

enum kz_rc kz_broker_new(struct kz_broker **out, struct kz_serve *s, struct kz_gw *g,
			 struct kz_share *share, const char *state, struct kz_err *err)
{
	struct kz_broker *b = calloc(1, sizeof *b);
	enum kz_rc rc = kz_seal_init(err);

	if (!b)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	b->s = s;
	b->gw = g;
	kz_brk_world_init(&b->world, state);
	b->book = kz_brk_book_new();
	b->share = share;
	b->fetch.cool = kz_cool_new(share);
	b->next = kz_timer_new(s, kz_job_run_all, b);
	b->idle = kz_timer_new(s, on_idle, b);
	if (!rc && (!b->book || !b->fetch.cool || !b->next || !b->idle))
		rc = kz_err_set(err, KZ_E_OS, "out of memory");
	if (!rc)
		rc = kz_timer_every(b->idle, IDLE, err);
	if (!rc)
		rc = kz_brk_net_new(&b->net, s, err);
	if (!rc) {
		b->fetch.s = s;
		b->fetch.net = b->net;
		b->fetch.env = &b->world.env;
		add_counters(b);
		look(b);
		rc = add_routes(b, err);
	}
	if (rc)
		kz_broker_free(b);
	else
		*out = b;
	return rc;
}

void kz_broker_free(struct kz_broker *b)
{
	if (!b)
		return;
	while (b->first) {
		if (b->first->r)
			b->first->r->on_gone = NULL;
		if (b->first->r)
			kz_gw_cut(b->first->r);
		b->first->r = NULL;
		kz_job_free(b->first);
	}
	kz_brk_net_free(b->net);
	kz_brk_book_free(b->book);
	kz_timer_free(b->next);
	kz_timer_free(b->idle);
	kz_cool_free(b->fetch.cool);
	kz_brk_world_release(&b->world);
	free(b);
}
