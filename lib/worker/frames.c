/* Frames: standard input, its end, the channel, kill and done, while a program runs. */
#include "worker/client.h"

static size_t number(const unsigned char *p)
{
	return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

static bool take_frame(struct kz_client *c, unsigned type, const void *p, size_t n)
{
	bool is_mine = c->w->runner == c;

	switch (type) {
	case KZ_FRAME_IN:
		/* after the record it was on its way already: dropped */
		return !is_mine || kz_run_input(c->w->run, p, n);
	case KZ_FRAME_IN_END:
		if (is_mine)
			kz_run_input_end(c->w->run);
		return n == 0;
	case KZ_FRAME_KILL:
		if (is_mine)
			kz_run_cancel(c->w->run, "signal");
		return n == 0;
	case KZ_FRAME_TO_CHANNEL: return !is_mine || kz_run_channel(c->w->run, p, n);
	case KZ_FRAME_TO_CHANNEL_WINDOW:
		return n == 4 && (!is_mine || kz_run_channel_grant(c->w->run, number(p)));
	case KZ_FRAME_DONE:
		if (!c->record_sent || n)
			return false;
		c->state = KZ_CLIENT_HEAD;
		return true;
	default: return false;
	}
}

bool kz_client_frames(struct kz_client *c)
{
	const unsigned char *p = kz_conn_peek(c->conn, KZ_FRAME_HEAD);
	size_t n;
	unsigned type;

	if (!p)
		return false;
	n = number(p + 1);
	type = p[0];
	if (n > KZ_FRAME_MAX) {
		kz_client_close(c);
		return false;
	}
	p = kz_conn_peek(c->conn, KZ_FRAME_HEAD + n);
	if (!p)
		return false;
	if (!take_frame(c, type, p + KZ_FRAME_HEAD, n)) {
		kz_client_close(c);
		return false;
	}
	kz_conn_drop(c->conn, KZ_FRAME_HEAD + n);
	return true;
}
