/* The operators' routes. */
#include "core/gateway/pages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/conf/public.h"
#include "core/gateway/count.h"
#include "core/gateway/page.h"
#include "port/seal.h"

#define BODY_MAX (2 << 20)
#define FRESH "Cache-Control: no-store\r\nCross-Origin-Resource-Policy: same-origin\r\n"

enum what { HEALTH, METRICS, STATUS };

struct kz_pages {
	struct kz_gw *gw;
	struct kz_facts *facts;
	const struct kz_gw_address *address;
	char keys[300]; /* path of the public keys */
	int memory;     /* /proc/self/statm */
	struct kz_buf page, fields;
};

/* A request that waits for what kz status says. */
struct ask {
	struct kz_facts_wait wait; /* first */
	struct kz_pages *p;
	struct kz_gw_request *r;
	enum what what;
};

static void answer_json(struct kz_gw_request *r, int status, struct kz_json *take)
{
	kz_auto_json struct kz_json *o = take;
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(BODY_MAX);

	if (kz_json_write(o, &b, NULL) != KZ_OK || kz_buf_puts(&b, "\n", NULL) != KZ_OK)
		kz_gw_refuse(r, 503, KZ_R_SYSTEM_FAILED, NULL);
	else
		kz_gw_answer(r, status, "application/json", b.data, b.len, FRESH);
}

/* -- what the gateway says of itself -- */

static struct kz_json *self(const struct kz_pages *p)
{
	const struct kz_gw_address *a = p->address;
	struct kz_json *o = kz_json_object();

	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "gateway");
	kz_json_set_str(o, "listen", a->at[0] ? a->at : NULL);
	kz_json_set_bool(o, "listening", a->is_listening);
	kz_json_set_str(o, "reason", a->reason == KZ_R_NONE ? NULL : kz_reason_code(a->reason));
	kz_json_set_str(o, "text", a->reason == KZ_R_NONE ? NULL : a->text);
	kz_json_set_int(o, "connections", (int64_t)kz_gw_connections(p->gw));
	return o;
}

static int64_t resident_bytes(const struct kz_pages *p)
{
	char text[128] = "";
	long long pages = 0;

	if (p->memory < 0 || pread(p->memory, text, sizeof text - 1, 0) <= 0 ||
	    sscanf(text, "%*s %lld", &pages) != 1)
		return 0;
	return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static enum kz_rc gauge(struct kz_buf *b, const char *name, const char *help, int64_t n)
{
	return kz_buf_printf(b, NULL, "# HELP %s %s\n# TYPE %s gauge\n%s %" PRId64 "\n", name, help,
			     name, name, n);
}

static void answer_metrics(struct kz_pages *p, struct kz_gw_request *r, const struct kz_told *t)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(BODY_MAX);

	if (kz_pages_gauges(t, &b, NULL) != KZ_OK ||
	    gauge(&b, "kz_gateway_listening", "Is KZ_GATEWAY_LISTEN listened on?",
		  p->address->is_listening) != KZ_OK ||
	    gauge(&b, "kz_gateway_connections", "Connections there are.",
		  (int64_t)kz_gw_connections(p->gw)) != KZ_OK ||
	    gauge(&b, "process_resident_memory_bytes", "Resident memory of kz-gateway.",
		  resident_bytes(p)) != KZ_OK ||
	    kz_counts_write(kz_gw_counts(p->gw), &b, NULL) != KZ_OK)
		kz_gw_refuse(r, 503, KZ_R_SYSTEM_FAILED, NULL);
	else
		kz_gw_answer(r, 200, "text/plain; version=0.0.4; charset=utf-8", b.data, b.len,
			     FRESH);
}

static struct kz_json *borrowed(const struct kz_json *o)
{
	struct kz_json *j;

	memcpy(&j, &o, sizeof j);
	return j ? kz_json_ref(j) : kz_json_null();
}

static void answer_status(struct kz_pages *p, struct kz_gw_request *r, const struct kz_told *t)
{
	struct kz_json *o = kz_json_object();

	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "gateway_status");
	kz_json_set_int(o, "age_ms", t->age_ms);
	kz_json_set(o, "status", borrowed(t->status));
	kz_json_set(o, "scope", borrowed(t->scope));
	kz_json_set(o, "gateway", self(p));
	answer_json(r, 200, o);
}

/* -- those that wait for an answer -- */

static void told(void *arg, const struct kz_told *t)
{
	struct ask *a = arg;
	struct kz_pages *p = a->p;
	struct kz_gw_request *r = a->r;
	enum what what = a->what;
	struct kz_json *health;

	r->on_gone = NULL;
	free(a);
	switch (what) {
	case METRICS: answer_metrics(p, r, t); return;
	case STATUS: answer_status(p, r, t); return;
	case HEALTH:
		health = kz_pages_health(t, p->address);
		answer_json(r, kz_json_flag(health, "ok", false) ? 200 : 503, health);
		return;
	}
}

static void gone(struct kz_gw_request *r)
{
	struct ask *a = r->arg;

	kz_facts_forget(a->p->facts, &a->wait);
	free(a);
}

static void ask(struct kz_pages *p, struct kz_gw_request *r, enum what what)
{
	struct ask *a = malloc(sizeof *a);

	if (!a) {
		kz_gw_refuse(r, 503, KZ_R_SYSTEM_FAILED, NULL);
		return;
	}
	*a = (struct ask){ .wait = { .told = told, .arg = a }, .p = p, .r = r, .what = what };
	r->arg = a;
	r->on_gone = gone;
	kz_facts_ask(p->facts, &a->wait);
}

static void on_health(void *arg, struct kz_gw_request *r)
{
	ask(arg, r, HEALTH);
}

static void on_metrics(void *arg, struct kz_gw_request *r)
{
	ask(arg, r, METRICS);
}

static void on_status(void *arg, struct kz_gw_request *r)
{
	ask(arg, r, STATUS);
}

/* -- those that are answered at once -- */

static void on_self(void *arg, struct kz_gw_request *r)
{
	answer_json(r, 200, self(arg));
}

static void on_keys(void *arg, struct kz_gw_request *r)
{
	struct kz_pages *p = arg;
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(65536);

	if (kz_file_read(AT_FDCWD, p->keys, &b, NULL) != KZ_OK)
		kz_gw_refuse(r, 503, KZ_R_KEY_MISSING, NULL);
	else
		kz_gw_answer(r, 200, "application/json", b.data, b.len, FRESH);
}

static void on_page(void *arg, struct kz_gw_request *r)
{
	struct kz_pages *p = arg;

	kz_gw_answer(r, 200, "text/html; charset=utf-8", p->page.data, p->page.len,
		     kz_buf_str(&p->fields));
}

/* -- making them -- */

/* What a content policy calls a script or a style by. */
static enum kz_rc digest(const char *text, size_t n, char out[KZ_BASE64_TEXT(KZ_SHA256_BYTES) + 1])
{
	char hex[KZ_SHA256_HEX];
	unsigned char raw[KZ_SHA256_BYTES];

	kz_sha256_hex(text, n, hex);
	if (kz_hex_decode(hex, raw, sizeof raw, NULL) != KZ_OK)
		return KZ_E_SOFTWARE;
	kz_base64_encode(raw, sizeof raw, out);
	return KZ_OK;
}

/* One document; what runs in it is named by its digest, and nothing else runs, loads, or is sent anywhere. */
static enum kz_rc make_page(struct kz_pages *p, struct kz_err *err)
{
	char style[KZ_BASE64_TEXT(KZ_SHA256_BYTES) + 1], script[sizeof style];
	const char *at = strstr(kz_page_html, "@STYLE@"),
		   *then = at ? strstr(at, "@SCRIPT@") : NULL;
	enum kz_rc rc;

	if (!then || digest(kz_page_css, kz_page_css_size, style) ||
	    digest(kz_page_js, kz_page_js_size, script))
		return kz_err_set(err, KZ_E_SOFTWARE, "the page is not whole");
	if ((rc = kz_buf_add(&p->page, kz_page_html, (size_t)(at - kz_page_html), err)) ||
	    (rc = kz_buf_add(&p->page, kz_page_css, kz_page_css_size, err)) ||
	    (rc = kz_buf_add(&p->page, at + 7, (size_t)(then - at - 7), err)) ||
	    (rc = kz_buf_add(&p->page, kz_page_js, kz_page_js_size, err)) ||
	    (rc = kz_buf_puts(&p->page, then + 8, err)))
		return rc;
	return kz_buf_printf(
		&p->fields, err,
		FRESH "Content-Security-Policy: default-src 'none'; script-src 'sha256-%s'; "
		      "style-src 'sha256-%s'; img-src data:; connect-src 'self'; base-uri 'none'; "
		      "form-action 'none'; frame-ancestors 'none'\r\n"
		      "Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n",
		script, style);
}

enum kz_rc kz_pages_new(struct kz_pages **out, struct kz_gw *g, struct kz_facts *f,
			const struct kz_gw_address *address, const char *state, struct kz_err *err)
{
	static const struct {
		const char *path;
		void (*answer)(void *, struct kz_gw_request *);
	} routes[] = { { "/healthz", on_health },    { "/metrics", on_metrics },
		       { "/keys", on_keys },         { "/status.json", on_status },
		       { "/gateway.json", on_self }, { "/", on_page } };
	struct kz_pages *p = calloc(1, sizeof *p);
	enum kz_rc rc;

	if (!p)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	*out = p;
	p->gw = g;
	p->facts = f;
	p->address = address;
	kz_buf_init(&p->page, 1 << 18);
	kz_buf_init(&p->fields, 4096);
	p->memory = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if ((rc = kz_seal_init(err)) || (rc = make_page(p, err)) ||
	    (rc = kz_str_format(p->keys, sizeof p->keys, err, "%s/%s", state, KZ_PUBLIC_KEYS)))
		return rc;
	for (size_t i = 0; rc == KZ_OK && i < sizeof routes / sizeof *routes; i++)
		rc = kz_gw_add(g,
			       &(struct kz_gw_route){ routes[i].path, KZ_GW_OPERATOR,
						      routes[i].answer, p },
			       err);
	return rc;
}

void kz_pages_free(struct kz_pages *p)
{
	if (!p)
		return;
	kz_buf_release(&p->page);
	kz_buf_release(&p->fields);
	if (p->memory >= 0)
		close(p->memory);
	free(p);
}
