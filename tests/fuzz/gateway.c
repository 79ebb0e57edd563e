/*
 * All the bytes of one connection to kz-gateway, through its real server: the answers are those that a plain reading
 * of the requests foretells, one each, whole, in order; and then the connection ends [DEP-5, BRK-5, PROXY-19].
 * The first byte chooses the listener and the size of the pieces.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/gateway/server.h"
#include "fuzz.h"
#include "rule/ask.h"

#define MOST 8192

enum kind { WORKER, OPERATOR, TCP, KINDS };

static struct kz_serve *serve;
static int client;
static char out[1 << 20];
static size_t out_n;

static void say(void *arg, struct kz_gw_request *r)
{
	(void)arg;
	CLAIM(r->path.n > 0 && r->path.p[0] == '/' && r->head);
	CLAIM((r->from == KZ_GW_WORKER) == (strlen(r->execution) == 32));
	if (!r->query.n)
		kz_gw_answer(r, 200, "text/plain", "hello", 5, NULL);
	else if (kz_gw_begin(r, 200, "text/plain", -1, NULL, NULL) == KZ_OK &&
		 kz_gw_write(r, "hello", 5, NULL) == KZ_OK)
		kz_gw_end(r);
}

static int listen_at(struct kz_gw *g, enum kz_gw_from from, bool is_tcp, struct sockaddr_un *at)
{
	socklen_t n = sizeof *at;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	/* an abstract name that the kernel chooses */
	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	CLAIM(bind(fd, (struct sockaddr *)at, sizeof(sa_family_t)) == 0 && listen(fd, 8) == 0);
	CLAIM(getsockname(fd, (struct sockaddr *)at, &n) == 0);
	CLAIM(kz_gw_listen(g, fd, from, is_tcp, NULL) == KZ_OK);
	return (int)n;
}

static struct sockaddr_un places[KINDS];
static int place_bytes[KINDS];

static void start(void)
{
	struct kz_gw *g;

	CLAIM(kz_serve_new(&serve, NULL) == KZ_OK);
	CLAIM(kz_gw_new(&g, serve, &kz_gw_limits_default, NULL) == KZ_OK);
	CLAIM(kz_gw_add(g, &(struct kz_gw_route){ "/a", KZ_GW_WORKER | KZ_GW_OPERATOR, say, NULL },
			NULL) == KZ_OK);
	CLAIM(kz_gw_add(g, &(struct kz_gw_route){ "/w/", KZ_GW_WORKER, say, NULL }, NULL) == KZ_OK);
	CLAIM(kz_gw_add(g, &(struct kz_gw_route){ "/o/", KZ_GW_OPERATOR, say, NULL }, NULL) ==
	      KZ_OK);
	place_bytes[WORKER] = listen_at(g, KZ_GW_WORKER, false, &places[WORKER]);
	place_bytes[OPERATOR] = listen_at(g, KZ_GW_OPERATOR, false, &places[OPERATOR]);
	place_bytes[TCP] = listen_at(g, KZ_GW_OPERATOR, true, &places[TCP]);
}

static void take(void *arg)
{
	ssize_t n;

	(void)arg;
	while ((n = recv(client, out + out_n, sizeof out - out_n, MSG_DONTWAIT)) > 0)
		out_n += (size_t)n;
	if (n == 0 || errno != EAGAIN)
		kz_serve_stop(serve);
}

/* -- what should come -- */

/* out: the status of this request, 0: none comes; *next: where the next one begins, 0: nowhere */
static int foretell(enum kind kind, const char *p, size_t n, bool *is_head, size_t *next)
{
	struct kz_httphead h;
	struct kz_ask a;
	int status;

	*next = 0;
	*is_head = false;
	switch (kz_httphead_parse(p, n, &h)) {
	case KZ_HEAD_MORE: return 0;
	case KZ_HEAD_BAD: return 400;
	case KZ_HEAD_LARGE: return 431;
	case KZ_HEAD_OK: break;
	}
	status = kz_ask_read(&h, &a);
	*is_head = a.is_head;
	if (kind == TCP && !kz_ask_host(&h, "", ""))
		return 421;
	if (status)
		return status;
	if (!h.is_close)
		*next = h.bytes;
	if (!kz_ask_fits(a.path, "/a") && !kz_ask_fits(a.path, kind == WORKER ? "/w/" : "/o/"))
		return 404;
	return a.query.n && h.minor == 0 ? 505 : 200;
}

/* One answer at the start of p, with its body. out: bytes */
static size_t check_answer(const char *p, size_t n, int status, bool is_head)
{
	const char *end = memmem(p, n, "\r\n\r\n", 4), *field;
	size_t head, body = 0;

	CLAIM(end && memcmp(p, "HTTP/1.1 ", 9) == 0 && strtol(p + 9, NULL, 10) == status);
	head = (size_t)(end - p) + 4;
	field = memmem(p, head, "Content-Length: ", 16);
	CLAIM((field != NULL) != (memmem(p, head, "Transfer-Encoding: chunked", 26) != NULL));
	if (is_head)
		return head;
	if (field)
		body = strtoul(field + 16, NULL, 10);
	else
		CLAIM(n - head >= 15 &&
		      memcmp(p + head, "5\r\nhello\r\n0\r\n\r\n", body = 15) == 0);
	CLAIM(n - head >= body);
	return head + body;
}

static void check(enum kind kind, const char *p, size_t n)
{
	char execution[KZ_EXECUTION_HEX];
	enum kz_head_rc rc = kind == WORKER ? kz_execution_line(p, n, execution) : KZ_HEAD_OK;
	size_t at = 0, next = rc == KZ_HEAD_OK && kind == WORKER ? KZ_EXECUTION_LINE : 0;
	bool is_head = false, is_more = rc == KZ_HEAD_OK;

	if (rc == KZ_HEAD_BAD)
		at = check_answer(out, out_n, 400, false);
	for (size_t from = next; is_more && from < n; from += next) {
		int status = foretell(kind, p + from, n - from, &is_head, &next);

		if (status)
			at += check_answer(out + at, out_n - at, status, is_head);
		is_more = next > 0;
	}
	CLAIM(at == out_n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data + 1;
	size_t n = size - 1, piece;
	struct kz_watch *w;
	enum kind kind;

	if (size < 2 || n > MOST)
		return 0;
	if (!serve)
		start();
	kind = data[0] % KINDS;
	piece = data[0] / KINDS ? (size_t)data[0] : n;
	out_n = 0;
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	CLAIM(connect(client, (struct sockaddr *)&places[kind], (socklen_t)place_bytes[kind]) == 0);
	/* a socket's queue takes so many small pieces: what did not go in was not asked */
	for (size_t at = 0; at < n; at += piece)
		if (send(client, p + at, n - at < piece ? n - at : piece, MSG_NOSIGNAL) < 0)
			n = at;
	shutdown(client, SHUT_WR);
	w = kz_watch_new(serve, client, KZ_SERVE_READ, take, NULL);
	CLAIM(w && kz_serve_run(serve, NULL) == KZ_OK);
	kz_watch_free(w);
	close(client);
	check(kind, p, n);
	return 0;
}
