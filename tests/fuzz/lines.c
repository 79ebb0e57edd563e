/*
 * Records of shown lines.  The input is a body: its head is made here, so that the digest is no
 * wall before the reader.  What is taken writes the same bytes again; nothing else is believed [HL-2].
 */
#include <string.h>

#include "base/str.h"
#include "core/files/lines.h"
#include "fuzz.h"
#include "port/seal.h"

#define HEAD 48

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kz_auto_book struct kz_book b = { .pages = 0 };
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(KZ_LINES_MAX);
	char *p = malloc(HEAD + size), *want = malloc(HEAD + size);
	char hex[KZ_SHA256_HEX];
	struct kz_err err = KZ_ERR_INIT;
	enum kz_rc rc;

	CLAIM(p && want);
	memcpy(p, "KZHL\1\0\0\0", 8);
	for (int i = 0; i < 8; i++)
		p[8 + i] = (char)((uint64_t)size >> (8 * i));
	kz_sha256_hex(data, size, hex);
	CLAIM(kz_hex_decode(hex, p + 16, KZ_SHA256_BYTES, NULL) == KZ_OK);
	if (size)
		memcpy(p + HEAD, data, size);
	memcpy(want, p, HEAD + size);
	rc = kz_lines_decode(p, HEAD + size, &b, &err);
	if (rc == KZ_OK) {
		CLAIM(kz_lines_encode(&b, 0, KZ_LINES_MAX, &out, &err) == KZ_OK);
		CLAIM(out.len == HEAD + size && memcmp(out.data, want, out.len) == 0);
	} else {
		CLAIM(strcmp(err.reason, "object_damaged") == 0);
	}
	free(want);
	return 0;
}
