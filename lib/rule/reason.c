/* Reasons: look-ups in the generated table, and failing with one. */
#include "rule/reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct kz_reason_row *row(enum kz_reason r)
{
	/* A number from elsewhere must not read past the table. */
	return &kz_reason_rows[(unsigned)r < KZ_REASON_COUNT ? r : KZ_R_INTERNAL];
}

enum kz_rc kz_refuse(struct kz_err *err, enum kz_reason r, const char *fmt, ...)
{
	const struct kz_reason_row *w = row(r);
	enum kz_rc rc = kz_rc_of_status(w->status);
	char text[sizeof(err->text)];
	va_list ap;

	if (!fmt) {
		kz_err_set(err, rc, "%s", w->text);
		kz_err_reason(err, w->code);
		return rc;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	kz_err_set(err, rc, "%s", text);
	kz_err_reason(err, w->code);
	return rc;
}

const char *kz_reason_code(enum kz_reason r)
{
	return row(r)->code;
}

int kz_reason_status(enum kz_reason r)
{
	return row(r)->status;
}

const char *kz_reason_text(enum kz_reason r)
{
	return row(r)->text;
}

bool kz_reason_is_refusal(enum kz_reason r)
{
	return row(r)->is_refusal;
}

bool kz_reason_find(const char *code, enum kz_reason *out)
{
	if (!code)
		return false;
	for (int i = 0; i < KZ_REASON_COUNT; i++)
		if (strcmp(kz_reason_rows[i].code, code) == 0) {
			*out = (enum kz_reason)i;
			return true;
		}
	return false;
}
