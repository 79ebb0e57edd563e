/* Asking the process that may speak to Valkey. */
#include "core/broker/share.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/aside.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/time.h"
#include "core/broker/share_parts.h"

#define PATIENCE_MS 250 /* more than the other process waits for Valkey */
#define AWAY_MS 5000

struct kz_share {
	int fd; /* -1: it is gone */
	uint32_t last;
	struct kz_deadline away; /* it is not asked before */
	char state[256];
};

enum kz_rc kz_share_start(struct kz_share **out, const char *state, struct kz_err *err)
{
	struct kz_share *s = calloc(1, sizeof *s);
	enum kz_rc rc;

	if (!s)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	s->fd = -1;
	rc = kz_str_copy(s->state, sizeof s->state, state, err);
	if (!rc)
		rc = kz_aside_start("kz-gateway-cool", SOCK_SEQPACKET, kz_share_keep, s->state,
				    &s->fd, err);
	if (rc)
		kz_share_free(s);
	else
		*out = s;
	return rc;
}

static void lose(struct kz_share *s)
{
	close(s->fd);
	s->fd = -1;
}

/* The answer to this question; those to earlier ones came too late. out: false: none in time */
static bool answer_to(struct kz_share *s, uint32_t number, struct kz_deadline until,
		      struct kz_share_answer *a)
{
	ssize_t n;

	for (;;) {
		n = recv(s->fd, a, sizeof *a, 0);
		if (n == sizeof *a && a->number == number)
			return true;
		if (n == sizeof *a || (n < 0 && errno == EINTR))
			continue;
		if (n >= 0 || errno != EAGAIN) {
			lose(s);
			return false;
		}
		if (kz_fd_wait(s->fd, POLLIN, until, NULL) != KZ_OK)
			return false;
	}
}

bool kz_share_ask(struct kz_share *s, enum kz_share_what what, const struct kz_target *t,
		  int64_t *n)
{
	struct kz_share_question q = { .number = ++s->last, .what = (unsigned char)what };
	struct kz_share_answer a;

	if (kz_share_is_lost(s) || !kz_deadline_passed(s->away))
		return false;
	kz_target_print(t, q.at);
	if (send(s->fd, &q, sizeof q, MSG_NOSIGNAL) == sizeof q &&
	    answer_to(s, q.number, kz_deadline_in(KZ_MS(PATIENCE_MS)), &a)) {
		*n = a.n;
		return a.is_known;
	}
	s->away = kz_deadline_in(KZ_MS(AWAY_MS));
	return false;
}

bool kz_share_is_lost(struct kz_share *s)
{
	struct pollfd p = { .fd = s->fd, .events = 0 };

	if (s->fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)))
		lose(s);
	return s->fd < 0;
}

void kz_share_free(struct kz_share *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}
