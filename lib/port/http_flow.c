/* Downloads over libcurl's multi interface. */
#include "port/http_flow.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "port/http_parts.h"

#define lib kz_http_lib

struct kz_http_flow {
	CURLM *multi;
	kz_http_watch watch;
	kz_http_timer timer;
	void *arg;
	size_t open;
};

struct kz_http_get {
	struct kz_http_flow *f;
	struct kz_get_ask ask; /* pointers of it are dead after kz_http_get, but for the calls */
	CURL *easy;
	struct curl_slist *headers, *resolve;
	struct kz_http_addr *addrs;
	char location[KZ_GET_LOCATION];
	bool is_sent, is_told, is_stopped, is_held, is_coded;
};

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *mine)
{
	struct kz_http_flow *f = arg;

	(void)easy;
	(void)mine;
	f->watch(f->arg, fd, what == CURL_POLL_IN || what == CURL_POLL_INOUT,
		 what == CURL_POLL_OUT || what == CURL_POLL_INOUT);
	return 0;
}

static int on_timer(CURLM *multi, long ms, void *arg)
{
	struct kz_http_flow *f = arg;

	(void)multi;
	f->timer(f->arg, ms);
	return 0;
}

enum kz_rc kz_http_flow_new(struct kz_http_flow **out, kz_http_watch watch, kz_http_timer timer,
			    void *arg, struct kz_err *err)
{
	struct kz_http_flow *f;
	enum kz_rc rc = kz_http_load(err);

	if (rc)
		return rc;
	f = calloc(1, sizeof *f);
	if (f)
		f->multi = lib.multi_init();
	if (!f || !f->multi) {
		free(f);
		return kz_err_set(err, KZ_E_OS, "out of memory");
	}
	f->watch = watch;
	f->timer = timer;
	f->arg = arg;
	lib.multi_setopt(f->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	lib.multi_setopt(f->multi, CURLMOPT_SOCKETDATA, f);
	lib.multi_setopt(f->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	lib.multi_setopt(f->multi, CURLMOPT_TIMERDATA, f);
	lib.multi_setopt(f->multi, CURLMOPT_MAXCONNECTS, 16L);
	*out = f;
	return KZ_OK;
}

void kz_http_flow_free(struct kz_http_flow *f)
{
	if (!f)
		return;
	lib.multi_cleanup(f->multi);
	free(f);
}

static void get_free(struct kz_http_get *g)
{
	if (g->easy) {
		lib.multi_remove_handle(g->f->multi, g->easy);
		lib.easy_cleanup(g->easy);
	}
	lib.slist_free_all(g->headers);
	lib.slist_free_all(g->resolve);
	free(g->addrs);
	free(g);
}

void kz_http_get_cancel(struct kz_http_get *g)
{
	if (!g)
		return;
	g->f->open--;
	get_free(g);
}

int64_t kz_http_get_wire(const struct kz_http_get *g)
{
	curl_off_t n = 0;

	lib.easy_getinfo(g->easy, CURLINFO_SIZE_DOWNLOAD_T, &n);
	return n;
}

/* The head once, before anything of the body. */
static void tell_head(struct kz_http_get *g)
{
	struct kz_get_head head = { .length = -1, .location = g->location };
	curl_off_t length = -1;
	const char *type = NULL;
	long status = 0;

	if (g->is_told)
		return;
	g->is_told = true;
	lib.easy_getinfo(g->easy, CURLINFO_RESPONSE_CODE, &status);
	lib.easy_getinfo(g->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	lib.easy_getinfo(g->easy, CURLINFO_CONTENT_TYPE, &type);
	head.status = (int)status;
	head.length = g->is_coded ? -1 : length;
	head.type = type ? type : "";
	g->ask.on_head(g->ask.arg, &head);
}

static bool is_header(const char *p, size_t n, const char *name)
{
	return n > strlen(name) && strncasecmp(p, name, strlen(name)) == 0;
}

static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
	struct kz_http_get *g = arg;
	long status = 0;

	n *= size;
	if (n > 5 && memcmp(p, "HTTP/", 5) == 0)
		g->location[0] = '\0'; /* a new answer, after a 1xx */
	if (is_header(p, n, "content-encoding:") && g->ask.is_coded)
		g->is_coded = true;
	if (is_header(p, n, "location:")) {
		const char *v = p + strlen("location:"), *end = p + n;

		while (v < end && (*v == ' ' || *v == '\t'))
			v++;
		while (end > v && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' '))
			end--;
		/* One that does not fit leads nowhere. */
		(void)snprintf(g->location, sizeof g->location, "%.*s",
			       (size_t)(end - v) < sizeof g->location ? (int)(end - v) : 0, v);
	}
	lib.easy_getinfo(g->easy, CURLINFO_RESPONSE_CODE, &status);
	if (n == 2 && p[0] == '\r' && status >= 200)
		tell_head(g);
	return n;
}

static size_t on_write(char *p, size_t size, size_t n, void *arg)
{
	struct kz_http_get *g = arg;

	n *= size;
	if (g->is_held)
		return CURL_WRITEFUNC_PAUSE; /* it comes again */
	tell_head(g);
	if (!g->ask.on_body(g->ask.arg, p, n)) {
		g->is_stopped = true;
		return 0;
	}
	return n;
}

static int on_sent(void *arg, char *primary, char *local, int port, int local_port)
{
	struct kz_http_get *g = arg;

	(void)primary;
	(void)local;
	(void)port;
	(void)local_port;
	g->is_sent = true;
	g->ask.on_sent(g->ask.arg);
	return CURL_PREREQFUNC_OK;
}

static bool is_judged(const struct kz_http_get *g, const struct sockaddr *to)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)to;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)to;

	for (size_t i = 0; i < g->ask.addr_count; i++) {
		const struct kz_http_addr *a = &g->addrs[i];

		if (to->sa_family == AF_INET && a->family == 4 &&
		    memcmp(&four->sin_addr, a->bytes, 4) == 0 &&
		    four->sin_port == htons(g->ask.port))
			return true;
		if (to->sa_family == AF_INET6 && a->family == 6 &&
		    memcmp(&six->sin6_addr, a->bytes, 16) == 0 &&
		    six->sin6_port == htons(g->ask.port))
			return true;
	}
	return false;
}

/* Wherever an address came from, only one that was judged gets a socket. */
static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct kz_http_get *g = arg;

	(void)purpose;
	if (!is_judged(g, &to->addr))
		return CURL_SOCKET_BAD;
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* "+HOST:PORT:ADDRESS,ADDRESS": what a name stands for, for this time. */
static bool set_addrs(struct kz_http_get *g, const struct kz_get_ask *ask)
{
	char text[300 + 64 * 50];
	size_t at;

	g->addrs = calloc(ask->addr_count, sizeof *g->addrs);
	if (!g->addrs || ask->addr_count > 64)
		return false;
	memcpy(g->addrs, ask->addrs, ask->addr_count * sizeof *g->addrs);
	if (!ask->host)
		return true;
	at = (size_t)snprintf(text, sizeof text, "+%.253s:%u:", ask->host, ask->port);
	for (size_t i = 0; i < ask->addr_count; i++) {
		char one[INET6_ADDRSTRLEN];

		if (!inet_ntop(g->addrs[i].family == 4 ? AF_INET : AF_INET6, g->addrs[i].bytes, one,
			       sizeof one))
			return false;
		at += (size_t)snprintf(text + at, sizeof text - at,
				       g->addrs[i].family == 4 ? "%s%s" : "%s[%s]", i ? "," : "",
				       one);
	}
	g->resolve = lib.slist_append(NULL, text);
	lib.easy_setopt(g->easy, CURLOPT_RESOLVE, g->resolve);
	return g->resolve != NULL;
}

static bool set_headers(struct kz_http_get *g, const struct kz_get_ask *ask)
{
	for (size_t i = 0; ask->headers[i]; i++) {
		struct curl_slist *more = lib.slist_append(g->headers, ask->headers[i]);

		if (!more)
			return false;
		g->headers = more;
	}
	lib.easy_setopt(g->easy, CURLOPT_HTTPHEADER, g->headers);
	return true;
}

/* Certificates that libcurl does not take would leave those of the machine to be trusted. */
static bool set_trust(struct kz_http_get *g, const char *ca)
{
	char *text = (char *)(uintptr_t)ca; /* copied, not written */
	struct curl_blob blob = { text, ca ? strlen(ca) : 0, CURL_BLOB_COPY };

	return !ca || lib.easy_setopt(g->easy, CURLOPT_CAINFO_BLOB, &blob) == CURLE_OK;
}

static void set_ask(struct kz_http_get *g, const struct kz_get_ask *ask)
{
	CURL *e = g->easy;

	kz_http_set_always(e);
	lib.easy_setopt(e, CURLOPT_URL, ask->url);
	lib.easy_setopt(e, CURLOPT_PRIVATE, g);
	lib.easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS,
			(long)(ask->connect.ms < 1 ? 1 : ask->connect.ms));
	if (ask->is_coded)
		lib.easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "gzip");
	if (ask->password) {
		lib.easy_setopt(e, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		lib.easy_setopt(e, CURLOPT_USERNAME, ask->user);
		lib.easy_setopt(e, CURLOPT_PASSWORD, ask->password);
	}
	lib.easy_setopt(e, CURLOPT_WRITEFUNCTION, on_write);
	lib.easy_setopt(e, CURLOPT_WRITEDATA, g);
	lib.easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	lib.easy_setopt(e, CURLOPT_HEADERDATA, g);
	lib.easy_setopt(e, CURLOPT_PREREQFUNCTION, on_sent);
	lib.easy_setopt(e, CURLOPT_PREREQDATA, g);
	lib.easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_open);
	lib.easy_setopt(e, CURLOPT_OPENSOCKETDATA, g);
}

struct kz_http_get *kz_http_get(struct kz_http_flow *f, const struct kz_get_ask *ask)
{
	struct kz_http_get *g = calloc(1, sizeof *g);

	if (!g)
		return NULL;
	g->f = f;
	g->ask = *ask;
	g->easy = lib.easy_init();
	if (!g->easy) {
		free(g);
		return NULL;
	}
	set_ask(g, ask);
	if (!set_trust(g, ask->ca) || !set_addrs(g, ask) || !set_headers(g, ask) ||
	    lib.multi_add_handle(f->multi, g->easy) != CURLM_OK) {
		get_free(g);
		return NULL;
	}
	f->open++;
	return g;
}

void kz_http_get_hold(struct kz_http_get *g, bool is_held)
{
	if (g->is_held == is_held)
		return;
	g->is_held = is_held;
	/* Held, it is paused when the next piece comes. */
	if (!is_held)
		lib.easy_pause(g->easy, CURLPAUSE_CONT);
}

static enum kz_get_end end_of(struct kz_http_get *g, CURLcode code)
{
	if (code == CURLE_OK)
		return KZ_GET_WHOLE;
	if (g->is_stopped)
		return KZ_GET_STOPPED;
	if (g->is_told)
		return KZ_GET_CUT;
	return g->is_sent ? KZ_GET_NO_ANSWER : KZ_GET_UNREACHABLE;
}

static void finish(struct kz_http_get *g, CURLcode code)
{
	enum kz_get_end end = end_of(g, code);
	int64_t wire = kz_http_get_wire(g);
	struct kz_get_ask ask = g->ask;

	if (end == KZ_GET_WHOLE)
		tell_head(g);
	g->f->open--;
	get_free(g);
	ask.on_end(ask.arg, end, wire);
}

static void act(struct kz_http_flow *f, curl_socket_t fd, int bits)
{
	struct CURLMsg *m;
	int left;

	(void)lib.multi_socket_action(f->multi, fd, bits, &left);
	while ((m = lib.multi_info_read(f->multi, &left)) != NULL) {
		struct kz_http_get *g = NULL;
		CURLcode code = m->data.result;

		if (m->msg != CURLMSG_DONE)
			continue;
		lib.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &g);
		finish(g, code);
	}
}

void kz_http_flow_ready(struct kz_http_flow *f, int fd, bool is_read, bool is_write)
{
	act(f, fd, (is_read ? CURL_CSELECT_IN : 0) | (is_write ? CURL_CSELECT_OUT : 0));
}

void kz_http_flow_tick(struct kz_http_flow *f)
{
	act(f, CURL_SOCKET_TIMEOUT, 0);
}
