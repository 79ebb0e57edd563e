/* The body of a plain request, framed anew. */
#include "core/egress/proxy_body.h"

enum { SIZE, SIZE_LF, DATA, DATA_CR, DATA_LF, LAST_CR, LAST_LF };

#define CHUNK_DIGITS 8 /* of one chunk's size: nobody sends 4 GiB in one */

void kz_px_framer_start(struct kz_px_framer *f, enum kz_px_body kind, int64_t length)
{
	*f = (struct kz_px_framer){ .kind = kind };
	if (kind == KZ_PX_BODY_LENGTH)
		f->left = length;
	f->is_done = kind == KZ_PX_BODY_NONE || (kind == KZ_PX_BODY_LENGTH && length <= 0);
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool add(struct kz_buf *out, const char *p, size_t n)
{
	return kz_buf_add(out, p, n, NULL) == KZ_OK;
}

/* As much of the data as there is. */
static size_t data(struct kz_px_framer *f, const char *p, size_t n, struct kz_buf *out)
{
	if ((int64_t)n > f->left)
		n = (size_t)f->left;
	/* a chunk is written as what has come of it, so that nothing waits for the rest */
	f->is_bad = (f->kind == KZ_PX_BODY_CHUNKED &&
		     kz_buf_printf(out, NULL, "%zx\r\n", n) != KZ_OK) ||
		    !add(out, p, n) || (f->kind == KZ_PX_BODY_CHUNKED && !add(out, "\r\n", 2));
	f->left -= (int64_t)n;
	return n;
}

static bool size_byte(struct kz_px_framer *f, char c)
{
	int v = hex_value(c);

	if (c == '\r' && f->digits > 0) {
		f->state = SIZE_LF;
		return true;
	}
	if (v < 0 || ++f->digits > CHUNK_DIGITS)
		return false;
	f->left = f->left * 16 + v;
	return true;
}

/* One byte that is no data. out: false when it may not stand here */
static bool frame_byte(struct kz_px_framer *f, char c, struct kz_buf *out)
{
	static const int next[] = { [DATA_CR] = DATA_LF, [LAST_CR] = LAST_LF };

	switch (f->state) {
	case SIZE: return size_byte(f, c);
	case SIZE_LF: f->state = f->left > 0 ? DATA : LAST_CR; return c == '\n';
	case DATA_LF:
		f->state = SIZE;
		f->digits = 0;
		return c == '\n';
	case LAST_LF: f->is_done = c == '\n' && add(out, "0\r\n\r\n", 5); return f->is_done;
	default: f->state = next[f->state]; return c == '\r';
	}
}

static size_t take_chunked(struct kz_px_framer *f, const char *p, size_t n, struct kz_buf *out)
{
	size_t at = 0;

	while (at < n && !f->is_done && !f->is_bad) {
		if (f->state == DATA) {
			at += data(f, p + at, n - at, out);
			if (f->left == 0)
				f->state = DATA_CR;
		} else if (frame_byte(f, p[at], out)) {
			at++;
		} else {
			f->is_bad = true;
		}
	}
	return at;
}

size_t kz_px_framer_take(struct kz_px_framer *f, const char *p, size_t n, struct kz_buf *out)
{
	if (f->is_done || f->is_bad)
		return 0;
	if (f->kind == KZ_PX_BODY_CHUNKED)
		return take_chunked(f, p, n, out);
	n = data(f, p, n, out);
	f->is_done = f->left == 0;
	return n;
}
