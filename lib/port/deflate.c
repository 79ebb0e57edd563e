/* Deflate over zlib. */
#include "port/deflate.h"

#include <string.h>
#include <zlib.h>

#define PIECE 32768

struct run {
	const struct kz_inflate *how;
	struct kz_inflated told;
	z_stream z;
	unsigned char out[PIECE];
};

/* What inflate said, when it did not go on. */
static enum kz_rc trouble(const struct run *r, int code, struct kz_err *err)
{
	switch (code) {
	case Z_BUF_ERROR:
	case Z_OK: return kz_err_set(err, KZ_E_DATA, "the deflate stream is cut");
	case Z_MEM_ERROR: return kz_err_set(err, KZ_E_OS, "no memory to expand a deflate stream");
	case Z_NEED_DICT:
		return kz_err_set(err, KZ_E_DATA, "the deflate stream needs a dictionary");
	default:
		return kz_err_set(err, KZ_E_DATA, "the deflate stream is damaged: %s",
				  r->z.msg ? r->z.msg : "unknown");
	}
}

/* Hand out what came, unless it is too much. */
static enum kz_rc pass_on(struct run *r, size_t n, struct kz_err *err)
{
	if ((int64_t)n > r->how->max - r->told.made) {
		r->told.over = true;
		return kz_err_set(err, KZ_E_DATA, "expands to more than %lld bytes",
				  (long long)r->how->max);
	}
	r->told.made += (int64_t)n;
	return n > 0 && r->how->piece ? r->how->piece(r->how->arg, r->out, n, err) : KZ_OK;
}

static enum kz_rc run_all(struct run *r, const unsigned char *p, size_t n, struct kz_err *err)
{
	static unsigned char nothing;
	size_t left = n;
	int code;

	r->z.next_in = &nothing;
	do {
		size_t given;
		if (r->z.avail_in == 0 && left > 0) {
			given = left > (1U << 30) ? 1U << 30 : left;
			r->z.next_in = (unsigned char *)(uintptr_t)(p + (n - left));
			r->z.avail_in = (uInt)given;
			left -= given;
		}
		r->z.next_out = r->out;
		r->z.avail_out = PIECE;
		code = inflate(&r->z, Z_NO_FLUSH);
		r->told.used = (int64_t)(n - left - r->z.avail_in);
		if (code != Z_OK && code != Z_STREAM_END)
			return trouble(r, code, err);
		enum kz_rc rc = pass_on(r, PIECE - r->z.avail_out, err);
		if (rc != KZ_OK)
			return rc;
		if (code == Z_OK && r->z.avail_in == 0 && left == 0 && r->z.avail_out > 0)
			return trouble(r, Z_BUF_ERROR, err);
	} while (code != Z_STREAM_END);
	return KZ_OK;
}

enum kz_rc kz_inflate(const struct kz_inflate *how, const void *p, size_t n,
		      struct kz_inflated *told, struct kz_err *err)
{
	struct run r;
	enum kz_rc rc;

	r.how = how;
	memset(&r.told, 0, sizeof r.told);
	memset(&r.z, 0, sizeof r.z);
	if (inflateInit2(&r.z, how->form == KZ_INFLATE_RAW ? -MAX_WBITS : MAX_WBITS) != Z_OK)
		return kz_err_set(err, KZ_E_OS, "no memory to expand a deflate stream");
	rc = run_all(&r, p, n, err);
	(void)inflateEnd(&r.z);
	if (told)
		*told = r.told;
	return rc;
}

uint32_t kz_crc32(uint32_t crc, const void *p, size_t n)
{
	return (uint32_t)crc32_z(crc, p, n);
}
