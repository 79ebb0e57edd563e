/* How the proxy is, as JSON over HTTP. */
#include "core/egress/proxy_health.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "port/json.h"

#define PATIENCE KZ_SECONDS(2)
#define LOOK_MS 200

static struct kz_json *body(struct kz_px_shared *s)
{
	struct kz_json *o = kz_json_object(), *kids = kz_json_array(), *audit = kz_json_object();
	struct kz_px_world *w;

	pthread_mutex_lock(&s->lock);
	w = kz_px_world_take(s->world);
	pthread_mutex_unlock(&s->lock);
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "proxy");
	kz_json_set_bool(o, "ready", kz_px_world_ready(w) && !atomic_load(&s->is_draining));
	for (size_t i = 0; w->keys && i < kz_keyring_count(w->keys); i++)
		kz_json_append(kids, kz_json_string(kz_keyring_kid(w->keys, i)));
	kz_json_set(o, "kids", kids);
	kz_json_set_int(o, "revocation_serial", w->revoked ? w->serial : 0);
	kz_json_set_int(o, "settings", (int64_t)w->number);
	kz_json_set_int(o, "connections", (int64_t)atomic_load(&s->book.connections));
	kz_json_set_int(o, "connections_most", (int64_t)s->book.most);
	kz_json_set_int(o, "tunnels", (int64_t)atomic_load(&s->book.tunnels));
	kz_json_set_int(o, "names", (int64_t)kz_px_book_names(&s->book));
	kz_json_set_int(o, "accepted", (int64_t)atomic_load(&s->book.accepted));
	kz_json_set_int(o, "refused", (int64_t)atomic_load(&s->book.refused));
	kz_json_set_int(o, "relayed_bytes", (int64_t)atomic_load(&s->book.bytes));
	kz_json_set_int(audit, "written", (int64_t)atomic_load(&s->audit.written));
	kz_json_set_int(audit, "lost", (int64_t)atomic_load(&s->audit.lost));
	kz_json_set_bool(audit, "failing", atomic_load(&s->audit.is_failing));
	kz_json_set(o, "audit", audit);
	kz_px_world_give(w);
	return o;
}

static void say(int fd, const char *status, const char *text, struct kz_deadline until)
{
	char head[160];
	int n = snprintf(head, sizeof head,
			 "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
			 "Connection: close\r\n\r\n",
			 status, strlen(text));

	if (kz_fd_write_until(fd, head, (size_t)n, until, NULL) == KZ_OK)
		(void)kz_fd_write_until(fd, text, strlen(text), until, NULL);
}

/* One question, one answer. */
static void serve(struct kz_px_shared *s, int fd)
{
	struct kz_deadline until = kz_deadline_in(PATIENCE);
	kz_auto_json struct kz_json *o = NULL;
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(65536);
	struct kz_httphead h;
	char in[4096];
	size_t len = 0;
	enum kz_head_rc rc = KZ_HEAD_MORE;

	while (rc == KZ_HEAD_MORE && len < sizeof in) {
		ssize_t n;

		if (kz_fd_wait(fd, POLLIN, until, NULL) != KZ_OK)
			return;
		n = recv(fd, in + len, sizeof in - len, MSG_DONTWAIT);
		if (n <= 0)
			return;
		len += (size_t)n;
		rc = kz_httphead_parse(in, len, &h);
	}
	if (rc != KZ_HEAD_OK || !kz_slice_is(h.method, "GET")) {
		say(fd, "400 Bad Request", "{}\n", until);
	} else if (!kz_slice_is(h.target, "/v1/health")) {
		say(fd, "404 Not Found", "{}\n", until);
	} else {
		o = body(s);
		if (kz_json_write(o, &text, NULL) == KZ_OK &&
		    kz_buf_puts(&text, "\n", NULL) == KZ_OK)
			say(fd, "200 OK", kz_buf_str(&text), until);
	}
	(void)shutdown(fd, SHUT_WR);
}

static void *run(void *arg)
{
	struct kz_px_health *h = arg;

	while (!atomic_load(&h->shared->is_over)) {
		struct pollfd p = { .fd = h->listener, .events = POLLIN };
		kz_auto_close int fd = -1;

		if (poll(&p, 1, LOOK_MS) <= 0)
			continue;
		fd = accept4(h->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			serve(h->shared, fd);
	}
	return NULL;
}

enum kz_rc kz_px_health_start(struct kz_px_health *h, struct kz_px_shared *s, int listener,
			      struct kz_err *err)
{
	*h = (struct kz_px_health){ .shared = s, .listener = listener };
	return pthread_create(&h->thread, NULL, run, h) == 0 ?
		       KZ_OK :
		       kz_err_set(err, KZ_E_OS, "no thread for the health answer");
}

void kz_px_health_stop(struct kz_px_health *h)
{
	pthread_join(h->thread, NULL);
}
