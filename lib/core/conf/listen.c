/* Listening at an address. */
#include "core/conf/listen.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "base/auto.h"
#include "rule/host.h"

/* What is taken at a listener inherits these. */
static bool set_tcp(int fd)
{
	int on = 1, unsent_ms = 60000;

	return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
	       setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) == 0 &&
	       setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
	       setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent_ms, sizeof unsent_ms) == 0;
}

enum kz_rc kz_tcp_listen(const char *where, int backlog, int *fd, struct kz_err *err)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr *at = (struct sockaddr *)&four;
	socklen_t n = sizeof four;
	kz_auto_close int s = -1;
	struct kz_target t;

	if (kz_target_parse(where, strlen(where), 0, &t) != KZ_R_NONE || !t.is_literal)
		return kz_err_set(err, KZ_E_DATA, "%s is no ADDRESS:PORT", where);
	four.sin_port = six.sin6_port = htons(t.port);
	memcpy(&four.sin_addr, t.addr.bytes, 4);
	memcpy(&six.sin6_addr, t.addr.bytes, 16);
	if (t.addr.family == 6) {
		at = (struct sockaddr *)&six;
		n = sizeof six;
	}
	s = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s < 0 || !set_tcp(s) || bind(s, at, n) != 0 || listen(s, backlog) != 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot listen at %s", where);
	*fd = kz_take_fd(&s);
	return KZ_OK;
}
