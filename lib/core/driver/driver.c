#include "core/driver/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"

#define REPLY_MAX (16 << 20)   /* an inventory of many workers */
#define REQUEST_MAX (32 << 10) /* fits a pipe: sending never waits */
#define GRACE_MS 2000          /* between a driver's answer and its end */

struct kz_driver_job {
	pid_t pid; /* 0 when it was waited for */
	int pidfd;
	int out;    /* its standard output, -1 after its end */
	int timer;  /* until, then the grace */
	int events; /* epoll over all three: what kz_driver_fd gives */
	struct kz_deadline until;
	struct kz_buf line;
	bool is_answered;
};

static void job_end(struct kz_driver_job *j)
{
	if (j->pid > 0) {
		/* Its own session: what it started goes with it. */
		kill(-j->pid, SIGKILL);
		kill(j->pid, SIGKILL);
		while (waitpid(j->pid, NULL, 0) < 0 && errno == EINTR)
			;
		j->pid = 0;
	}
}

void kz_driver_free(struct kz_driver_job *j)
{
	int fds[4];

	if (!j)
		return;
	job_end(j);
	fds[0] = j->pidfd;
	fds[1] = j->out;
	fds[2] = j->timer;
	fds[3] = j->events;
	for (size_t i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	kz_buf_release(&j->line);
	free(j);
}

static struct kz_driver_job *job_new(struct kz_deadline until)
{
	struct kz_driver_job *j = calloc(1, sizeof *j);

	if (!j)
		return NULL;
	j->pidfd = j->out = j->timer = j->events = -1;
	j->until = until;
	kz_buf_init(&j->line, REPLY_MAX);
	return j;
}

static enum kz_rc watch(const struct kz_driver_job *j, int fd, struct kz_err *err)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(j->events, EPOLL_CTL_ADD, fd, &e) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot watch the driver");
	return KZ_OK;
}

static enum kz_rc set_timer(const struct kz_driver_job *j, struct kz_deadline until,
			    struct kz_err *err)
{
	int64_t ms = kz_deadline_left(until).ms;
	struct itimerspec t = { .it_value = { ms / 1000, ms % 1000 * 1000000 + 1 } };

	if (until.boot_ms == KZ_NEVER.boot_ms)
		return KZ_OK;
	if (timerfd_settime(j->timer, 0, &t, NULL) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot set a timer");
	return KZ_OK;
}

static enum kz_rc job_watch(struct kz_driver_job *j, struct kz_err *err)
{
	j->events = epoll_create1(EPOLL_CLOEXEC);
	j->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (j->events < 0 || j->timer < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot watch the driver");
	if (set_timer(j, j->until, err) || watch(j, j->timer, err) || watch(j, j->pidfd, err) ||
	    watch(j, j->out, err))
		return err ? err->rc : KZ_E_OS;
	return kz_fd_set_nonblock(j->out, err);
}

/* Nothing of the caller's environment reaches a driver but the place of the state. */
static enum kz_rc spawn(struct kz_driver_job *j, const char *program, const char *state, int in,
			int out, struct kz_err *err)
{
	char place[300];
	const char *argv[] = { program, NULL };
	const char *envp[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			       place, NULL };
	struct kz_spawn s = { .argv = argv,
			      .envp = envp,
			      .stdin_fd = in,
			      .stdout_fd = out,
			      .stderr_fd = STDERR_FILENO,
			      .new_session = true,
			      .parent_death_signal = SIGKILL };

	if (kz_str_format(place, sizeof place, err, "KZ_STATE=%s", state))
		return KZ_E_DATA;
	return kz_proc_spawn(&s, &j->pid, &j->pidfd, err);
}

static enum kz_rc send_request(int fd, const struct kz_json *request, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(REQUEST_MAX);
	struct kz_err inner = KZ_ERR_INIT;

	if (kz_json_write(request, &text, err) || kz_buf_add(&text, "\n", 1, err))
		return err ? err->rc : KZ_E_DATA;
	/* A driver that died before reading is noticed by its missing answer. */
	if (kz_fd_write_all(fd, text.data, text.len, &inner) && inner.sys_errno != EPIPE) {
		if (err)
			*err = inner;
		return inner.rc;
	}
	return KZ_OK;
}

static enum kz_rc make_pipe(int *reader, int *writer, struct kz_err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a pipe");
	*reader = ends[0];
	*writer = ends[1];
	return KZ_OK;
}

enum kz_rc kz_driver_start(const char *program, const char *state, const struct kz_json *request,
			   struct kz_deadline until, struct kz_driver_job **out, struct kz_err *err)
{
	struct kz_driver_job *j = job_new(until);
	kz_auto_close int in_read = -1;
	kz_auto_close int in_write = -1;
	kz_auto_close int out_write = -1;
	enum kz_rc rc;

	if (!j)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	rc = make_pipe(&in_read, &in_write, err);
	if (!rc)
		rc = make_pipe(&j->out, &out_write, err);
	if (!rc)
		rc = send_request(in_write, request, err);
	if (!rc)
		rc = spawn(j, program, state, in_read, out_write, err);
	if (!rc)
		rc = job_watch(j, err);
	if (rc) {
		kz_driver_free(j);
		return rc;
	}
	*out = j;
	return KZ_OK;
}

int kz_driver_fd(const struct kz_driver_job *j)
{
	return j->events;
}

/* A reply of our own, for a driver that gave none (new). */
static struct kz_json *no_reply(enum kz_reason r, const char *text)
{
	struct kz_json *j = kz_json_object();

	kz_json_set_int(j, "v", 1);
	kz_json_set_bool(j, "ok", false);
	kz_json_set_str(j, "answer", "unknown");
	kz_json_set_str(j, "reason", kz_reason_code(r));
	kz_json_set_str(j, "text", text);
	return j;
}

/* Anything but a clear word is unknown [POOL-25]. */
static enum kz_answer answer_of(const struct kz_json *reply)
{
	const char *a = kz_json_str(reply, "answer", "");

	if (kz_str_eq(a, "present"))
		return KZ_ANSWER_PRESENT;
	if (kz_str_eq(a, "absent"))
		return KZ_ANSWER_ABSENT;
	return !a[0] && kz_json_flag(reply, "ok", false) ? KZ_ANSWER_PRESENT : KZ_ANSWER_UNKNOWN;
}

/* Take what has come; true when the line is whole or nothing more will come. */
static bool take_output(struct kz_driver_job *j)
{
	char block[16 << 10];
	ssize_t n = 0;

	while (j->out >= 0 && !j->is_answered) {
		n = read(j->out, block, sizeof block);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n <= 0 || kz_buf_add(&j->line, block, (size_t)n, NULL))
			break;
		j->is_answered = memchr(block, '\n', (size_t)n) != NULL;
	}
	if (j->out >= 0)
		close(kz_take_fd(&j->out));
	return true;
}

static bool has_ended(struct kz_driver_job *j)
{
	if (j->pid > 0 && waitpid(j->pid, NULL, WNOHANG) == j->pid)
		j->pid = 0;
	return j->pid == 0;
}

static enum kz_rc conclude(struct kz_driver_job *j, struct kz_json **reply, enum kz_answer *answer,
			   struct kz_err *err)
{
	struct kz_err inner = KZ_ERR_INIT;

	job_end(j);
	*reply = NULL;
	if (!j->is_answered)
		*reply = no_reply(KZ_R_DRIVER_FAILED, kz_deadline_passed(j->until) ?
							      "the driver did not answer in time" :
							      "the driver ended without an answer");
	else if (kz_json_parse(j->line.data, strcspn(j->line.data, "\n"), reply, &inner) ||
		 !kz_json_is_object(*reply)) {
		kz_json_free(*reply);
		*reply = no_reply(KZ_R_DRIVER_PROTOCOL, inner.rc ? inner.text : "not an object");
	}
	if (!*reply)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	*answer = answer_of(*reply);
	return KZ_OK;
}

enum kz_rc kz_driver_poll(struct kz_driver_job *j, bool *done, struct kz_json **reply,
			  enum kz_answer *answer, struct kz_err *err)
{
	bool was_answered = j->is_answered;
	bool is_complete = take_output(j);

	*done = false;
	if (j->is_answered && !was_answered)
		/* It has spoken; what is left is to leave, and not to wait long for that. */
		if (set_timer(j, kz_deadline_min(j->until, kz_deadline_in(KZ_MS(GRACE_MS))), err))
			return err ? err->rc : KZ_E_OS;
	if (!has_ended(j)) {
		uint64_t ticks;
		bool is_due = read(j->timer, &ticks, sizeof ticks) == (ssize_t)sizeof ticks;

		if (!is_due && !kz_deadline_passed(j->until))
			return KZ_OK;
	} else if (!is_complete && !kz_deadline_passed(j->until)) {
		/* Gone, but what it wrote last may still be in the pipe: one more look. */
		take_output(j);
	}
	*done = true;
	return conclude(j, reply, answer, err);
}

enum kz_rc kz_driver_call(const char *program, const char *state, const struct kz_json *request,
			  struct kz_deadline until, struct kz_json **reply, enum kz_answer *answer,
			  struct kz_err *err)
{
	struct kz_driver_job *j = NULL;
	bool done = false;
	enum kz_rc rc = kz_driver_start(program, state, request, until, &j, err);

	while (!rc && !done) {
		/* The job's own timer ends it; this wait needs no deadline of its own. */
		rc = kz_fd_wait(kz_driver_fd(j), POLLIN, KZ_NEVER, err);
		if (!rc)
			rc = kz_driver_poll(j, &done, reply, answer, err);
	}
	kz_driver_free(j);
	return rc;
}
