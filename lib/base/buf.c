/* Byte buffers with a hard maximum. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kz_buf_init(struct kz_buf *b, size_t max)
{
	b->data = NULL;
	b->len = 0;
	b->cap = 0;
	b->max = max;
}

void kz_buf_release(struct kz_buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = 0;
	b->cap = 0;
}

void kz_buf_clear(struct kz_buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

/* Room for n more bytes and the final 0, which cap does not count. */
static enum kz_rc buf_grow(struct kz_buf *b, size_t n, struct kz_err *err)
{
	size_t want, cap;
	char *data;

	if (n > b->max - b->len)
		return kz_err_set(err, KZ_E_DATA, "more than %zu bytes", b->max);
	want = b->len + n;
	if (b->data && want <= b->cap)
		return KZ_OK;
	cap = b->cap > b->max / 2 ? b->max : 2 * b->cap;
	if (cap < want)
		cap = want;
	if (cap < 64)
		cap = b->max < 64 ? b->max : 64;
	data = cap < SIZE_MAX ? realloc(b->data, cap + 1) : NULL;
	if (!data)
		return kz_err_set(err, KZ_E_OS, "out of memory for %zu bytes", cap);
	b->data = data;
	b->cap = cap;
	b->data[b->len] = '\0';
	return KZ_OK;
}

enum kz_rc kz_buf_add(struct kz_buf *b, const void *p, size_t n, struct kz_err *err)
{
	enum kz_rc rc = buf_grow(b, n, err);

	if (rc)
		return rc;
	if (n > 0)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
	return KZ_OK;
}

enum kz_rc kz_buf_puts(struct kz_buf *b, const char *s, struct kz_err *err)
{
	return kz_buf_add(b, s, strlen(s), err);
}

enum kz_rc kz_buf_printf(struct kz_buf *b, struct kz_err *err, const char *fmt, ...)
{
	enum kz_rc rc;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return kz_err_set(err, KZ_E_SOFTWARE, "cannot format \"%s\"", fmt);
	rc = buf_grow(b, (size_t)n, err);
	if (rc)
		return rc;
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
	return KZ_OK;
}

void kz_buf_drop(struct kz_buf *b, size_t n)
{
	if (n >= b->len) {
		kz_buf_clear(b);
		return;
	}
	memmove(b->data, b->data + n, b->len - n + 1);
	b->len -= n;
}

const char *kz_buf_str(const struct kz_buf *b)
{
	return b->data ? b->data : "";
}

char *kz_buf_steal(struct kz_buf *b)
{
	char *data = b->data ? b->data : strdup("");

	b->data = NULL;
	b->len = 0;
	b->cap = 0;
	return data;
}
