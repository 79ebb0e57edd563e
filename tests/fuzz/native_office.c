/*
 * Office documents: bounded, and the same twice [NAT-3, NAT-8].  The first byte says the kind, and whether the rest is an
 * archive, or parts "NAME\nDATA" with a byte 0xff between, which are stored in one here: checksums would keep the packages
 * out of reach else.
 */
#include "base/buf.h"
#include "native.h"
#include "port/deflate.h"

#define PARTS_MAX 32

static void put(struct kz_buf *b, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++, value >>= 8) {
		unsigned char c = (unsigned char)value;
		kz_buf_add(b, &c, 1, NULL);
	}
}

/* What stands in both heads of an entry, from the version that is needed on. */
static void put_head(struct kz_buf *b, const uint8_t *data, size_t n, size_t name)
{
	put(b, 20, 2);
	put(b, 0, 8); /* flags, method, time, date */
	put(b, kz_crc32(0, data, n), 4);
	put(b, n, 4);
	put(b, n, 4);
	put(b, name, 2);
	put(b, 0, 2);
}

static void pack(const uint8_t *p, size_t size, struct kz_buf *out)
{
	kz_auto_buf struct kz_buf list = KZ_BUF_INIT(1 << 20);
	const uint8_t *end = p + size;
	size_t count = 0, list_at;

	while (p < end && count < PARTS_MAX) {
		const uint8_t *next = memchr(p, 0xff, (size_t)(end - p));
		const uint8_t *stop = next ? next : end,
			      *line = memchr(p, '\n', (size_t)(stop - p));
		const uint8_t *data = line ? line + 1 : stop;
		size_t name = (size_t)((line ? line : stop) - p), at = out->len;
		kz_buf_puts(out, "PK\3\4", NULL);
		put_head(out, data, (size_t)(stop - data), name);
		kz_buf_add(out, p, name, NULL);
		kz_buf_add(out, data, (size_t)(stop - data), NULL);
		kz_buf_puts(&list, "PK\1\2", NULL);
		put(&list, 20, 2);
		put_head(&list, data, (size_t)(stop - data), name);
		put(&list, 0, 10); /* comment, disk, attributes */
		put(&list, at, 4);
		kz_buf_add(&list, p, name, NULL);
		count++;
		p = next ? next + 1 : end;
	}
	list_at = out->len;
	kz_buf_add(out, list.data, list.len, NULL);
	kz_buf_puts(out, "PK\5\6", NULL);
	put(out, 0, 4);
	put(out, count, 2);
	put(out, count, 2);
	put(out, list.len, 4);
	put(out, list_at, 4);
	put(out, 0, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kz_auto_buf struct kz_buf made = KZ_BUF_INIT(1 << 20);
	enum kz_native_kind kind;

	if (size < 1)
		return 0;
	kind = (enum kz_native_kind)(KZ_NATIVE_DOCX + (data[0] & 3) % 3);
	if (data[0] & 4) {
		pack(data + 1, size - 1, &made);
		(void)judge(kind, 2, (const uint8_t *)kz_buf_str(&made), made.len);
	} else {
		(void)judge(kind, 2, data + 1, size - 1);
		(void)judge(kind, 1, data + 1, size - 1);
	}
	return 0;
}
