/*
 * Shortening: what fits stays as it is; what does not fits afterwards, begins as the text does, is text if that was text, and is
 * the same twice [CMP-6 CMP-8].  The first two bytes are the limit.
 */
#include <string.h>

#include "base/str.h"
#include "fuzz.h"
#include "rule/shorten.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kz_auto_buf struct kz_buf a = KZ_BUF_INIT(size + 65536 + KZ_SHORTEN_LEAST);
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(size + 65536 + KZ_SHORTEN_LEAST);
	size_t limit, n;
	char *text;

	if (size < 3)
		return 0;
	limit = KZ_SHORTEN_LEAST + data[0] + 256 * (size_t)(data[1] & 15);
	n = size - 2;
	text = malloc(n); /* of its own, so that a byte too far is seen */
	CLAIM(text);
	memcpy(text, data + 2, n);
	CLAIM(kz_shorten(text, n, limit, &a, NULL) == KZ_OK);
	CLAIM(kz_shorten(text, n, limit, &b, NULL) == KZ_OK);
	CLAIM(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
	if (n <= limit)
		CLAIM(a.len == n && memcmp(a.data, text, n) == 0);
	else
		CLAIM(a.len <= limit && a.len > 0 && a.data[0] == text[0]);
	CLAIM(!kz_utf8_valid(text, n) || kz_utf8_valid(a.data, a.len));
	free(text);
	return 0;
}
