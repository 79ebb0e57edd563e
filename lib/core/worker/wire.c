/* Requests to a worker and its answers. */
#include "core/worker/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "rule/reason.h"

#define HEAD_MAX 16384

enum kz_rc kz_wire_break(struct kz_wk *w, struct kz_err *err)
{
	w->is_broken = true;
	/* errors of the socket name its path, which is the worker's address [EXEC-15] */
	return kz_refuse(err, KZ_R_WORKER_UNREACHABLE, NULL);
}

enum kz_rc kz_wk_open(struct kz_wk **out, const char *socket_path, const char *secret,
		      struct kz_deadline until, struct kz_err *err)
{
	struct kz_wk *w = calloc(1, sizeof *w);

	if (!w)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	w->fd = -1;
	kz_buf_init(&w->in, KZ_WIRE_IN_MAX);
	kz_buf_init(&w->head, HEAD_MAX);
	kz_buf_init(&w->tree, KZ_WIRE_TREE_MAX);
	if (kz_str_copy(w->secret, sizeof w->secret, secret, err) != KZ_OK ||
	    kz_sys_before(KZ_SYS_WK_CONNECT) ||
	    kz_unix_connect(socket_path, until, &w->fd, err) != KZ_OK) {
		kz_wk_close(w);
		return kz_refuse(err, KZ_R_WORKER_UNREACHABLE, NULL);
	}
	kz_sys_after(KZ_SYS_WK_CONNECT);
	*out = w;
	return KZ_OK;
}

/* It holds the secret. */
static void forget_head(struct kz_wk *w)
{
	if (w->head.data)
		explicit_bzero(w->head.data, w->head.cap);
	w->head.len = 0;
}

void kz_wk_close(struct kz_wk *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	explicit_bzero(w->secret, sizeof w->secret);
	kz_buf_release(&w->in);
	forget_head(w);
	kz_buf_release(&w->head);
	kz_buf_release(&w->tree);
	free(w);
}

enum kz_rc kz_wire_send(struct kz_wk *w, const void *p, size_t n, struct kz_deadline until,
			struct kz_err *err)
{
	struct iovec v[2] = { { w->head.data, w->head.len }, { (void *)(uintptr_t)p, n } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	while (v[0].iov_len + v[1].iov_len) {
		ssize_t done = sendmsg(w->fd, &m, MSG_NOSIGNAL);

		if (done > 0) {
			for (int i = 0; i < 2; i++) {
				size_t part =
					(size_t)done < v[i].iov_len ? (size_t)done : v[i].iov_len;

				v[i].iov_base = (char *)v[i].iov_base + part;
				v[i].iov_len -= part;
				done -= (ssize_t)part;
			}
		} else if (errno == EAGAIN) {
			if (kz_fd_wait(w->fd, POLLOUT, until, NULL) != KZ_OK)
				return kz_wire_break(w, err);
		} else if (errno != EINTR) {
			return kz_wire_break(w, err);
		}
	}
	forget_head(w);
	return KZ_OK;
}

enum kz_rc kz_wire_more(struct kz_wk *w, struct kz_deadline until, struct kz_err *err)
{
	char t[65536];
	ssize_t n;

	for (;;) {
		n = recv(w->fd, t, sizeof t, 0);
		if (n > 0)
			break;
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return kz_wire_break(w, err);
		if (errno == EAGAIN && kz_fd_wait(w->fd, POLLIN, until, NULL) != KZ_OK)
			return kz_wire_break(w, err);
	}
	return kz_buf_add(&w->in, t, (size_t)n, NULL) == KZ_OK ? KZ_OK : kz_wire_break(w, err);
}

enum kz_rc kz_wire_head(struct kz_wk *w, const char *method, const char *path, int64_t body,
			struct kz_deadline until, struct kz_err *err)
{
	enum kz_rc rc;

	if (w->is_broken)
		return kz_wire_break(w, err);
	forget_head(w);
	rc = kz_buf_printf(&w->head, err,
			   "%s %s HTTP/1.1\r\nHost: worker\r\nAuthorization: Bearer %s\r\n"
			   "Content-Length: %lld\r\n\r\n",
			   method, path, w->secret, (long long)body);
	return rc == KZ_OK && body == 0 ? kz_wire_send(w, NULL, 0, until, err) : rc;
}

static const char *find_end(const struct kz_buf *b)
{
	return b->len ? memmem(b->data, b->len, "\r\n\r\n", 4) : NULL;
}

static bool parse_head(char *head, int *status, int64_t *length)
{
	char *save = NULL, *line = strtok_r(head, "\r\n", &save);
	int64_t n;

	*length = 0;
	if (!line || !kz_str_has_prefix(line, "HTTP/1.1 ") || strlen(line) < 12)
		return false;
	line[12] = 0;
	if (kz_str_int(line + 9, 100, 599, &n, NULL) != KZ_OK)
		return false;
	*status = (int)n;
	while ((line = strtok_r(NULL, "\r\n", &save)))
		if (strncasecmp(line, "content-length: ", 16) == 0 &&
		    kz_str_int(line + 16, 0, INT64_MAX / 2, length, NULL) != KZ_OK)
			return false;
	return true;
}

void kz_wk_meanwhile(struct kz_wk *w, void (*what)(void *arg), void *arg)
{
	w->meanwhile = what;
	w->meanwhile_arg = arg;
}

enum kz_rc kz_wire_answer(struct kz_wk *w, struct kz_deadline until, int *status, int64_t *length,
			  struct kz_err *err)
{
	void (*meanwhile)(void *) = w->meanwhile;
	const char *end;
	size_t n;
	enum kz_rc rc;

	w->meanwhile = NULL;
	if (meanwhile)
		meanwhile(w->meanwhile_arg);
	while (!(end = find_end(&w->in))) {
		if (w->in.len > HEAD_MAX)
			return kz_wire_break(w, err);
		rc = kz_wire_more(w, until, err);
		if (rc != KZ_OK)
			return rc;
	}
	n = (size_t)(end - w->in.data);
	w->in.data[n] = 0;
	if (!parse_head(w->in.data, status, length))
		return kz_wire_break(w, err);
	kz_buf_drop(&w->in, n + 4);
	return KZ_OK;
}

enum kz_rc kz_wire_json(struct kz_wk *w, int64_t n, struct kz_deadline until, struct kz_json **out,
			struct kz_err *err)
{
	enum kz_rc rc;

	if (n < 0 || n > KZ_WIRE_ANSWER_MAX)
		return kz_wire_break(w, err);
	while (w->in.len < (size_t)n) {
		rc = kz_wire_more(w, until, err);
		if (rc != KZ_OK)
			return rc;
	}
	if (kz_json_parse(kz_buf_str(&w->in), (size_t)n, out, NULL) != KZ_OK)
		return kz_wire_break(w, err);
	kz_buf_drop(&w->in, (size_t)n);
	return KZ_OK;
}

enum kz_rc kz_wire_refusal(struct kz_wk *w, int status, int64_t n, struct kz_deadline until,
			   struct kz_err *err)
{
	kz_auto_json struct kz_json *o = NULL;
	enum kz_reason r = KZ_R_WORKER_FAULT;
	enum kz_rc rc = kz_wire_json(w, n, until, &o, err);
	const char *code = rc == KZ_OK ? kz_json_str(o, "reason", "") : "";

	if (rc != KZ_OK)
		return rc;
	if (!kz_reason_find(code, &r))
		r = KZ_R_WORKER_FAULT;
	if (status == 401)
		w->is_broken = true; /* it closes after this */
	return kz_refuse(err, r, "%s", kz_json_str(o, "text", "the worker gave no reason"));
}

enum kz_rc kz_wire_ask(struct kz_wk *w, const char *method, const char *path,
		       const struct kz_json *o, struct kz_deadline until, int64_t *length,
		       struct kz_err *err)
{
	kz_auto_buf struct kz_buf body = KZ_BUF_INIT(5 << 20);
	int status = 0;
	enum kz_rc rc = o ? kz_json_write(o, &body, err) : KZ_OK;

	if (rc == KZ_OK)
		rc = kz_wire_head(w, method, path, (int64_t)body.len, until, err);
	if (rc == KZ_OK && body.len)
		rc = kz_wire_send(w, body.data, body.len, until, err);
	if (rc == KZ_OK)
		rc = kz_wire_answer(w, until, &status, length, err);
	if (rc != KZ_OK)
		return rc;
	return status == 200 ? KZ_OK : kz_wire_refusal(w, status, *length, until, err);
}

enum kz_rc kz_wire_call(struct kz_wk *w, const char *method, const char *path, struct kz_json *o,
			struct kz_deadline until, struct kz_json **out, struct kz_err *err)
{
	kz_auto_json struct kz_json *own = o, *answer = NULL;
	int64_t n = 0;
	enum kz_rc rc;

	if (kz_sys_before(KZ_SYS_WK_CALL))
		return kz_wire_break(w, err);
	rc = kz_wire_ask(w, method, path, own, until, &n, err);
	if (rc != KZ_OK)
		return rc;
	rc = kz_wire_json(w, n, until, &answer, err);
	if (rc == KZ_OK && out)
		*out = kz_take(answer);
	kz_sys_after(KZ_SYS_WK_CALL);
	return rc;
}

enum kz_rc kz_wire_drain(struct kz_wk *w, int64_t n, kz_wk_sink sink, void *arg,
			 struct kz_deadline until, struct kz_err *err)
{
	while (n > 0) {
		size_t part;
		enum kz_rc rc = w->in.len ? KZ_OK : kz_wire_more(w, until, err);

		if (rc != KZ_OK)
			return rc;
		part = (int64_t)w->in.len < n ? w->in.len : (size_t)n;
		rc = sink(arg, w->in.data, part, err);
		if (rc != KZ_OK) {
			w->is_broken = true;
			return rc;
		}
		kz_buf_drop(&w->in, part);
		n -= (int64_t)part;
	}
	return KZ_OK;
}

struct kz_json *kz_wire_of_lease(const char *lease)
{
	struct kz_json *o = kz_json_object();

	kz_json_set_str(o, "lease", lease);
	return o;
}

enum kz_rc kz_wire_prefixed(const struct kz_json *o, struct kz_buf *out, struct kz_err *err)
{
	enum kz_rc rc = kz_buf_add(out, "\0\0\0", 4, err);

	if (rc == KZ_OK)
		rc = kz_json_write(o, out, err);
	for (int i = 0; rc == KZ_OK && i < 4; i++)
		out->data[i] = (char)((out->len - 4) >> (24 - 8 * i));
	return rc;
}
