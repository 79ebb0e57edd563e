/* Running a tool: its command, or its socket. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/proc.h"
#include "core/run/tools_parts.h"
#include "port/json.h"
#include "rule/reason.h"

static enum kz_rc too_large(int64_t max_bytes, struct kz_err *err)
{
	return kz_refuse(err, KZ_R_TOOL_TOO_LARGE,
			 "the result has more than %lld bytes (KZ_CALLBACK_MAX_BYTES)",
			 (long long)max_bytes);
}

static enum kz_rc run_command(const struct kz_json *command, const struct kz_buf *in,
			      struct kz_deadline until, int cancel_fd, struct kz_buf *out,
			      struct kz_err *err)
{
	static const char *const nothing[] = { NULL };
	const char *argv[KZ_TOOL_WORDS + 1] = { NULL };
	kz_auto_close int input = -1;
	struct kz_spawn s = { .argv = argv,
			      .envp = nothing,
			      .cwd = "/",
			      .parent_death_signal = SIGKILL, /* nobody else would end it */
			      .cancel_fd = &cancel_fd };
	struct kz_err why = KZ_ERR_INIT;
	int status = -1;

	for (size_t i = 0; i < kz_json_count(command); i++)
		argv[i] = kz_json_str_value(kz_json_at(command, i));
	if (kz_memory_file_of("kz-arguments", in->data, in->len, &input, &why) != KZ_OK)
		return kz_refuse(err, KZ_R_TOOL_FAILED, "its arguments could not be written");
	s.stdin_fd = input;
	if (kz_proc_run_as(&s, out, NULL, until, &status, &why) != KZ_OK)
		return kz_refuse(err, KZ_R_TOOL_FAILED, "%s",
				 why.rc == KZ_E_TEMPFAIL ? "the tool was not done in time" :
							   "the tool could not be started");
	return status ? kz_refuse(err, KZ_R_TOOL_FAILED, "the tool ended with status %d", status) :
			KZ_OK;
}

/* Wait for one of them. out: KZ_E_TEMPFAIL when it is over */
static enum kz_rc await(int fd, short events, struct kz_deadline until, int cancel_fd)
{
	struct pollfd p[2] = { { fd, events, 0 }, { cancel_fd, POLLIN, 0 } };
	int n;

	do
		n = poll(p, 2, kz_deadline_poll_ms(until));
	while (n < 0 && errno == EINTR);
	return n > 0 && !p[1].revents ? KZ_OK : KZ_E_TEMPFAIL;
}

static enum kz_rc ask_socket(const char *path, const struct kz_buf *in, struct kz_deadline until,
			     int cancel_fd, struct kz_buf *out, struct kz_err *err)
{
	kz_auto_close int fd = -1;
	size_t at = 0;
	char t[16384];
	ssize_t n = 1;

	if (kz_unix_connect(path, until, &fd, NULL) != KZ_OK)
		return kz_refuse(err, KZ_R_TOOL_FAILED, "the tool's socket does not answer");
	while (at < in->len && n > 0 && await(fd, POLLOUT, until, cancel_fd) == KZ_OK) {
		n = send(fd, in->data + at, in->len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
		at += n > 0 ? (size_t)n : 0;
	}
	if (at == in->len)
		shutdown(fd, SHUT_WR);
	while (at == in->len && n > 0 && await(fd, POLLIN, until, cancel_fd) == KZ_OK) {
		n = recv(fd, t, sizeof t, MSG_DONTWAIT);
		if (n > 0 && kz_buf_add(out, t, (size_t)n, NULL) != KZ_OK)
			return KZ_OK; /* full: told as too large */
	}
	return n == 0 ? KZ_OK : kz_refuse(err, KZ_R_TOOL_FAILED, "the tool was not done in time");
}

enum kz_rc kz_tool_run(const struct kz_json *tool, const struct kz_buf *arguments,
		       int64_t max_bytes, struct kz_deadline until, int cancel_fd,
		       struct kz_buf *result, struct kz_err *err)
{
	/* one more than may be, so that too much is seen */
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT((size_t)max_bytes + 1);
	kz_auto_json struct kz_json *value = NULL;
	const struct kz_json *command = kz_json_get(tool, "command");
	enum kz_rc rc = command ? run_command(command, arguments, until, cancel_fd, &out, err) :
				  ask_socket(kz_json_str(tool, "socket", ""), arguments, until,
					     cancel_fd, &out, err);

	if (rc)
		return rc;
	while (out.len && strchr(" \t\r\n", out.data[out.len - 1]))
		out.len--;
	if (out.len > (size_t)max_bytes)
		return too_large(max_bytes, err);
	if (kz_json_parse(out.len ? out.data : "", out.len, &value, NULL) != KZ_OK)
		return kz_refuse(err, KZ_R_TOOL_FAILED, "the tool did not answer with JSON");
	rc = kz_json_write(value, result, NULL);
	return rc ? too_large(max_bytes, err) : KZ_OK;
}
