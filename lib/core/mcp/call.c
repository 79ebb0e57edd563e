/* A program per call; its lines are read as they come. */
#include "core/mcp/call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"
#include "rule/reason.h"

#define LINE_MAX_BYTES (20 << 20) /* a record has 16 MiB at most */
#define CHUNKS_AT_ONCE 16

static enum kz_rc spawn(struct kz_mcp_call *c, const struct kz_mcp_ask *ask,
			const struct kz_mcp_command *command, struct kz_err *err)
{
	kz_auto_close int in = -1, near = -1, far = -1;
	struct kz_spawn s = { .argv = command->argv,
			      .envp = ask->env,
			      .stderr_fd = 2,
			      .new_session = true,
			      .parent_death_signal = SIGTERM };
	int ends[2], keep[KZ_MCP_INPUTS];
	enum kz_rc rc = KZ_OK;

	if (command->input) /* a file: read at the program's own pace */
		rc = kz_memory_file_of("kz-mcp", command->input, strlen(command->input), &in, err);
	if (!rc && pipe2(ends, O_CLOEXEC) < 0)
		rc = kz_err_sys(err, KZ_E_OS, "cannot make a pipe");
	if (rc)
		return rc;
	near = ends[0];
	far = ends[1];
	rc = kz_fd_set_nonblock(near, err);
	s.stdin_fd = in;
	s.stdout_fd = far;
	for (size_t i = 0; i < command->input_count; i++)
		keep[i] = command->inputs[i].fd;
	s.keep_fds = keep;
	s.keep_count = (int)command->input_count;
	if (!rc)
		rc = kz_proc_spawn(&s, &c->pid, &c->pidfd, err);
	if (!rc)
		c->out_fd = kz_take_fd(&near);
	return rc;
}

enum kz_rc kz_mcp_call_start(struct kz_mcp_call **out, const struct kz_mcp_ask *ask,
			     const struct kz_mcp_keep *keep, enum kz_mcp_tool tool,
			     const struct kz_json *arguments, struct kz_err *err)
{
	struct kz_mcp_call *c = calloc(1, sizeof(*c));
	struct kz_mcp_command *command = calloc(1, sizeof(*command));
	enum kz_rc rc = KZ_OK;

	*out = NULL;
	if (!c || !command) {
		free(c);
		free(command);
		return kz_refuse(err, KZ_R_SYSTEM_FAILED, "memory is out");
	}
	*c = (struct kz_mcp_call){
		.tool = tool, .pidfd = -1, .out_fd = -1, .told = -1, .keep = keep
	};
	c->outputs.dir_fd = c->outputs.mark_fd = -1;
	kz_buf_init(&c->line, LINE_MAX_BYTES);
	if (kz_json_count(kz_json_get(arguments, "outputs")))
		rc = kz_mcp_outputs_begin(&c->outputs, ask, keep, err);
	if (!rc)
		rc = kz_mcp_command(command, tool, ask, arguments, c->outputs.dir, err);
	if (!rc)
		rc = spawn(c, ask, command, err);
	kz_mcp_command_release(command);
	free(command);
	if (rc && !err->reason[0])
		kz_err_reason(err, kz_reason_code(KZ_R_SYSTEM_FAILED));
	if (rc)
		kz_mcp_call_free(kz_take(c));
	*out = c;
	return rc;
}

static void keep(struct kz_json **to, struct kz_json **from)
{
	kz_json_free(*to);
	*to = kz_take(*from);
}

static void add_file(struct kz_mcp_call *c, struct kz_json **o)
{
	if (!c->files)
		c->files = kz_json_array();
	if (kz_json_count(c->files) < KZ_MCP_FILES_MAX)
		kz_json_append(c->files, kz_take(*o));
	else
		c->files_omitted++;
}

static void take_line(struct kz_mcp_call *c, const char *p, size_t n)
{
	kz_auto_json struct kz_json *o = NULL;
	const char *type;

	if (kz_json_parse(p, n, &o, NULL))
		return;
	type = kz_json_str(o, "type", "");
	if (kz_str_eq(type, "output")) {
		const char *text = kz_json_str(o, "text", "");

		c->bytes += (int64_t)(strlen(text) + strlen(kz_json_str(o, "base64", "")) / 4 * 3);
	} else if (kz_str_eq(type, "error")) {
		keep(&c->error, &o);
	} else if (kz_str_eq(type, "file")) {
		add_file(c, &o);
	} else if (kz_str_eq(type, "record") || !kz_mcp_tool_is_run(c->tool)) {
		keep(&c->last, &o);
	} else {
		c->steps++;
	}
}

static void take_lines(struct kz_mcp_call *c)
{
	size_t at = 0;
	const char *lf;

	while (c->line.len > at && (lf = memchr(c->line.data + at, '\n', c->line.len - at))) {
		size_t n = (size_t)(lf - c->line.data) - at;

		if (!c->is_overlong)
			take_line(c, c->line.data + at, n);
		at += n + 1;
	}
	if (at)
		kz_buf_drop(&c->line, at);
}

void kz_mcp_call_read(struct kz_mcp_call *c)
{
	char chunk[65536];
	ssize_t n = -1;

	for (int i = 0; i < CHUNKS_AT_ONCE && c->out_fd >= 0; i++) {
		n = read(c->out_fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (kz_buf_add(&c->line, chunk, (size_t)n, NULL)) {
			c->is_overlong = true;
			kz_buf_clear(&c->line);
		}
		take_lines(c);
	}
	if (n == 0) {
		close(c->out_fd);
		c->out_fd = -1;
	}
}

bool kz_mcp_call_has_ended(struct kz_mcp_call *c)
{
	struct kz_err err = KZ_ERR_INIT;

	if (c->pid && kz_proc_wait(c->pid, c->pidfd, kz_deadline_in(KZ_MS(0)), &c->status, &err))
		return false;
	c->pid = 0;
	return true;
}

void kz_mcp_call_cancel(struct kz_mcp_call *c)
{
	if (!c->is_cancelled && c->pid)
		kill(c->pid, SIGTERM);
	c->is_cancelled = true;
}

void kz_mcp_call_free(struct kz_mcp_call *c)
{
	if (!c)
		return;
	kz_mcp_outputs_end(&c->outputs, c->keep);
	if (c->out_fd >= 0)
		close(c->out_fd);
	if (c->pidfd >= 0)
		close(c->pidfd);
	kz_buf_release(&c->line);
	kz_json_free(c->id);
	kz_json_free(c->token);
	kz_json_free(c->last);
	kz_json_free(c->error);
	kz_json_free(c->files);
	free(c);
}
