/* The process that asks, and who waits for it. */
#include "core/gateway/facts.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/aside.h"
#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"
#include "base/where.h"

#define FRESH_MS 1000
#define ANSWER_MAX (1 << 20) /* both lines */
#define PATIENCE KZ_SECONDS(20)

struct kz_facts {
	int fd; /* until it is served */
	struct kz_serve *serve;
	struct kz_conn *conn;
	struct kz_timer *late;
	kz_serve_fn lost;
	void *lost_arg;
	bool is_asked, is_lost, is_replaced;
	struct kz_facts_wait *waits;
	struct kz_json *status, *scope;
	int64_t told_ms; /* 0: never */
};

/* -- the process that asks: it has the rights, and reads one byte -- */

/* The one line that a program prints, or "null". */
static void say(int fd, const char *program, const char *verb)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(ANSWER_MAX / 2 - 2);
	char path[512];
	const char *argv[] = { path, verb, "-j", NULL };
	const char *line = "null", *end;
	int status;

	/* its status tells that admission is closed, or that attention is requested: that is an answer */
	if (kz_where_program(program, path, sizeof path, NULL) == KZ_OK &&
	    kz_proc_run(argv, NULL, 0, &b, NULL, kz_deadline_in(KZ_SECONDS(8)), &status, NULL) ==
		    KZ_OK &&
	    (end = memchr(kz_buf_str(&b), '\n', b.len)) && end > b.data) {
		b.data[end - b.data] = 0;
		line = b.data;
	}
	if (kz_fd_write_all(fd, line, strlen(line), NULL) != KZ_OK ||
	    kz_fd_write_all(fd, "\n", 1, NULL) != KZ_OK)
		_exit(0);
}

/* Has another file taken this one's name? */
static bool is_replaced(const char *path, const struct stat *was)
{
	struct stat is;

	return stat(path, &is) == 0 && (is.st_ino != was->st_ino || is.st_dev != was->st_dev);
}

/* Until there is a question, or the end of the service. out: false at the end, or when the file was replaced (which is told) */
static bool await(int fd, int files, const char *watched, const struct stat *was)
{
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = files, .events = POLLIN } };
	char c, buf[4096];

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return false;
		while (files >= 0 && read(files, buf, sizeof buf) > 0)
			;
		if (is_replaced(watched, was)) {
			(void)!write(fd, "!", 1);
			return false;
		}
		if (p[0].revents)
			return read(fd, &c, 1) == 1;
	}
}

static void answer_for_ever(int fd, const void *arg)
{
	const char *watched = arg;
	int files = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct stat was = { .st_ino = 0 };
	char folder[300];

	if (kz_str_format(folder, sizeof folder, NULL, "%s", watched) == KZ_OK)
		*strrchr(folder, '/') = 0;
	(void)inotify_add_watch(files, folder, IN_MOVED_TO | IN_CREATE);
	(void)stat(watched, &was);
	while (await(fd, files, watched, &was)) {
		say(fd, "kz", "status");
		say(fd, "kz-grant", "scope");
	}
}

enum kz_rc kz_facts_start(struct kz_facts **out, const char *watched, struct kz_err *err)
{
	struct kz_facts *f = calloc(1, sizeof *f);
	enum kz_rc rc;

	if (!f)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	f->fd = -1;
	rc = kz_aside_start("kz-gateway-ask", SOCK_STREAM, answer_for_ever, watched, &f->fd, err);
	if (rc)
		kz_facts_free(f);
	else
		*out = f;
	return rc;
}

bool kz_facts_is_replaced(const struct kz_facts *f)
{
	return f->is_replaced;
}

/* -- who waits -- */

static void tell(struct kz_facts *f)
{
	struct kz_told t = { f->status, f->scope,
			     f->told_ms ? kz_time_boot_ms() - f->told_ms : -1 };
	struct kz_facts_wait *w, *all = kz_take(f->waits);

	while ((w = all)) {
		all = w->next;
		w->told(w->arg, &t);
	}
}

static void ask(struct kz_facts *f)
{
	if (f->is_asked)
		return;
	if (kz_conn_write(f->conn, "?", 1, NULL) != KZ_OK) {
		tell(f);
		return;
	}
	f->is_asked = true;
	(void)kz_timer_at(f->late, kz_deadline_in(PATIENCE), NULL);
}

static bool is_fresh(const struct kz_facts *f)
{
	return f->told_ms && kz_time_boot_ms() - f->told_ms < FRESH_MS;
}

void kz_facts_ask(struct kz_facts *f, struct kz_facts_wait *w)
{
	w->next = f->waits;
	f->waits = w;
	if (f->is_lost || (!f->is_asked && is_fresh(f)))
		tell(f);
	else
		ask(f);
}

void kz_facts_forget(struct kz_facts *f, struct kz_facts_wait *w)
{
	for (struct kz_facts_wait **at = &f->waits; *at; at = &(*at)->next)
		if (*at == w) {
			*at = w->next;
			return;
		}
}

/* An object of the type that was asked for; an error of the program's is none. own: new */
static struct kz_json *object(const char *p, size_t n, const char *type)
{
	struct kz_json *o = NULL;

	if (kz_json_parse(p, n, &o, NULL) == KZ_OK && strcmp(kz_json_str(o, "type", ""), type) != 0)
		kz_json_free(kz_take(o));
	return o;
}

static void forget_all(struct kz_facts *f)
{
	kz_json_free(kz_take(f->status));
	kz_json_free(kz_take(f->scope));
	f->told_ms = 0;
}

static void on_data(void *arg)
{
	struct kz_facts *f = arg;
	size_t n = kz_conn_ready(f->conn);
	const char *p = kz_conn_peek(f->conn, n);
	const char *first = p ? memchr(p, '\n', n) : NULL;
	const char *second = first ? memchr(first + 1, '\n', n - (size_t)(first + 1 - p)) : NULL;

	if (p && *p == '!')
		f->is_replaced = true;
	if (!second)
		return;
	forget_all(f);
	f->status = object(p, (size_t)(first - p), "status");
	f->scope = object(first + 1, (size_t)(second - first - 1), "scope");
	f->told_ms = kz_time_boot_ms();
	kz_conn_drop(f->conn, n);
	f->is_asked = false;
	(void)kz_timer_at(f->late, KZ_NEVER, NULL);
	tell(f);
}

/* Nothing came in time: nothing is known; what comes later is. */
static void on_late(void *arg)
{
	struct kz_facts *f = arg;

	forget_all(f);
	tell(f);
}

static void on_closed(void *arg)
{
	struct kz_facts *f = arg;

	f->is_lost = true;
	on_late(f);
	f->lost(f->lost_arg);
}

enum kz_rc kz_facts_serve(struct kz_facts *f, struct kz_serve *s, kz_serve_fn lost, void *arg,
			  struct kz_err *err)
{
	static const struct kz_conn_calls calls = { on_data, NULL, on_closed };

	f->serve = s;
	f->lost = lost;
	f->lost_arg = arg;
	f->late = kz_timer_new(s, on_late, f);
	f->conn = kz_conn_new(s, kz_take_fd(&f->fd), ANSWER_MAX, &calls, f);
	return f->late && f->conn ? KZ_OK : kz_err_set(err, KZ_E_OS, "out of memory");
}

void kz_facts_free(struct kz_facts *f)
{
	if (!f)
		return;
	forget_all(f);
	kz_timer_free(f->late);
	kz_conn_free(f->conn);
	if (f->fd >= 0 && !f->conn)
		close(f->fd);
	free(f);
}
