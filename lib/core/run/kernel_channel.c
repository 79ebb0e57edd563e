/* A thread that hears a kernel cell: calls are answered one after the other, the report is kept. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "core/run/kernel_parts.h"
#include "core/run/kernel_report.h"
#include "rule/reason.h"

/* A line beside the arguments that it carries; a report has less. */
#define LINE_ROOM (512 << 10)

struct kz_kernel_channel {
	struct kz_tools *tools;
	int fd, far_fd, over_fd;
	pthread_t thread;
	struct kz_buf in;
	bool is_long;       /* the line at hand is too long: its rest is dropped */
	bool is_limit_told; /* one line of the log is enough for all calls over a limit */
	int64_t generation;
	struct kz_json *report;
};

static bool is_over(const struct kz_kernel_channel *c)
{
	struct pollfd p = { c->over_fd, POLLIN, 0 };

	return poll(&p, 1, 0) > 0;
}

/* {"id","result"} or {"id","error":{"reason","text"}}, and a line end. */
static enum kz_rc write_answer(int64_t id, const struct kz_buf *result, const struct kz_err *why,
			       struct kz_buf *out)
{
	kz_auto_json struct kz_json *e = kz_json_object();
	enum kz_rc rc = kz_buf_printf(out, NULL, "{\"id\":%lld,", (long long)id);

	if (!rc && !why->rc)
		rc = kz_buf_printf(out, NULL, "\"result\":");
	if (!rc && !why->rc)
		rc = kz_buf_add(out, result->data, result->len, NULL);
	if (!rc && why->rc) {
		kz_json_set_str(e, "reason", why->reason);
		kz_json_set_str(e, "text", why->text);
		rc = kz_buf_printf(out, NULL, "\"error\":");
	}
	if (!rc && why->rc)
		rc = kz_json_write(e, out, NULL);
	return rc ? rc : kz_buf_add(out, "}\n", 2, NULL);
}

static void send_answer(struct kz_kernel_channel *c, int64_t id, const struct kz_buf *result,
			const struct kz_err *why)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT((size_t)c->tools->max_bytes + 4096);

	if (!is_over(c) && write_answer(id, result, why, &out) == KZ_OK)
		(void)kz_fd_write_until(c->fd, out.data, out.len, KZ_NEVER, NULL);
}

/* What a cell called a tool is its own text until a tool of that name was found. */
static void log_call(struct kz_kernel_channel *c, const char *tool, const struct kz_err *why)
{
	bool is_limit = kz_str_eq(why->reason, kz_reason_code(KZ_R_TOOL_LIMIT));
	bool is_known = !is_limit && !kz_str_eq(why->reason, kz_reason_code(KZ_R_TOOL_UNKNOWN));

	if (is_limit && c->is_limit_told)
		return;
	c->is_limit_told = is_limit;
	kz_log(KZ_LOG_INFO, "tool called", "tool", is_known ? tool : NULL, "reason",
	       why->rc ? why->reason : "ok", NULL);
}

/* A line that is nothing that a cell may say. One that waits for an answer to it is told, and does not wait for ever. */
static void refuse_line(struct kz_kernel_channel *c, enum kz_reason r, const char *text)
{
	struct kz_err why = KZ_ERR_INIT;

	if (is_over(c))
		return;
	kz_refuse(&why, r, "%s", text);
	kz_tools_refused(c->tools, why.reason);
	send_answer(c, 0, NULL, &why);
}

static void answer(struct kz_kernel_channel *c, const struct kz_kernel_call *call)
{
	kz_auto_buf struct kz_buf result = KZ_BUF_INIT((size_t)c->tools->max_bytes);
	struct kz_err why = KZ_ERR_INIT;

	if (is_over(c))
		return; /* whose run has ended gets no answer [CB-8] */
	(void)kz_tools_call(c->tools, call->tool, call->arguments, c->over_fd, &result, &why);
	log_call(c, call->tool, &why);
	send_answer(c, call->id, &result, &why);
}

static void take_line(struct kz_kernel_channel *c, const char *p, size_t n)
{
	struct kz_kernel_call call = { 0 };
	struct kz_json *report = NULL;
	int64_t generation = -1;

	switch (kz_kernel_line_read(p, n, &generation, &call, &report)) {
	case KZ_KERNEL_LINE_STATE: c->generation = generation; break;
	case KZ_KERNEL_LINE_CALL:
		answer(c, &call);
		kz_json_free(call.line);
		break;
	case KZ_KERNEL_LINE_REPORT:
		kz_json_free(c->report);
		c->report = report;
		break;
	case KZ_KERNEL_LINE_BAD:
		refuse_line(
			c, KZ_R_TOOL_FAILED,
			"the call cannot be read: a NUL, half a character, a number over 64 bits, "
			"or more than 64 levels");
		break;
	}
}

/* Each byte is looked at once, however the lines are cut. */
static void take(struct kz_kernel_channel *c, const char *p, size_t n)
{
	while (n) {
		const char *end = memchr(p, '\n', n);
		size_t len = end ? (size_t)(end - p) : n, whole = len + (end != NULL);

		c->is_long = c->is_long || kz_buf_add(&c->in, p, len, NULL) != KZ_OK;
		if (end && c->is_long)
			refuse_line(c, KZ_R_TOOL_TOO_LARGE, "the line has too many bytes");
		else if (end && c->in.len)
			take_line(c, c->in.data, c->in.len);
		if (end || c->is_long)
			kz_buf_clear(&c->in);
		c->is_long = c->is_long && !end;
		p += whole;
		n -= whole;
	}
}

static void *serve(void *arg)
{
	struct kz_kernel_channel *c = arg;
	char t[16384];

	for (;;) {
		ssize_t n = read(c->fd, t, sizeof t);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (kz_fd_wait(c->fd, POLLIN, KZ_NEVER, NULL) != KZ_OK)
				return NULL;
			continue;
		}
		if (n <= 0)
			return NULL;
		take(c, t, (size_t)n);
	}
}

static void release(struct kz_kernel_channel *c)
{
	kz_auto_close_(&c->fd);
	kz_auto_close_(&c->far_fd);
	kz_auto_close_(&c->over_fd);
	kz_buf_release(&c->in);
	kz_json_free(c->report);
	free(c);
}

enum kz_rc kz_kernel_channel_start(struct kz_kernel_channel **out, struct kz_tools *tools, int *fd,
				   struct kz_err *err)
{
	struct kz_kernel_channel *c = calloc(1, sizeof(*c));
	int pair[2];

	if (!c)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	*c = (struct kz_kernel_channel){ .tools = tools, .generation = -1 };
	c->fd = c->far_fd = c->over_fd = -1;
	kz_buf_init(&c->in, (size_t)tools->max_bytes + LINE_ROOM);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0) {
		c->fd = pair[0];
		c->far_fd = pair[1];
		c->over_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	}
	if (c->over_fd < 0 || pthread_create(&c->thread, NULL, serve, c)) {
		release(c);
		return kz_err_set(err, KZ_E_OS, "cannot make the channel of the kernel");
	}
	*fd = c->far_fd;
	*out = c;
	return KZ_OK;
}

void kz_kernel_channel_over(struct kz_kernel_channel *c)
{
	uint64_t one = 1;

	if (write(c->over_fd, &one, sizeof one) < 0)
		return; /* it is readable already */
}

void kz_kernel_channel_free(struct kz_kernel_channel *c, int64_t *generation,
			    struct kz_json **report)
{
	kz_kernel_channel_over(c);
	(void)shutdown(c->far_fd, SHUT_RDWR);
	pthread_join(c->thread, NULL);
	*generation = c->generation;
	*report = kz_take(c->report);
	release(c);
}
