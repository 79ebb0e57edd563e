/* One thing from a registry. */
#include "core/broker/fetch.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct kz_fetch {
	const struct kz_fetch_world *w;
	struct kz_fetch_ask ask;
	struct kz_registry_conf registry;
	char password[KZ_REGISTRY_PASSWORD], location[KZ_GET_LOCATION];
	char *ca;
	struct kz_url url;
	struct kz_timer *timer;
	struct kz_dns_query *query;
	struct kz_http_get *get;
	struct kz_deadline connect; /* of this hop */
	int64_t last_ms;            /* when something came last */
	int hops, status;
	bool is_sent, is_held;
	enum kz_reason why; /* to be told when the timer fires */
};

static void hop(struct kz_fetch *f);

static void fetch_free(struct kz_fetch *f)
{
	if (f->query)
		kz_brk_net_cancel(f->w->net, f->query);
	kz_http_get_cancel(f->get);
	kz_timer_free(f->timer);
	explicit_bzero(f->password, sizeof f->password);
	free(f->ca);
	free(f);
}

void kz_fetch_cancel(struct kz_fetch *f)
{
	if (f)
		fetch_free(f);
}

static void finish(struct kz_fetch *f, enum kz_reason why, int64_t wire)
{
	struct kz_fetch_ask ask = f->ask;
	int status = f->status;

	fetch_free(f);
	ask.on_end(ask.arg, why, status, wire);
}

static void wake(struct kz_fetch *f, struct kz_deadline at)
{
	(void)kz_timer_at(f->timer, at, NULL);
}

/* End it from the loop: who started it has it by then. */
static void end_soon(struct kz_fetch *f, enum kz_reason why)
{
	f->why = why;
	wake(f, kz_deadline_in(KZ_MS(0)));
}

/* No connection or no lookup: the host is left alone for a while. */
static void unreachable(struct kz_fetch *f)
{
	kz_cool_failed(f->w->cool, &f->url.at);
	++*f->w->cooldowns;
	finish(f, KZ_R_REGISTRY_UNREACHABLE, 0);
}

/*
 * It was reached and does not answer this: that may be the path's fault, and a run that asks for such
 * a path must not take the host away from others.
 */
static void unanswered(struct kz_fetch *f)
{
	f->status = KZ_FETCH_SILENT;
	finish(f, KZ_R_REGISTRY_UNREACHABLE, 0);
}

static void on_timer(void *arg)
{
	struct kz_fetch *f = arg;
	int64_t now = kz_time_boot_ms();

	if (f->why != KZ_R_NONE) {
		finish(f, f->why, 0);
	} else if (!f->is_sent) {
		if (kz_deadline_passed(f->connect))
			unreachable(f);
		else
			wake(f, f->connect);
	} else if (f->status == 0) {
		if (now - f->last_ms >= KZ_FETCH_FIRST_MS)
			unanswered(f);
		else
			wake(f, (struct kz_deadline){ f->last_ms + KZ_FETCH_FIRST_MS });
	} else if (!f->is_held && now - f->last_ms >= KZ_FETCH_IDLE_MS) {
		finish(f, KZ_R_REGISTRY_UNREACHABLE, kz_fetch_wire(f));
	} else {
		if (f->is_held)
			f->last_ms = now;
		wake(f, (struct kz_deadline){ f->last_ms + KZ_FETCH_IDLE_MS });
	}
}

static void on_sent(void *arg)
{
	struct kz_fetch *f = arg;

	f->is_sent = true;
	f->last_ms = kz_time_boot_ms();
	wake(f, (struct kz_deadline){ f->last_ms + KZ_FETCH_FIRST_MS });
}

static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static void on_head(void *arg, const struct kz_get_head *head)
{
	struct kz_fetch *f = arg;

	f->status = head->status;
	f->last_ms = kz_time_boot_ms();
	wake(f, (struct kz_deadline){ f->last_ms + KZ_FETCH_IDLE_MS });
	kz_cool_reached(f->w->cool, &f->url.at);
	if (is_redirect(head->status))
		(void)kz_str_copy(f->location, sizeof f->location, head->location, NULL);
	else if (head->status == 200)
		f->ask.on_head(f->ask.arg, head, &f->url);
}

static bool on_body(void *arg, const void *p, size_t n)
{
	struct kz_fetch *f = arg;

	f->last_ms = kz_time_boot_ms();
	/* What comes with any other status is nobody's. */
	return f->status == 200 && f->ask.on_body(f->ask.arg, p, n);
}

/* What a status means that is not 200. */
static enum kz_reason reason_of(int status)
{
	if (status == 404 || status == 410)
		return KZ_R_PACKAGE_UNKNOWN;
	return status >= 400 ? KZ_R_REGISTRY_REFUSED : KZ_R_REGISTRY_ANSWER;
}

static void redirected(struct kz_fetch *f)
{
	if (++f->hops > KZ_FETCH_HOPS || !*f->location ||
	    !kz_url_resolve(&f->url, f->location, strlen(f->location), &f->url)) {
		finish(f, KZ_R_REGISTRY_ANSWER, 0);
		return;
	}
	hop(f);
}

static void on_end(void *arg, enum kz_get_end end, int64_t wire)
{
	struct kz_fetch *f = arg;

	f->get = NULL;
	if (end == KZ_GET_UNREACHABLE)
		unreachable(f);
	else if (end == KZ_GET_NO_ANSWER)
		unanswered(f);
	else if (is_redirect(f->status))
		redirected(f);
	else if (f->status != 200)
		finish(f, reason_of(f->status), wire);
	else if (end == KZ_GET_WHOLE)
		finish(f, KZ_R_NONE, wire);
	else
		finish(f, end == KZ_GET_STOPPED ? KZ_R_SYSTEM_FAILED : KZ_R_REGISTRY_ANSWER, wire);
}

static void dial(struct kz_fetch *f, const struct kz_addr *list, size_t count)
{
	struct kz_http_addr addrs[KZ_ANSWERS_MAX];
	bool is_own = kz_url_same_origin(&f->url, &f->registry.index);
	char url[KZ_URL_TEXT], bearer[KZ_REGISTRY_PASSWORD + 32];
	struct kz_http_flow *flow;
	struct kz_get_ask ask = {
		.url = url,
		.host = f->url.at.is_literal ? NULL : f->url.at.host,
		.port = f->url.at.port,
		.addrs = addrs,
		.addr_count = count,
		.headers = { f->ask.accept, "User-Agent: kz", NULL },
		.ca = f->ca,
		.is_coded = f->ask.is_coded,
		.connect = kz_deadline_left(f->connect),
		.on_sent = on_sent,
		.on_head = on_head,
		.on_body = on_body,
		.on_end = on_end,
		.arg = f,
	};

	for (size_t i = 0; i < count; i++) {
		addrs[i].family = list[i].family;
		memcpy(addrs[i].bytes, list[i].bytes, sizeof addrs[i].bytes);
	}
	kz_url_print(&f->url, url);
	/* Credentials are the registry's own: no other host is shown them. */
	if (is_own && *f->password && *f->registry.user) {
		ask.user = f->registry.user;
		ask.password = f->password;
	} else if (is_own && *f->password) {
		(void)kz_str_format(bearer, sizeof bearer, NULL, "Authorization: Bearer %s",
				    f->password);
		ask.headers[2] = bearer;
	}
	flow = kz_brk_net_flow(f->w->net);
	f->get = flow ? kz_http_get(flow, &ask) : NULL;
	explicit_bzero(bearer, sizeof bearer);
	if (!f->get)
		end_soon(f, KZ_R_SYSTEM_FAILED);
	else
		wake(f, f->connect);
}

static void judge(struct kz_fetch *f, const struct kz_addr *list, size_t count)
{
	enum kz_reason why = kz_decide_named(f->w->env, &f->url.at, f->registry.own,
					     f->registry.own_count, list, count);

	if (count == 0) {
		unreachable(f);
		return;
	}
	if (why != KZ_R_NONE)
		end_soon(f, KZ_R_PACKAGE_HOST_DENIED);
	else
		dial(f, list, count);
}

static void on_answers(void *arg, enum kz_dns_rc rc, const struct kz_dns_addr *a, size_t n)
{
	struct kz_fetch *f = arg;
	struct kz_addr list[KZ_ANSWERS_MAX] = { { 0 } };

	f->query = NULL;
	if (rc != KZ_DNS_OK || n > KZ_ANSWERS_MAX)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		list[i] = (struct kz_addr){ .family = a[i].family };
		memcpy(list[i].bytes, a[i].bytes, sizeof a[i].bytes);
	}
	judge(f, list, n);
}

/* Go to f->url. */
static void hop(struct kz_fetch *f)
{
	f->is_sent = false;
	f->status = 0;
	f->location[0] = '\0';
	f->connect = kz_deadline_in(KZ_MS(KZ_FETCH_CONNECT_MS));
	wake(f, f->connect);
	if (!kz_registry_allows(&f->registry, &f->url) ||
	    kz_decide_named(f->w->env, &f->url.at, f->registry.own, f->registry.own_count, NULL,
			    0) != KZ_R_NONE) {
		end_soon(f, KZ_R_PACKAGE_HOST_DENIED);
		return;
	}
	if (!kz_cool_may(f->w->cool, &f->url.at)) {
		end_soon(f, KZ_R_REGISTRY_UNREACHABLE);
		return;
	}
	if (f->url.at.is_literal) {
		dial(f, &f->url.at.addr, 1);
		return;
	}
	f->query = kz_brk_net_ask(f->w->net, f->url.at.host, on_answers, f);
	if (!f->query)
		end_soon(f, KZ_R_REGISTRY_UNREACHABLE);
}

struct kz_fetch *kz_fetch_start(const struct kz_fetch_world *w, const struct kz_fetch_ask *ask)
{
	struct kz_fetch *f = calloc(1, sizeof *f);

	if (f)
		f->timer = kz_timer_new(w->s, on_timer, f);
	if (f && ask->ca)
		f->ca = kz_str_dup(ask->ca);
	if (!f || !f->timer || (ask->ca && !f->ca)) {
		if (f)
			kz_timer_free(f->timer);
		free(f);
		return NULL;
	}
	f->w = w;
	f->why = KZ_R_NONE;
	f->ask = *ask;
	f->registry = *ask->registry;
	f->url = ask->url;
	(void)kz_str_copy(f->password, sizeof f->password, ask->password, NULL);
	hop(f);
	return f;
}

void kz_fetch_hold(struct kz_fetch *f, bool is_held)
{
	f->is_held = is_held;
	f->last_ms = kz_time_boot_ms();
	if (f->get)
		kz_http_get_hold(f->get, is_held);
}

const char *kz_fetch_host(const struct kz_fetch *f)
{
	return f->url.at.host;
}

int64_t kz_fetch_wire(const struct kz_fetch *f)
{
	return f->get ? kz_http_get_wire(f->get) : 0;
}
