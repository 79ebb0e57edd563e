/* Running a program in a worker, to its terminal record. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sys.h"
#include "core/worker/channel.h"
#include "core/worker/wire.h"
#include "rule/reason.h"

#define FRAME_MAX (1 << 20)
#define INPUT_CHUNK 32768
#define VECTORS_MAX (4 << 20)

struct run {
	struct kz_wk *w;
	const struct kz_wk_events *ev;
	struct kz_buf out; /* frames on their way to the worker */
	int64_t window;    /* bytes of standard input that the worker takes */
	bool input_open;
	bool is_cancelled;
	bool is_quiet; /* the caller wants no more output */
	struct kz_json *record;
	struct kz_wk_channel channel;
};

static enum kz_rc lost(struct kz_wk *w, struct kz_err *err)
{
	w->is_broken = true;
	return kz_refuse(err, KZ_R_TRANSPORT_LOST, NULL);
}

static enum kz_rc add_frame(struct run *r, int type, const void *p, size_t n, struct kz_err *err)
{
	const unsigned char h[KZ_WIRE_FRAME_HEAD] = { (unsigned char)type, (unsigned char)(n >> 24),
						      (unsigned char)(n >> 16),
						      (unsigned char)(n >> 8), (unsigned char)n };
	enum kz_rc rc = kz_buf_add(&r->out, h, sizeof h, err);

	return rc == KZ_OK ? kz_buf_add(&r->out, p, n, err) : rc;
}

static enum kz_rc cancel(struct run *r, struct kz_err *err)
{
	if (r->is_cancelled)
		return KZ_OK;
	r->is_cancelled = true;
	r->input_open = false;
	return add_frame(r, KZ_WIRE_KILL, NULL, 0, err);
}

static enum kz_rc take_frame(struct run *r, int type, const char *p, size_t n, struct kz_err *err)
{
	const unsigned char *u = (const unsigned char *)p;

	switch (type) {
	case KZ_WIRE_OUT:
	case KZ_WIRE_ERR:
		if (!r->is_quiet && r->ev->out && r->ev->out(r->ev->arg, type, p, n)) {
			r->is_quiet = true;
			return cancel(r, err);
		}
		return KZ_OK;
	case KZ_WIRE_WINDOW:
		if (n != 4)
			return lost(r->w, err);
		r->window += (int64_t)u[0] << 24 | (int64_t)u[1] << 16 | (int64_t)u[2] << 8 | u[3];
		return KZ_OK;
	case KZ_WIRE_CHANNEL:
	case KZ_WIRE_CHANNEL_WINDOW:
		return kz_wk_channel_take(&r->channel, type, p, n) ? KZ_OK : lost(r->w, err);
	case KZ_WIRE_RECORD:
		if (kz_json_parse(p, n, &r->record, NULL) != KZ_OK || !kz_json_is_object(r->record))
			return lost(r->w, err);
		return KZ_OK;
	default: return lost(r->w, err);
	}
}

/* whole frames that have arrived; what comes after the record is left */
static enum kz_rc take_frames(struct run *r, struct kz_err *err)
{
	struct kz_buf *in = &r->w->in;
	size_t at = 0;
	enum kz_rc rc = KZ_OK;

	while (rc == KZ_OK && !r->record && in->len - at >= KZ_WIRE_FRAME_HEAD) {
		const unsigned char *h = (const unsigned char *)in->data + at;
		size_t n = (size_t)h[1] << 24 | (size_t)h[2] << 16 | (size_t)h[3] << 8 | h[4];

		if (n > FRAME_MAX)
			return lost(r->w, err);
		if (in->len - at - KZ_WIRE_FRAME_HEAD < n)
			break;
		rc = take_frame(r, h[0], in->data + at + KZ_WIRE_FRAME_HEAD, n, err);
		at += KZ_WIRE_FRAME_HEAD + n;
	}
	kz_buf_drop(in, at);
	return rc;
}

static enum kz_rc read_input(struct run *r, struct kz_err *err)
{
	char t[INPUT_CHUNK];
	size_t most = r->window < INPUT_CHUNK ? (size_t)r->window : INPUT_CHUNK;
	ssize_t n = read(r->ev->stdin_fd, t, most);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return KZ_OK;
	if (n <= 0) {
		/* an input that cannot be read further ends, as for a program in a shell */
		r->input_open = false;
		return add_frame(r, KZ_WIRE_IN_END, NULL, 0, err);
	}
	r->window -= n;
	if (r->ev->in)
		r->ev->in(r->ev->arg, t, (size_t)n);
	return add_frame(r, KZ_WIRE_IN, t, (size_t)n, err);
}

static enum kz_rc flush(struct run *r, struct kz_err *err)
{
	ssize_t n = send(r->w->fd, r->out.data, r->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return lost(r->w, err);
	if (n > 0)
		kz_buf_drop(&r->out, (size_t)n);
	return KZ_OK;
}

/* What the channel's own side says goes to the worker, and what the worker says to it. */
static enum kz_rc pump(struct run *r, short revents, struct kz_err *err)
{
	char t[KZ_WK_CHANNEL_CHUNK];
	size_t n = 0;
	int64_t gone = kz_wk_channel_flush(&r->channel);
	unsigned char leave[4] = { (unsigned char)(gone >> 24), (unsigned char)(gone >> 16),
				   (unsigned char)(gone >> 8), (unsigned char)gone };
	enum kz_rc rc = KZ_OK;

	if (gone)
		rc = add_frame(r, KZ_WIRE_TO_CHANNEL_WINDOW, leave, sizeof leave, err);
	if (rc == KZ_OK && revents & (POLLIN | POLLHUP))
		n = kz_wk_channel_read(&r->channel, t);
	return rc == KZ_OK && n ? add_frame(r, KZ_WIRE_TO_CHANNEL, t, n, err) : rc;
}

static enum kz_rc turn(struct run *r, struct kz_deadline until, struct kz_err *err)
{
	bool wants_input = r->input_open && r->window > 0 && !r->out.len;
	struct pollfd p[] = {
		{ .fd = r->w->fd, .events = (short)(POLLIN | (r->out.len ? POLLOUT : 0)) },
		{ .fd = wants_input ? r->ev->stdin_fd : -1, .events = POLLIN },
		{ .fd = r->is_cancelled ? -1 : r->ev->cancel_fd, .events = POLLIN },
		kz_wk_channel_poll(&r->channel, !r->out.len),
	};
	int n = poll(p, 4, kz_deadline_poll_ms(until));
	enum kz_rc rc = KZ_OK;

	if (n < 0 && errno == EINTR)
		return KZ_OK;
	if (n < 0 || (n == 0 && kz_deadline_passed(until)))
		return lost(r->w, err);
	if (p[2].revents)
		rc = cancel(r, err);
	if (rc == KZ_OK && p[1].revents)
		rc = read_input(r, err);
	if (rc == KZ_OK && p[3].revents)
		rc = pump(r, p[3].revents, err);
	if (rc == KZ_OK && p[0].revents & POLLOUT)
		rc = flush(r, err);
	if (rc == KZ_OK && p[0].revents & ~POLLOUT)
		rc = kz_wire_more(r->w, until, NULL) == KZ_OK ? take_frames(r, err) :
								lost(r->w, err);
	return rc;
}

static int64_t add_strings(struct kz_buf *b, const char *const *v, enum kz_rc *rc,
			   struct kz_err *err)
{
	int64_t n = 0;

	for (; v && v[n] && *rc == KZ_OK; n++)
		*rc = kz_buf_add(b, v[n], strlen(v[n]) + 1, err);
	return n;
}

/* Four bytes of length, a JSON head, then the strings as they are: they need not be UTF-8. */
static enum kz_rc ask(struct kz_wk *w, const struct kz_wk_exec *x, struct kz_deadline until,
		      struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	kz_auto_buf struct kz_buf head = KZ_BUF_INIT(65536 + VECTORS_MAX),
				  tail = KZ_BUF_INIT(VECTORS_MAX);
	enum kz_rc rc = KZ_OK;
	int64_t argc = add_strings(&tail, x->argv, &rc, err),
		envc = add_strings(&tail, x->envp, &rc, err);

	if (rc != KZ_OK)
		return kz_refuse(err, KZ_R_CANNOT_EXECUTE,
				 "arguments and environment are too large");
	kz_json_set_str(o, "lease", x->lease);
	kz_json_set_int(o, "argc", argc);
	kz_json_set_int(o, "envc", envc);
	kz_json_set_int(o, "wall_ms", x->wall.ms);
	kz_json_set_int(o, "output_bytes", x->output_bytes);
	kz_json_set_int(o, "open_files", x->open_files);
	kz_json_set_bool(o, "stdin", x->stdin_open);
	if (x->has_channel)
		kz_json_set_bool(o, "channel", true);
	if (x->gateway)
		kz_json_set_str(o, "gateway", x->gateway);
	if (x->execution) {
		struct kz_json *e = kz_json_object();

		kz_json_set_str(e, "execution", x->execution);
		kz_json_set(o, "egress", e);
	}
	if (x->shared)
		kz_json_set(o, "shared", kz_json_ref(x->shared));
	rc = kz_wire_prefixed(o, &head, err);
	if (rc != KZ_OK)
		return rc;
	rc = kz_buf_add(&head, tail.data, tail.len, err);
	if (rc == KZ_OK)
		rc = kz_wire_head(w, "POST", "/v1/exec", (int64_t)head.len, until, err);
	return rc == KZ_OK ? kz_wire_send(w, head.data, head.len, until, err) : rc;
}

static enum kz_rc start(struct kz_wk *w, const struct kz_wk_exec *x, struct kz_deadline until,
			struct kz_err *err)
{
	int status = 0;
	int64_t n = 0;
	enum kz_rc rc;

	if (kz_sys_before(KZ_SYS_WK_CALL))
		return kz_wire_break(w, err);
	rc = ask(w, x, until, err);
	if (rc == KZ_OK)
		rc = kz_wire_answer(w, until, &status, &n, err);
	if (rc == KZ_OK && status != 101)
		rc = kz_wire_refusal(w, status, n, until, err);
	kz_sys_after(KZ_SYS_WK_CALL);
	return rc;
}

enum kz_rc kz_wk_run(struct kz_wk *w, const struct kz_wk_exec *x, const struct kz_wk_events *ev,
		     struct kz_deadline until, struct kz_json **record, struct kz_err *err)
{
	struct run r = { .w = w, .ev = ev, .input_open = x->stdin_open };
	enum kz_rc rc = start(w, x, until, err);

	if (rc != KZ_OK)
		return rc;
	kz_wk_channel_start(&r.channel, x->has_channel ? ev->channel_fd : -1);
	kz_buf_init(&r.out, INPUT_CHUNK * 8);
	if (r.input_open && ev->stdin_fd < 0) {
		r.input_open = false;
		rc = add_frame(&r, KZ_WIRE_IN_END, NULL, 0, err);
	}
	if (rc == KZ_OK)
		rc = take_frames(&r, err);
	while (rc == KZ_OK && !r.record)
		rc = turn(&r, until, err);
	if (x->has_channel && ev->channel_end)
		ev->channel_end(ev->arg);
	kz_wk_channel_end(&r.channel, until);
	kz_buf_clear(&r.out);
	if (rc == KZ_OK)
		rc = add_frame(&r, KZ_WIRE_DONE, NULL, 0, err);
	/* the record is here: a connection that breaks now loses nothing of the run */
	if (rc == KZ_OK)
		(void)kz_wire_send(w, r.out.data, r.out.len, until, NULL);
	kz_buf_release(&r.out);
	if (rc != KZ_OK) {
		kz_json_free(r.record);
		return rc;
	}
	*record = r.record;
	return KZ_OK;
}
