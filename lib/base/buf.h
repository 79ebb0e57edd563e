/*
 * Byte buffers that grow up to a hard maximum set where they are made.
 *
 * Invariant: len <= cap <= max, and data[len] is 0 once anything was added, so
 * text needs no copy.  Layer 0.
 */
#ifndef KZ_BASE_BUF_H
#define KZ_BASE_BUF_H

#include <stddef.h>

#include "base/auto.h"
#include "base/err.h"

struct kz_buf {
	char *data;
	size_t len;
	size_t cap;
	size_t max; /* bytes it may hold; set by kz_buf_init, never 0 */
};

#define KZ_BUF_INIT(max_bytes)                                                                     \
	{                                                                                          \
		NULL, 0, 0, (max_bytes)                                                            \
	}

/* Make an empty buffer that never holds more than max bytes. */
void kz_buf_init(struct kz_buf *b, size_t max);
/* Free what it holds; it is empty and usable again afterwards. */
void kz_buf_release(struct kz_buf *b);
/* Make it empty, keeping the memory. */
void kz_buf_clear(struct kz_buf *b);

/*
 * Append bytes.
 * in: p[0..n), may be NULL when n is 0.
 * err: KZ_E_DATA when the maximum would be passed (buffer unchanged), KZ_E_OS.
 */
enum kz_rc kz_buf_add(struct kz_buf *b, const void *p, size_t n, struct kz_err *err);
/* Append a string; errors as kz_buf_add. */
enum kz_rc kz_buf_puts(struct kz_buf *b, const char *s, struct kz_err *err);
/* Append formatted text; errors as kz_buf_add. */
enum kz_rc kz_buf_printf(struct kz_buf *b, struct kz_err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Drop the first n bytes (all of them when n > len). */
void kz_buf_drop(struct kz_buf *b, size_t n);
/* The content as a string, "" when empty; borrowed until the next change. */
const char *kz_buf_str(const struct kz_buf *b);
/* Hand the memory out as a string (new, free with free); NULL when memory is out. */
char *kz_buf_steal(struct kz_buf *b);

static inline void kz_auto_buf_(struct kz_buf *b)
{
	kz_buf_release(b);
}
#define kz_auto_buf kz_auto(kz_auto_buf_)

#endif
