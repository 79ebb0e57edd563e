/*
 * Deflate streams, expanded in pieces.  The only user of zlib.  Nothing is kept of what
 * comes out, and its length is bounded by the caller, who is asked before more is made.
 * Layer 1.
 */
#ifndef KZ_PORT_DEFLATE_H
#define KZ_PORT_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum kz_inflate_form {
	KZ_INFLATE_RAW,  /* RFC 1951: entries of archives */
	KZ_INFLATE_ZLIB, /* RFC 1950: Flate streams of PDF, with their checksum */
};

struct kz_inflate {
	enum kz_inflate_form form;
	int64_t max; /* bytes that may come out, inclusive */
	/* Takes a piece; non-KZ_OK stops, and is returned. NULL: nothing is wanted but the count */
	enum kz_rc (*piece)(void *arg, const void *p, size_t n, struct kz_err *err);
	void *arg;
};

/* What was found; told also when the stream was refused. */
struct kz_inflated {
	int64_t used; /* bytes read of the input, up to the end of the stream */
	int64_t made; /* bytes that came out */
	bool over;    /* it was refused for being longer than max */
};

/*
 * Expand one whole stream.
 * in: p[0..n): may hold more behind the stream. out: told, may be NULL.
 * err: KZ_E_DATA: damaged, cut, or longer than max; KZ_E_OS; what piece returned
 * wait: never
 */
enum kz_rc kz_inflate(const struct kz_inflate *how, const void *p, size_t n,
		      struct kz_inflated *told, struct kz_err *err);

/* The CRC-32 of archives over p[0..n), going on from a former value (0 first). */
uint32_t kz_crc32(uint32_t crc, const void *p, size_t n);

#endif
