/* Bytes that are no text, for people and for programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/base64.h"
#include "base/str.h"
#include "verbs.h"

void kz_set_bytes(struct kz_json *o, const char *key, const char *p, size_t n)
{
	bool is_text = kz_utf8_valid(p, n) && !memchr(p, 0, n);
	kz_auto_free char *text = malloc(is_text ? n + 1 : KZ_BASE64_TEXT(n) + 1);
	char other[40];

	snprintf(other, sizeof(other), "%s%s", key, is_text ? "" : "_base64");
	if (text && is_text) {
		memcpy(text, p, n);
		text[n] = 0;
	} else if (text) {
		kz_base64_encode(p, n, text);
	}
	/* NULL marks the object as failed. */
	kz_json_set(o, other, text ? kz_json_string(text) : NULL);
}
