/* One question to the proxy's health socket. */
#include "core/egress/health.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/egress/policy.h"
#include "port/json.h"
#include "rule/reason.h"

#define ANSWER_MAX (64 * 1024)

static enum kz_rc unreachable(struct kz_err *err, const char *what)
{
	return kz_refuse(err, KZ_R_PROXY_UNREACHABLE, "kz-proxy does not answer: %s", what);
}

/* Read to the end of the connection. */
static bool receive(int fd, struct kz_deadline until, struct kz_buf *b)
{
	char part[4096];

	for (;;) {
		ssize_t n = recv(fd, part, sizeof(part), 0);

		if (n == 0)
			return true;
		if (n > 0 && kz_buf_add(b, part, (size_t)n, NULL))
			return false;
		if (n < 0 && errno == EAGAIN && kz_fd_wait(fd, POLLIN, until, NULL))
			return false;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
	}
}

static enum kz_rc ask(const char *path, struct kz_deadline until, struct kz_buf *b,
		      struct kz_err *err)
{
	static const char request[] =
		"GET /v1/health HTTP/1.1\r\nHost: kz-proxy\r\nConnection: close\r\n\r\n";
	kz_auto_close int fd = -1;
	struct kz_err why = KZ_ERR_INIT;

	if (kz_unix_connect(path, until, &fd, &why)) {
		if (why.sys_errno == EACCES)
			return kz_refuse(err, KZ_R_NO_PERMISSION,
					 "you may not ask kz-proxy for its health");
		return unreachable(err, why.text);
	}
	if (kz_fd_write_until(fd, request, sizeof(request) - 1, until, &why))
		return unreachable(err, why.text);
	return receive(fd, until, b) ? KZ_OK : unreachable(err, "the answer does not come");
}

/* The JSON body of a 200. own: new, NULL when it is none */
static struct kz_json *body_of(const struct kz_buf *b)
{
	const char *end = b->len ? memmem(b->data, b->len, "\r\n\r\n", 4) : NULL;
	struct kz_json *o = NULL;

	if (!end || !kz_str_has_prefix(b->data, "HTTP/1.1 200 "))
		return NULL;
	end += 4;
	if (kz_json_parse(end, b->len - (size_t)(end - b->data), &o, NULL))
		return NULL;
	return o;
}

static bool has_kid(const struct kz_json *kids, const char *kid)
{
	if (!kid)
		return kz_json_count(kids) > 0;
	for (size_t i = 0; i < kz_json_count(kids); i++)
		if (kz_str_eq(kz_json_str_value(kz_json_at(kids, i)), kid))
			return true;
	return false;
}

enum kz_rc kz_proxy_health(const char *state, const char *kid, struct kz_deadline until,
			   struct kz_proxy_health *out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(ANSWER_MAX);
	kz_auto_json struct kz_json *o = NULL;
	char path[KZ_PROXY_PATH];
	enum kz_rc rc;

	memset(out, 0, sizeof(*out));
	rc = kz_str_format(path, sizeof(path), err, "%s/%s", state, KZ_PROXY_HEALTH_SOCKET);
	if (!rc)
		rc = ask(path, until, &b, err);
	if (rc)
		return rc;
	o = body_of(&b);
	if (!kz_json_is_object(o) || kz_json_num(o, "v", 0) != 1)
		return unreachable(err, "its answer makes no sense");
	out->is_ready = kz_json_flag(o, "ready", false);
	out->has_key = has_kid(kz_json_get(o, "kids"), kid);
	out->revocation_serial = kz_json_num(o, "revocation_serial", 0);
	out->tunnels = kz_json_num(o, "tunnels", 0);
	if (!out->has_key)
		return kz_refuse(err, KZ_R_PROXY_KEYLESS,
				 "kz-proxy does not hold the key that grants are signed with");
	return out->is_ready ? KZ_OK : unreachable(err, "it is not ready");
}
