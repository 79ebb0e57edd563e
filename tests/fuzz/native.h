/* What the targets of native documents share: the claims that hold of every answer. */
#ifndef KZ_TESTS_FUZZ_NATIVE_H
#define KZ_TESTS_FUZZ_NATIVE_H

#include <string.h>

#include "core/native/native.h"
#include "fuzz.h"

static inline void claim_printable(const char *text)
{
	for (; *text; text++)
		CLAIM(*text >= ' ' && *text < 0x7f);
}

/* Judge at a level, twice the same. out: is it sound? */
static inline bool judge(enum kz_native_kind kind, int level, const uint8_t *p, size_t n)
{
	static struct kz_native_report found, again;
	struct kz_err err = KZ_ERR_INIT, other = KZ_ERR_INIT;
	enum kz_rc rc = kz_native_check(kind, level, p, n, &found, &err);

	CLAIM(rc == KZ_OK || (rc == KZ_E_DATA && strncmp(err.reason, "native_", 7) == 0));
	CLAIM(rc == kz_native_check(kind, level, p, n, &again, &other));
	CLAIM(strcmp(err.text, other.text) == 0 && strcmp(err.reason, other.reason) == 0);
	CLAIM(found.warnings == again.warnings && found.pages == again.pages);
	claim_printable(err.text);
	for (int64_t i = 0; i < found.warnings && i < KZ_NATIVE_WARNINGS; i++)
		claim_printable(found.warning[i]);
	return rc == KZ_OK;
}

#endif
