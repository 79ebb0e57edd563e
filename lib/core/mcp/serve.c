/* The loop: client, signals, and the programs that do the work. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sig.h"
#include "base/time.h"
#include "core/mcp/answer.h"
#include "core/mcp/server.h"
#include "rule/reason.h"

#define FDS_MAX (3 + 2 * KZ_MCP_CALLS)
#define TICK_MS 250  /* progress that was held back is told then */
#define PIECE 4096   /* what a pipe that is ready takes without waiting */
#define END_MS 60000 /* runs that were asked to end give their workers back meanwhile */

static void end(struct kz_mcp_server *s)
{
	s->is_ending = true;
	for (size_t i = 0; i < s->call_count; i++)
		kz_mcp_call_cancel(s->calls[i]);
}

/* Nobody hears what is left to say. */
static void give_up(struct kz_mcp_server *s)
{
	end(s);
	kz_buf_clear(&s->out);
	s->sent = 0;
}

/* A socket is asked not to wait; a pipe that is ready takes a small piece at once. */
static ssize_t put(int fd, const char *p, size_t n)
{
	ssize_t done = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	return done < 0 && errno == ENOTSOCK ? write(fd, p, n < PIECE ? n : PIECE) : done;
}

/* A part of a line that is too long: nothing is kept of it but who asked. */
static void skip(struct kz_mcp_server *s, const char *p, size_t n)
{
	if (!s->is_skipping)
		s->skipped = (struct kz_mcp_scan){ .depth = 0 };
	s->is_skipping = true;
	kz_mcp_scan(&s->skipped, p, n);
}

/* That line is over, and refused. */
static void refuse_skipped(struct kz_mcp_server *s)
{
	kz_auto_json struct kz_json *id = kz_mcp_scan_id(&s->skipped);

	s->is_skipping = false;
	kz_mcp_send_error(s, id, KZ_MCP_INVALID_REQUEST, "a message has 4 MiB at most", NULL);
}

/* One line, or the end of one that may be none. */
static void take_line(struct kz_mcp_server *s, const char *p, size_t n)
{
	if (s->is_skipping) {
		skip(s, p, n);
		refuse_skipped(s);
	} else if (n) {
		kz_mcp_handle(s, p, n);
	}
}

static bool is_full(const struct kz_mcp_server *s)
{
	return s->out.len - s->sent > KZ_MCP_OUT_ENOUGH;
}

/* All that are there; where a client asks faster than it reads, the rest waits for it. */
static void take_lines(struct kz_mcp_server *s)
{
	size_t at = 0;
	const char *lf;

	while (!is_full(s) && s->in.len > at &&
	       (lf = memchr(s->in.data + at, '\n', s->in.len - at))) {
		size_t n = (size_t)(lf - s->in.data) - at;

		take_line(s, s->in.data + at, n);
		at += n + 1;
	}
	if (at)
		kz_buf_drop(&s->in, at);
}

/* in: seen: what poll says of the client's end */
static void flush(struct kz_mcp_server *s, short seen)
{
	size_t left = s->out.len - s->sent;
	ssize_t n = left ? put(s->ask->out_fd, s->out.data + s->sent, left) : 0;

	if (n > 0)
		s->sent += (size_t)n;
	else if (n < 0 ? errno != EAGAIN && errno != EINTR : seen & (POLLERR | POLLHUP | POLLNVAL))
		s->is_gone = true;
	/* dropped in large pieces: the rest is moved each time */
	if (s->sent == s->out.len || s->sent > KZ_MCP_OUT_ENOUGH) {
		kz_buf_drop(&s->out, s->sent);
		s->sent = 0;
	}
	if (!s->is_ending)
		take_lines(s);
}

static void listen_to_client(struct kz_mcp_server *s)
{
	char chunk[65536];
	ssize_t n = read(s->ask->in_fd, chunk, sizeof(chunk));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		if (s->is_skipping)
			refuse_skipped(s);
		end(s);
		return;
	}
	if (kz_buf_add(&s->in, chunk, (size_t)n, NULL)) {
		kz_mcp_send_error(s, NULL, KZ_MCP_INTERNAL, "memory is out", NULL);
		s->is_gone = true;
		return;
	}
	take_lines(s);
	if (s->in.len <= KZ_MCP_LINE_MAX || memchr(s->in.data, '\n', s->in.len))
		return;
	skip(s, s->in.data, s->in.len);
	kz_buf_clear(&s->in);
}

/* Answer those that have ended; who was cancelled gets no answer. */
static void reap(struct kz_mcp_server *s)
{
	size_t kept = 0;
	bool has_outputs = false;

	for (size_t i = 0; i < s->call_count; i++) {
		struct kz_mcp_call *c = s->calls[i];
		bool has_ended;

		if (is_full(s)) {
			s->calls[kept++] = c;
			continue;
		}
		has_ended = kz_mcp_call_has_ended(c);

		/* what it wrote before it ended is in the pipe now, whoever else holds that */
		kz_mcp_call_read(c);
		if (!has_ended) {
			kz_mcp_send_progress(s, c);
			s->calls[kept++] = c;
			continue;
		}
		kz_mcp_outputs_take(&c->outputs, s->ask, &s->shelf,
				    c->is_overlong ? NULL : kz_json_get(c->last, "outputs"));
		if (!c->is_cancelled)
			kz_mcp_send_result(s, c->id, c->is_modern, kz_mcp_answer(c));
		has_outputs |= c->outputs.list != NULL;
		kz_mcp_call_free(c);
	}
	s->call_count = kept;
	if (has_outputs)
		kz_mcp_keep_prune(&s->keep);
}

/* in: p[0] is the client's, p[1] for signals, p[2] to the client; the calls need no answer to which was ready */
static nfds_t list_fds(const struct kz_mcp_server *s, struct pollfd *p)
{
	nfds_t n = 3;

	p[0] = (struct pollfd){ s->is_ending || is_full(s) ? -1 : s->ask->in_fd, POLLIN, 0 };
	p[1] = (struct pollfd){ s->sig_fd, POLLIN, 0 };
	/* that the reader went is seen with nothing to write, too */
	p[2] = (struct pollfd){ s->is_gone ? -1 : s->ask->out_fd, s->out.len ? POLLOUT : 0, 0 };
	for (size_t i = 0; i < s->call_count && !is_full(s); i++) {
		if (s->calls[i]->out_fd >= 0)
			p[n++] = (struct pollfd){ s->calls[i]->out_fd, POLLIN, 0 };
		p[n++] = (struct pollfd){ s->calls[i]->pidfd, POLLIN, 0 };
	}
	return n;
}

static enum kz_rc loop(struct kz_mcp_server *s, struct kz_err *err)
{
	struct kz_deadline until = KZ_NEVER;

	while (!s->is_ending || s->call_count || s->out.len) {
		struct pollfd p[FDS_MAX];
		nfds_t n = list_fds(s, p);

		if (poll(p, n, s->call_count || s->is_ending ? TICK_MS : -1) < 0 && errno != EINTR)
			return kz_err_sys(err, KZ_E_OS, "poll failed");
		while (p[1].revents && kz_sig_next(s->sig_fd))
			end(s);
		if (p[2].revents)
			flush(s, p[2].revents);
		if (p[0].revents && !s->is_ending)
			listen_to_client(s);
		reap(s);
		if (s->is_gone)
			give_up(s);
		if (s->is_ending && until.boot_ms == KZ_NEVER.boot_ms)
			until = kz_deadline_in(KZ_MS(END_MS));
		if (kz_deadline_passed(until))
			break;
	}
	return KZ_OK;
}

enum kz_rc kz_mcp_serve(const struct kz_mcp_ask *ask, struct kz_err *err)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, 0 };
	struct kz_mcp_server s = { .ask = ask,
				   .in = KZ_BUF_INIT(KZ_MCP_LINE_MAX + 65536),
				   .out = KZ_BUF_INIT(KZ_MCP_OUT_MAX),
				   .sig_fd = -1 };
	enum kz_rc rc = kz_mcp_keep_open(&s.keep, ask->outdir, &ask->bounds, err);

	if (!rc)
		rc = kz_mcp_tools_load(&s.tools, err);
	if (!rc) {
		kz_mcp_keep_prune(&s.keep);
		kz_mcp_outputs_sweep(ask);
	}
	if (!rc)
		rc = kz_sig_open(signals, &s.sig_fd, err);
	if (!rc)
		rc = loop(&s, err);
	for (size_t i = 0; i < s.call_count; i++) {
		kz_mcp_call_cancel(s.calls[i]);
		kz_mcp_call_free(s.calls[i]);
	}
	if (s.sig_fd >= 0)
		close(s.sig_fd);
	kz_mcp_shelf_release(&s.shelf);
	kz_mcp_keep_close(&s.keep);
	kz_buf_release(&s.in);
	kz_buf_release(&s.out);
	kz_json_free(s.tools);
	return rc;
}
