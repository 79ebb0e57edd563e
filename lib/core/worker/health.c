/* Health of many workers at once: a hung one costs its own second, not everybody's. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "core/worker/wire.h"

#define AT_ONCE 256            /* descriptors */
#define CONNECT_MOST KZ_MS(20) /* a worker that listens is connected at once */
#define HEAD_MOST 4096

struct asking {
	struct kz_wk *w[AT_ONCE];
	struct pollfd fds[AT_ONCE];
	struct kz_wk_ask *asks;
	size_t count, open;
};

static void done(struct asking *a, size_t i)
{
	kz_wk_close(a->w[i]);
	a->w[i] = NULL;
	a->fds[i].fd = -1; /* poll passes over it */
	a->open--;
}

static void begin(struct asking *a, struct kz_deadline until)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct kz_wk_ask *ask = &a->asks[i];
		struct kz_deadline soon = kz_deadline_min(until, kz_deadline_in(CONNECT_MOST));

		a->fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
		a->w[i] = NULL;
		if (kz_wk_open(&a->w[i], ask->socket_path, ask->secret, soon, NULL) != KZ_OK)
			continue;
		a->open++;
		if (kz_wire_head(a->w[i], "GET", "/v1/health", 0, soon, NULL) != KZ_OK)
			done(a, i);
		else
			a->fds[i].fd = a->w[i]->fd;
	}
}

/* Has everything come that the head promises?  A head that promises nothing is judged as it is. */
static bool is_whole(const struct kz_wk *w)
{
	const char *end = w->in.len ? memmem(w->in.data, w->in.len, "\r\n\r\n", 4) : NULL;
	char head[HEAD_MOST];
	const char *length;
	size_t n;

	if (!end)
		return w->in.len > HEAD_MOST;
	n = (size_t)(end - w->in.data);
	if (n >= sizeof(head))
		return true;
	memcpy(head, w->in.data, n);
	head[n] = '\0';
	length = strcasestr(head, "\r\ncontent-length:");
	return !length || w->in.len - n - 4 >= strtoull(strchr(length, ':') + 1, NULL, 10);
}

static void take(struct asking *a, size_t i)
{
	const struct kz_deadline now = kz_deadline_in(KZ_MS(0));
	struct kz_wk *w = a->w[i];
	int status = 0;
	int64_t n = 0;

	if (kz_wire_more(w, now, NULL) != KZ_OK) {
		done(a, i);
		return;
	}
	if (!is_whole(w))
		return;
	if (kz_wire_answer(w, now, &status, &n, NULL) == KZ_OK && status == 200)
		(void)kz_wire_json(w, n, now, &a->asks[i].health, NULL);
	done(a, i);
}

static void ask_batch(struct asking *a, struct kz_deadline until)
{
	begin(a, until);
	while (a->open && !kz_deadline_passed(until)) {
		if (poll(a->fds, a->count, kz_deadline_poll_ms(until)) <= 0)
			continue; /* interrupted, or over */
		for (size_t i = 0; i < a->count; i++)
			if (a->w[i] && a->fds[i].revents)
				take(a, i);
	}
	for (size_t i = 0; i < a->count; i++)
		if (a->w[i])
			done(a, i);
}

enum kz_rc kz_wk_health_all(struct kz_wk_ask *asks, size_t count, struct kz_ms each,
			    struct kz_deadline until, struct kz_err *err)
{
	struct asking *a = calloc(1, sizeof(*a));

	if (!a)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	for (size_t at = 0; at < count && !kz_deadline_passed(until); at += a->count) {
		a->asks = asks + at;
		a->count = count - at < AT_ONCE ? count - at : AT_ONCE;
		a->open = 0;
		for (size_t i = 0; i < a->count; i++)
			a->asks[i].is_asked = true;
		ask_batch(a, kz_deadline_min(until, kz_deadline_in(each)));
	}
	free(a);
	return KZ_OK;
}
