/* The proxy's pure parts: the form of requests, credentials, answers, bodies, heads that go on; the book and the audit queue. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "core/audit/read.h"
#include "core/egress/proxy_audit.h"
#include "core/egress/proxy_body.h"
#include "core/egress/proxy_book.h"
#include "core/egress/proxy_world.h"
#include "core/egress/proxy_forward.h"
#include "core/jail/service.h"
#include "port/json.h"

#define HEX32 "0123456789abcdef0123456789abcdef"

static enum kz_reason read_request(const char *text, struct kz_httphead *h, struct kz_px_request *r)
{
	if (kz_httphead_parse(text, strlen(text), h) != KZ_HEAD_OK)
		return KZ_R_HEAD_MALFORMED;
	return kz_px_request_read(h, r);
}

static void test_forms(void **state)
{
	static const struct {
		const char *text;
		enum kz_reason why;
	} cases[] = {
		{ "CONNECT a.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", KZ_R_NONE },
		{ "CONNECT a.example:443 HTTP/1.0\r\n\r\n", KZ_R_NONE },
		{ "CONNECT a.example HTTP/1.1\r\nHost: x\r\n\r\n", KZ_R_INVALID_PORT },
		{ "CONNECT http://a.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", KZ_R_INVALID_TARGET },
		{ "CONNECT u@a.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", KZ_R_INVALID_TARGET },
		{ "CONNECT 0x7f.1:443 HTTP/1.1\r\nHost: x\r\n\r\n", KZ_R_NUMERIC_HOST },
		{ "CONNECT a.example:443 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		  KZ_R_HEAD_MALFORMED },
		{ "CONNECT a.example:443 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
		  KZ_R_HEAD_MALFORMED },
		{ "GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n", KZ_R_NONE },
		{ "GET HTTP://A.example:80/x HTTP/1.1\r\nHost: a.EXAMPLE:80\r\n\r\n", KZ_R_NONE },
		{ "GET http://a.example/x HTTP/1.0\r\n\r\n", KZ_R_NONE },
		{ "GET http://a.example/x HTTP/1.1\r\nHost: b.example\r\n\r\n",
		  KZ_R_HOST_MISMATCH },
		{ "GET http://a.example/x HTTP/1.1\r\nHost: a.example:81\r\n\r\n",
		  KZ_R_HOST_MISMATCH },
		{ "GET http://a.example/x HTTP/1.1\r\nHost: a b\r\n\r\n", KZ_R_HEAD_MALFORMED },
		{ "GET http://u:p@a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
		  KZ_R_INVALID_TARGET },
		{ "GET http://a.example/#f HTTP/1.1\r\nHost: a.example\r\n\r\n",
		  KZ_R_INVALID_TARGET },
		{ "GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n", KZ_R_INVALID_TARGET },
		{ "OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n", KZ_R_INVALID_TARGET },
		{ "GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
		  KZ_R_REQUEST_UNSUPPORTED },
		{ "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: gzip\r\n\r\n",
		  KZ_R_REQUEST_UNSUPPORTED },
		{ "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: Chunked\r\n\r\n",
		  KZ_R_NONE },
		{ "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n"
		  "Transfer-Encoding: chunked\r\n\r\n",
		  KZ_R_HEAD_MALFORMED },
	};
	struct kz_px_request r;
	struct kz_httphead h;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (read_request(cases[i].text, &h, &r) != cases[i].why)
			fail_msg("%s", cases[i].text);
	assert_int_equal(KZ_R_NONE, read_request("HEAD http://a.example?q=1 HTTP/1.1\r\n"
						 "Host: a.example\r\n\r\n",
						 &h, &r));
	assert_true(r.is_head && !r.is_connect && r.has_target);
	assert_int_equal(80, r.target.port);
	assert_true(kz_slice_is(r.path, "?q=1"));
}

static enum kz_reason token_of(const char *value, char *out)
{
	char text[8000];
	struct kz_httphead h;
	size_t n;
	enum kz_reason why;

	snprintf(text, sizeof text,
		 "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n%s%s%s\r\n",
		 value ? "Proxy-Authorization: " : "", value ? value : "", value ? "\r\n" : "");
	assert_int_equal(KZ_HEAD_OK, kz_httphead_parse(text, strlen(text), &h));
	why = kz_px_token(&h, out, &n);
	out[why == KZ_R_NONE ? n : 0] = 0;
	return why;
}

static void test_credentials(void **state)
{
	char token[KZ_GRANT_MAX + 1];

	(void)state;
	assert_int_equal(KZ_R_GRANT_MISSING, token_of(NULL, token));
	assert_int_equal(KZ_R_GRANT_MISSING, token_of("Negotiate abcd", token));
	/* "grant:token" */
	assert_int_equal(KZ_R_NONE, token_of("Basic Z3JhbnQ6dG9rZW4=", token));
	assert_string_equal("token", token);
	assert_int_equal(KZ_R_NONE, token_of("bAsIc  Z3JhbnQ6dG9rZW4=", token));
	assert_int_equal(KZ_R_NONE, token_of("Bearer token", token));
	assert_string_equal("token", token);
	/* another user, nothing behind it, bits behind the end, no padding, other bytes */
	assert_int_equal(KZ_R_GRANT_MALFORMED, token_of("Basic Z3JhbmQ6dG9rZW4=", token));
	assert_int_equal(KZ_R_GRANT_MALFORMED, token_of("Basic Z3JhbnQ6", token));
	assert_int_equal(KZ_R_GRANT_MALFORMED, token_of("Basic Z3JhbnQ6dG9rZW5=", token));
	assert_int_equal(KZ_R_GRANT_MALFORMED, token_of("Basic Z3JhbnQ6dG9rZW4", token));
	assert_int_equal(KZ_R_GRANT_MALFORMED, token_of("Basic Z3JhbnQ6dG9r ZW4=", token));
	assert_int_equal(KZ_R_GRANT_MALFORMED, token_of("Basic", token));
	assert_int_equal(KZ_R_GRANT_MALFORMED, token_of("Bearer", token));
}

/* INV-33: every reason that is not the client's own mistake is one answer. */
static void test_answers(void **state)
{
	size_t others = 0;

	(void)state;
	for (int r = 0; r < KZ_REASON_COUNT; r++) {
		int status = kz_px_status((enum kz_reason)r);

		others += status == 403;
		assert_true(status == 400 || status == 403 || status == 407 || status == 431 ||
			    status == 501);
		for (int head = 0; head < 2; head++) {
			const char *text = kz_px_answer(status, head), *end;
			char line[32], length[40];

			snprintf(line, sizeof line, "HTTP/1.1 %d ", status);
			assert_memory_equal(line, text, strlen(line));
			assert_non_null(strstr(text, "Connection: close\r\n"));
			end = strstr(text, "\r\n\r\n") + 4;
			snprintf(length, sizeof length, "Content-Length: %zu\r\n", strlen(end));
			if (head)
				assert_string_equal("", end);
			else
				assert_non_null(strstr(text, length));
		}
	}
	assert_int_equal(KZ_REASON_COUNT - 8, others);
}

/* -- bodies -- */

/* Everything in pieces of a size. out: what the server gets; false when it is bad */
static bool framed(enum kz_px_body kind, int64_t length, const char *text, size_t piece,
		   struct kz_buf *out, size_t *used)
{
	struct kz_px_framer f;
	size_t n = strlen(text);

	kz_buf_clear(out);
	kz_px_framer_start(&f, kind, length);
	*used = 0;
	while (*used < n && !f.is_done && !f.is_bad)
		*used += kz_px_framer_take(&f, text + *used, n - *used < piece ? n - *used : piece,
					   out);
	return !f.is_bad && f.is_done;
}

static void test_bodies(void **state)
{
	static const char *const bad[] = {
		"5;x=y\r\nhello\r\n0\r\n\r\n",
		"5\nhello\r\n0\r\n\r\n",
		"5\r\nhelloXX0\r\n\r\n",
		"0x5\r\nhello\r\n0\r\n\r\n",
		" 5\r\nhello\r\n0\r\n\r\n",
		"+5\r\nhello\r\n0\r\n\r\n",
		"5 \r\nhello\r\n0\r\n\r\n",
		"\r\nhello\r\n0\r\n\r\n",
		"-1\r\n",
		"100000000\r\n",
		"0\r\nX-T: a\r\n\r\n",
		"0\r\n\n",
		"000000005\r\nhello\r\n0\r\n\r\n",
		"5\r\rhello",
	};
	static const char chunked[] = "5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\nrest";
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(100000);
	size_t used;

	(void)state;
	for (size_t piece = 1; piece < 40; piece++) {
		assert_true(framed(KZ_PX_BODY_CHUNKED, 0, chunked, piece, &out, &used));
		assert_int_equal(sizeof chunked - 1 - 4, used);
		/* what goes on reads back as the same bytes, by our own reader */
		{
			kz_auto_buf struct kz_buf again = KZ_BUF_INIT(100000);
			size_t n;

			assert_true(
				framed(KZ_PX_BODY_CHUNKED, 0, kz_buf_str(&out), 1000, &again, &n));
			assert_int_equal(out.len, n);
		}
		assert_true(framed(KZ_PX_BODY_LENGTH, 5, "hello and more", piece, &out, &used));
		assert_int_equal(5, used);
		assert_string_equal("hello", kz_buf_str(&out));
		for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
			if (framed(KZ_PX_BODY_CHUNKED, 0, bad[i], piece, &out, &used))
				fail_msg("taken: %s", bad[i]);
	}
	assert_true(framed(KZ_PX_BODY_CHUNKED, 0, chunked, 1000, &out, &used));
	assert_string_equal("5\r\nhello\r\na\r\n0123456789\r\n0\r\n\r\n", kz_buf_str(&out));
	assert_false(framed(KZ_PX_BODY_CHUNKED, 0, "5\r\nhel", 1000, &out, &used)); /* not done */
	framed(KZ_PX_BODY_NONE, 0, "x", 1, &out, &used);
	assert_int_equal(0, used);
}

/* -- heads -- */

/* RFC 9112 3.2.1, 3.2.4: what stands in the place of a path that is empty. */
static void test_forward_empty_path(void **state)
{
	static const struct {
		const char *asked, *line;
	} cases[] = {
		{ "OPTIONS http://a.example", "OPTIONS * HTTP/1.1\r\n" },
		{ "OPTIONS http://a.example/", "OPTIONS / HTTP/1.1\r\n" },
		{ "OPTIONS http://a.example?q", "OPTIONS /?q HTTP/1.1\r\n" },
		{ "GET http://a.example", "GET / HTTP/1.1\r\n" },
		{ "GET http://a.example?q", "GET /?q HTTP/1.1\r\n" },
		{ "options http://a.example", "options / HTTP/1.1\r\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		kz_auto_buf struct kz_buf out = KZ_BUF_INIT(1000);
		struct kz_px_request r;
		struct kz_httphead h;
		char text[200];

		snprintf(text, sizeof text, "%s HTTP/1.1\r\nHost: a.example\r\n\r\n",
			 cases[i].asked);
		assert_int_equal(KZ_R_NONE, read_request(text, &h, &r));
		assert_true(kz_px_forward(&h, &r, &out));
		assert_memory_equal(cases[i].line, kz_buf_str(&out), strlen(cases[i].line));
	}
}

static void test_forward(void **state)
{
	static const char text[] =
		"POST http://A.example:8080/p?q HTTP/1.1\r\nHost: a.example:8080\r\n"
		"Proxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: x\r\n"
		"Connection: X-Hop , close\r\nX-Hop: 1\r\nTE: trailers\r\nUpgrade: h2c\r\n"
		"Authorization: Basic own\r\nContent-Length: 5\r\nX-End: 2\r\n\r\n";
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(100000);
	struct kz_px_request r;
	struct kz_httphead h;

	(void)state;
	assert_int_equal(KZ_R_NONE, read_request(text, &h, &r));
	assert_true(kz_px_forward(&h, &r, &out));
	assert_string_equal("POST /p?q HTTP/1.1\r\nHost: a.example:8080\r\n"
			    "Authorization: Basic own\r\nX-End: 2\r\nContent-Length: 5\r\n"
			    "Via: 1.1 kz\r\nConnection: close\r\n\r\n",
			    kz_buf_str(&out));
	kz_buf_clear(&out);
	assert_int_equal(KZ_R_NONE,
			 read_request("GET http://[2606:4700::1] HTTP/1.0\r\n\r\n", &h, &r));
	assert_true(kz_px_forward(&h, &r, &out));
	assert_string_equal("GET / HTTP/1.0\r\nHost: [2606:4700::1]\r\nVia: 1.1 kz\r\n"
			    "Connection: close\r\n\r\n",
			    kz_buf_str(&out));
}

static enum kz_px_reply reply(const char *text, struct kz_buf *out, size_t *used)
{
	int64_t content;

	kz_buf_clear(out);
	return kz_px_reply_read(text, strlen(text), out, used, &content);
}

/* What stands behind an answer's head, as far as the head says it. */
static void test_reply_content(void **state)
{
	static const struct {
		const char *text;
		int64_t content;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0 },
		{ "HTTP/1.1 200 OK\r\ncontent-length:00042 \r\nX: 1\r\n\r\n", 42 },
		{ "HTTP/1.0 404 no\r\nContent-Length: 999999999999999999\r\n\r\n",
		  999999999999999999 },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000000\r\n\r\n", -1 },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n", -1 },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", -1 },
		{ "HTTP/1.1 200 OK\r\n\r\n", -1 },
		{ "HTTP/1.1 204 no content\r\n\r\n", 0 },
		{ "HTTP/1.1 204 no content\r\nTransfer-Encoding: chunked\r\n\r\n", 0 },
		{ "HTTP/1.1 304 same\r\nContent-Length: 500\r\n\r\n", 0 },
	};
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(100000);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int64_t content = -2;
		size_t used;

		kz_buf_clear(&out);
		assert_int_equal(KZ_PX_REPLY_OK,
				 kz_px_reply_read(cases[i].text, strlen(cases[i].text), &out, &used,
						  &content));
		if (content != cases[i].content)
			fail_msg("%lld: %s", (long long)content, cases[i].text);
	}
}

static void test_replies(void **state)
{
	static const char *const bad[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\ncontent-length: 1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX : a\r\n\r\n",
		"HTTP/1.1 200 OK\nX: a\n\n",
		"HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
		"HTTP/1.1 101 Switching\r\n\r\n",
		"HTTP/2 200 OK\r\n\r\n",
		"HTTP/1.1 99 OK\r\n\r\n",
		"HTTP/1.1 2000 OK\r\n\r\n",
		"ICY 200 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
	};
	static const char good[] =
		"HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop, Content-Length\r\nX-Hop: 1\r\n"
		"Keep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nUpgrade: h2c\r\n"
		"Content-Length: 2\r\nX-End: 1\r\n\r\nok";
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(1000000);
	char *huge = calloc(1, KZ_PX_REPLY_MAX + 1);
	size_t used;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (reply(bad[i], &out, &used) != KZ_PX_REPLY_BAD)
			fail_msg("taken: %s", bad[i]);
	assert_int_equal(KZ_PX_REPLY_OK, reply(good, &out, &used));
	assert_int_equal(sizeof good - 1 - 2, used);
	assert_string_equal("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-End: 1\r\nVia: 1.1 kz\r\n"
			    "Connection: close\r\n\r\n",
			    kz_buf_str(&out));
	assert_int_equal(KZ_PX_REPLY_INFO, reply("HTTP/1.1 100 Continue\r\n\r\n", &out, &used));
	assert_string_equal("HTTP/1.1 100 Continue\r\n\r\n", kz_buf_str(&out));
	assert_int_equal(KZ_PX_REPLY_MORE, reply("HTTP/1.1 200 OK\r\nX: a\r\n", &out, &used));
	assert_non_null(huge);
	memset(huge, 'a', KZ_PX_REPLY_MAX);
	memcpy(huge, "HTTP/1.1 200 OK\r\nX: ", 20);
	assert_int_equal(KZ_PX_REPLY_BAD, reply(huge, &out, &used));
	free(huge);
}

/* -- what it gives up -- */

/* out: the errno of a call, 0 when it works */
static int after_filter(int which)
{
	char *const none[] = { NULL };
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		bool is_good = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
			       kz_jail_service(NULL) == KZ_OK;

		errno = 0;
		if (is_good && which == 0)
			is_good = socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
		else if (is_good && which == 1)
			is_good = socket(AF_INET, SOCK_STREAM, 0) >= 0 &&
				  socket(AF_INET6, SOCK_DGRAM, 0) >= 0 &&
				  socket(AF_NETLINK, SOCK_RAW, 0) >= 0;
		else if (is_good && which == 2)
			execve("/proc/self/exe", none, none);
		else if (is_good && which == 3)
			is_good = kill(getpid(), 0) == 0;
		else
			errno = 255;
		_exit(errno);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_filter(void **state)
{
	(void)state;
	assert_int_equal(after_filter(0), EPERM);
	assert_int_equal(after_filter(1), 0);
	assert_int_equal(after_filter(2), EPERM);
	assert_int_equal(after_filter(3), EPERM);
}

/* -- the book -- */

static void digest_of(int i, char out[KZ_SHA256_HEX])
{
	kz_sha256_hex(&i, sizeof i, out);
}

/* Lookups have a bound for each grant, and one in all [PROXY-19]. */
static void test_book_names(void **state)
{
	struct kz_px_known *k[KZ_PX_NAMES_MOST / KZ_PX_NAMES_GRANT + 1] = { NULL };
	const size_t all = sizeof k / sizeof *k;
	struct kz_grant *g = calloc(1, sizeof *g);
	char digest[KZ_SHA256_HEX];
	struct kz_px_book b;

	(void)state;
	kz_px_book_init(&b, 100);
	for (size_t i = 0; i < all; i++) {
		digest_of((int)i, digest);
		assert_int_equal(KZ_R_NONE, kz_px_book_add(&b, digest, 1, g, 2, &k[i]));
	}
	for (size_t i = 0; i + 1 < all; i++) {
		for (int n = 0; n < KZ_PX_NAMES_GRANT; n++)
			assert_int_equal(KZ_R_NONE, kz_px_book_ask(&b, k[i]));
		assert_int_equal(KZ_R_NAME_LIMIT, kz_px_book_ask(&b, k[i]));
	}
	assert_int_equal(KZ_PX_NAMES_MOST, kz_px_book_names(&b));
	assert_int_equal(KZ_R_NAME_LIMIT, kz_px_book_ask(&b, k[all - 1]));
	kz_px_book_answered(&b, k[0]);
	assert_int_equal(KZ_R_NONE, kz_px_book_ask(&b, k[all - 1]));
	assert_int_equal(KZ_R_NAME_LIMIT, kz_px_book_ask(&b, k[0]));
	kz_px_book_answered(&b, k[all - 1]);
	assert_int_equal(KZ_R_NONE, kz_px_book_ask(&b, k[0]));
	for (size_t i = 0; i < all; i++)
		kz_px_book_leave(&b, k[i]);
	kz_px_book_release(&b);
	free(g);
}

static void test_book(void **state)
{
	struct kz_px_book b;
	struct kz_px_known *k = NULL, *other = NULL;
	struct kz_grant *g = calloc(1, sizeof *g);
	char digest[KZ_SHA256_HEX];

	(void)state;
	kz_px_book_init(&b, 100);
	digest_of(1, digest);
	assert_int_equal(KZ_R_NONE, kz_px_book_find(&b, digest, 1, 2, &k));
	assert_null(k);
	assert_int_equal(KZ_R_NONE, kz_px_book_add(&b, digest, 1, g, 2, &k));
	/* another loop was first, or the same comes again: one entry, counted */
	assert_int_equal(KZ_R_NONE, kz_px_book_add(&b, digest, 1, g, 2, &other));
	assert_ptr_equal(k, other);
	assert_int_equal(KZ_R_TUNNEL_LIMIT, kz_px_book_find(&b, digest, 1, 2, &other));
	assert_null(other);
	kz_px_book_leave(&b, k);
	assert_int_equal(KZ_R_NONE, kz_px_book_find(&b, digest, 1, 2, &other));
	/* of other keys it is not known [PROXY-11] */
	assert_int_equal(KZ_R_NONE, kz_px_book_find(&b, digest, 2, 2, &other));
	assert_null(other);
	/* many come and go: the ones without connections are bounded, this one stays */
	for (int i = 2; i < 2000; i++) {
		char d[KZ_SHA256_HEX];

		digest_of(i, d);
		assert_int_equal(KZ_R_NONE, kz_px_book_add(&b, d, 1, g, 2, &other));
		kz_px_book_leave(&b, other);
	}
	assert_int_equal(KZ_PX_KNOWN, b.idle);
	kz_px_book_leave(&b, k);
	assert_int_equal(KZ_R_NONE, kz_px_book_find(&b, digest, 1, 2, &other));
	assert_ptr_equal(k, other);
	kz_px_book_release(&b);
	free(g);
}

/* -- the audit -- */

struct seen {
	int rows, of_reason;
	int64_t count;
};

static enum kz_rc see(void *arg, struct kz_json *j, struct kz_err *err)
{
	struct seen *s = arg;
	const struct kz_json *e = kz_json_at(kz_json_get(j, "egress"), 0);

	(void)err;
	s->rows++;
	if (kz_str_eq(kz_json_str(j, "reason", ""), "host_not_allowed")) {
		s->of_reason++;
		s->count += kz_json_num(e, "count", 0);
		assert_string_equal("a.example", kz_json_str(e, "host", ""));
		assert_int_equal(443, kz_json_num(e, "port", 0));
		assert_string_equal(HEX32, kz_json_str(e, "execution", ""));
	}
	kz_json_free(j);
	return KZ_OK;
}

/* AUD-6: the same within a second is one row with a count; what does not fit is counted, and nothing waits. */
static void test_audit(void **state)
{
	const struct kz_audit_filter all = { .kind = "denial" };
	struct kz_target t = { .host = "a.example", .port = 443 };
	char dir[] = "/tmp/kz-unit.XXXXXX", path[64];
	struct kz_px_audit *a = calloc(1, sizeof *a);
	struct seen s = { .rows = 0 };
	struct kz_px_refused peer = { .execution = HEX32 }, nobody = { .execution = "" };

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/audit.db", dir);
	assert_int_equal(KZ_OK, kz_px_audit_start(a, path, NULL));
	for (int i = 0; i < 1000; i++)
		kz_px_audit_put(a, KZ_R_HOST_NOT_ALLOWED, &t, &peer);
	kz_px_audit_put(a, KZ_R_HEAD_MALFORMED, NULL, &nobody);
	kz_px_audit_stop(a);
	assert_int_equal(KZ_OK, kz_audit_each(path, &all, see, &s, NULL));
	/* a slow machine may take more than a second for them */
	assert_true(s.of_reason >= 1 && s.of_reason < 50);
	assert_int_equal(1000, s.count);
	assert_int_equal(s.of_reason + 1, s.rows);
	assert_int_equal(0, atomic_load(&a->lost));
	assert_int_equal(KZ_OK, kz_tree_remove(AT_FDCWD, dir, NULL));
	/* a store that cannot be had: lost, counted, and it ends all the same */
	assert_int_equal(KZ_OK, kz_px_audit_start(a, path, NULL));
	for (int i = 0; i < 2 * KZ_PX_DENIALS; i++) {
		snprintf(t.host, sizeof t.host, "h%d.example", i);
		kz_px_audit_put(a, KZ_R_HOST_NOT_ALLOWED, &t, &peer);
	}
	kz_px_audit_stop(a);
	assert_int_equal(2 * KZ_PX_DENIALS, atomic_load(&a->lost));
	assert_true(atomic_load(&a->is_failing));
	free(a);
}

/* PROXY-17: a clock that is set makes a new set, by which every connection is looked at again; time that passes does not. */
static void test_clock(void **state)
{
	char dir[] = "/tmp/kz-unit.XXXXXX", path[64];
	struct kz_px_world *first = NULL, *next = NULL;
	struct kz_px_watch w = { .is_amiss = false };

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, i ? "env" : "public");
		assert_int_equal(0, mkdir(path, 0755));
	}
	assert_int_equal(KZ_OK, kz_str_copy(w.state, sizeof w.state, dir, NULL));
	assert_int_equal(KZ_OK, kz_px_world_next(&w, NULL, false, &first, NULL));
	assert_non_null(first);
	/* no keys: it becomes late once, and that is told */
	first->is_cut = true;
	assert_int_equal(KZ_OK, kz_px_world_next(&w, first, false, &next, NULL));
	assert_null(next);
	for (int by = -3600000; by <= 3600000; by += 7200000) {
		w.clock_ms += by;
		assert_int_equal(KZ_OK, kz_px_world_next(&w, first, false, &next, NULL));
		assert_non_null(next);
		assert_true(next->number > first->number);
		kz_px_world_give(next);
		assert_int_equal(KZ_OK, kz_px_world_next(&w, first, false, &next, NULL));
		assert_null(next);
	}
	kz_px_world_give(first);
	assert_int_equal(KZ_OK, kz_tree_remove(AT_FDCWD, dir, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),      cmocka_unit_test(test_credentials),
		cmocka_unit_test(test_answers),    cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_forward),    cmocka_unit_test(test_forward_empty_path),
		cmocka_unit_test(test_replies),    cmocka_unit_test(test_reply_content),
		cmocka_unit_test(test_filter),     cmocka_unit_test(test_book),
		cmocka_unit_test(test_book_names), cmocka_unit_test(test_audit),
		cmocka_unit_test(test_clock),
	};

	kz_log_init("test", KZ_LOG_FATAL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
