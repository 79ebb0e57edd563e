/*
 * What a kernel cell says over its channel, and snapshots of tools.  Whatever is taken of a line is bounded,
 * has no control character, and is one of three kinds; a snapshot that is taken has only tools with a name, a class and
 * a way [KRN-16, CB-2, CB-9].
 *
 * An input that begins with the number of a frame is what a worker sends during a run: the streams and the channel get what the
 * frames before the first wrong one hold, in order, and the worker gets no more than it gave leave for [KRN-16, EXEC-5].
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/run/kernel_report.h"
#include "core/run/tools.h"
#include "core/worker/channel.h"
#include "core/worker/wire.h"
#include "fuzz.h"
#include "port/json.h"

static void check_text(const struct kz_json *o, const char *key)
{
	const char *s = kz_json_str(o, key, NULL);

	CLAIM(s && strlen(s) <= KZ_KERNEL_TEXT_MOST);
	for (; *s; s++)
		CLAIM((unsigned char)*s >= 32 && *s != 127 &&
		      !((unsigned char)s[0] == 0xc2 && (unsigned char)s[1] < 0xa0) &&
		      strncmp(s, "\xe2\x80\xae", 3) != 0);
}

static void check_list(const struct kz_json *list)
{
	CLAIM(kz_json_is_array(list) && kz_json_count(list) <= KZ_KERNEL_LIST_MOST);
	for (size_t i = 0; i < kz_json_count(list); i++) {
		check_text(kz_json_at(list, i), "name");
		check_text(kz_json_at(list, i), "type");
		check_text(kz_json_at(list, i), "reason");
	}
}

static void check_report(const struct kz_json *r)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(16 << 20);

	CLAIM(kz_json_num(r, "generation", -1) >= 0 && kz_json_num(r, "bytes", -1) >= 0);
	check_list(kz_json_get(r, "lost"));
	check_list(kz_json_get(r, "restore_lost"));
	CLAIM(kz_json_count(kz_json_get(r, "notes")) <= KZ_KERNEL_LIST_MOST);
	CLAIM(kz_json_write(r, &b, NULL) == KZ_OK);
}

static void check_snapshot(const char *p, size_t n)
{
	kz_auto_json struct kz_json *o = NULL;
	const struct kz_json *tools;
	char digest[KZ_SHA256_HEX];

	if (kz_json_parse(p, n, &o, NULL) != KZ_OK || kz_tools_check(o, NULL) != KZ_OK)
		return;
	tools = kz_json_get(o, "tools");
	CLAIM(kz_json_count(tools) <= KZ_TOOLS_MOST);
	for (size_t i = 0; i < kz_json_count(tools); i++) {
		const struct kz_json *t = kz_json_at(tools, i);

		CLAIM(strlen(kz_json_str(t, "name", "")) <= KZ_TOOL_NAME_MOST);
		CLAIM(!kz_json_get(t, "command") != !kz_json_get(t, "socket"));
		CLAIM(kz_tool_digest(t, digest, NULL) == KZ_OK);
	}
}

#define ANSWER "HTTP/1.1 101 Switching Protocols\r\n\r\n"
/* One more than the leave that a run begins with. */
#define TOLD 65537

struct heard {
	struct kz_buf to[3];     /* stdout, stderr, channel */
	bool is_ended, is_whole; /* by a record or a wrong frame; by a record */
};

static void heard_release(struct heard *h)
{
	for (int i = 0; i < 3; i++)
		kz_buf_release(&h->to[i]);
}

/* What the frames say, read once more. */
static void frames_say(const uint8_t *p, size_t size, struct heard *h)
{
	kz_auto_json struct kz_json *record = NULL;

	while (size >= KZ_WIRE_FRAME_HEAD && !h->is_ended) {
		size_t n = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
		const uint8_t *body = p + KZ_WIRE_FRAME_HEAD;
		int to = p[0] == KZ_WIRE_CHANNEL ? 2 : p[0] - KZ_WIRE_OUT;

		if (n > size - KZ_WIRE_FRAME_HEAD)
			return;
		if (p[0] == KZ_WIRE_RECORD) {
			h->is_ended = true;
			h->is_whole =
				kz_json_parse((const char *)body, n, &record, NULL) == KZ_OK &&
				kz_json_is_object(record);
		} else if (p[0] == KZ_WIRE_WINDOW || p[0] == KZ_WIRE_CHANNEL_WINDOW) {
			h->is_ended = n != 4;
		} else if (p[0] >= KZ_WIRE_OUT && p[0] <= KZ_WIRE_CHANNEL) {
			CLAIM(kz_buf_add(&h->to[to], body, n, NULL) == KZ_OK);
		} else {
			h->is_ended = true;
		}
		p = body + n;
		size -= KZ_WIRE_FRAME_HEAD + n;
	}
}

static int on_output(void *arg, int stream, const void *p, size_t n)
{
	struct heard *h = arg;

	CLAIM(kz_buf_add(&h->to[stream - 1], p, n, NULL) == KZ_OK);
	return 0;
}

static void pour(int fd, struct kz_buf *out)
{
	char t[16384];
	ssize_t n;

	while ((n = recv(fd, t, sizeof t, MSG_DONTWAIT)) > 0)
		CLAIM(kz_buf_add(out, t, (size_t)n, NULL) == KZ_OK);
}

/* Of what the program's owner says no more goes to the worker than it gave leave for, frame after frame. */
static void check_leave(const uint8_t *p, size_t size)
{
	static const char told[TOLD];
	struct kz_wk_channel c;
	char t[KZ_WK_CHANNEL_CHUNK];
	int64_t leave = TOLD - 1;
	int pair[2];
	size_t n;

	CLAIM(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair));
	kz_wk_channel_start(&c, pair[0]);
	for (; size >= KZ_WIRE_FRAME_HEAD; p += n, size -= n) {
		const uint8_t *body = p + KZ_WIRE_FRAME_HEAD;

		n = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
		if (n > size - KZ_WIRE_FRAME_HEAD)
			break;
		if (p[0] == KZ_WIRE_CHANNEL_WINDOW && n == 4)
			leave += (int64_t)body[0] << 24 | (int64_t)body[1] << 16 |
				 (int64_t)body[2] << 8 | body[3];
		if ((p[0] == KZ_WIRE_CHANNEL || p[0] == KZ_WIRE_CHANNEL_WINDOW) &&
		    !kz_wk_channel_take(&c, p[0], body, n))
			break;
		(void)send(pair[1], told, TOLD, MSG_NOSIGNAL);
		for (size_t got; (got = kz_wk_channel_read(&c, t)) > 0;)
			leave -= (int64_t)got;
		CLAIM(leave >= 0);
		n += KZ_WIRE_FRAME_HEAD;
	}
	kz_wk_channel_end(&c, kz_deadline_in(KZ_MS(0)));
	kz_buf_release(&c.in);
	CLAIM(!close(pair[0]) && !close(pair[1]));
}

static void check_heard(const struct heard *want, const struct heard *got)
{
	for (int i = 0; i < 3; i++) {
		size_t n = got->to[i].len;

		/* what follows a frame that breaks the leave of the channel is not taken, and frames_say does not know it */
		CLAIM(n <= want->to[i].len &&
		      (!n || !memcmp(got->to[i].data, want->to[i].data, n)));
		CLAIM(!got->is_whole || n == want->to[i].len);
	}
}

static void check_frames(const uint8_t *data, size_t size)
{
	static const char *const argv[] = { "x", NULL }, *const none[] = { NULL };
	struct heard want = { .to = { KZ_BUF_INIT(1 << 20), KZ_BUF_INIT(1 << 20),
				      KZ_BUF_INIT(1 << 20) } };
	struct heard got = want;
	kz_auto_json struct kz_json *record = NULL;
	int control[2], channel[2];
	struct kz_wk w = { .in = KZ_BUF_INIT(KZ_WIRE_IN_MAX), .head = KZ_BUF_INIT(16384) };
	const struct kz_wk_exec x = {
		.lease = "l", .argv = argv, .envp = none, .has_channel = true
	};
	struct kz_wk_events ev = { .arg = &got, .out = on_output, .stdin_fd = -1, .cancel_fd = -1 };
	struct kz_err err = KZ_ERR_INIT;

	CLAIM(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, control));
	CLAIM(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, channel));
	CLAIM(send(control[1], ANSWER, strlen(ANSWER), 0) == (ssize_t)strlen(ANSWER));
	CLAIM(send(control[1], data, size, 0) == (ssize_t)size && !shutdown(control[1], SHUT_WR));
	CLAIM(send(channel[1], "said", 4, 0) == 4);
	frames_say(data, size, &want);
	w.fd = control[0];
	ev.channel_fd = channel[0];
	got.is_whole = kz_wk_run(&w, &x, &ev, kz_deadline_in(KZ_MS(60000)), &record, &err) == KZ_OK;
	CLAIM(got.is_whole == (record != NULL) && (!got.is_whole || want.is_whole));
	CLAIM(got.is_whole || !strcmp(err.reason, "transport_lost"));
	pour(channel[1], &got.to[2]);
	check_heard(&want, &got);
	for (int i = 0; i < 2; i++)
		CLAIM(!close(control[i]) && !close(channel[i]));
	kz_buf_release(&w.in);
	kz_buf_release(&w.head);
	heard_release(&want);
	heard_release(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kz_kernel_call call = { 0 };
	struct kz_json *report = NULL;
	int64_t generation = -1;

	if (size && data[0] >= KZ_WIRE_OUT && data[0] <= KZ_WIRE_CHANNEL_WINDOW && size < TOLD) {
		check_frames(data, size);
		check_leave(data, size);
		return 0;
	}
	switch (kz_kernel_line_read((const char *)data, size, &generation, &call, &report)) {
	case KZ_KERNEL_LINE_STATE: CLAIM(generation >= 0); break;
	case KZ_KERNEL_LINE_CALL: CLAIM(call.tool && call.line); break;
	case KZ_KERNEL_LINE_REPORT: check_report(report); break;
	case KZ_KERNEL_LINE_BAD: CLAIM(!report && !call.line && generation == -1); break;
	}
	kz_json_free(call.line);
	kz_json_free(report);
	check_snapshot((const char *)data, size);
	return 0;
}
