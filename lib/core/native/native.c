/* Native documents: which reader judges, and what the readers share. */
#include "core/native/native.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/native/parts.h"

void kz_native_warn(struct kz_native_doc *d, const char *fmt, ...)
{
	int64_t i = d->found->warnings++;
	va_list ap;

	if (i >= KZ_NATIVE_WARNINGS)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(d->found->warning[i], KZ_NATIVE_WARNING, fmt, ap);
	va_end(ap);
}

const char *kz_native_shown(const void *p, size_t n)
{
	static _Thread_local char text[4][72];
	static _Thread_local unsigned next;
	char *out = text[next++ % 4];
	const unsigned char *from = p;
	size_t kept = n > 64 ? 64 : n;

	for (size_t i = 0; i < kept; i++)
		out[i] = from[i] >= ' ' && from[i] < 0x7f ? (char)from[i] : '?';
	(void)snprintf(out + kept, 8, "%s", n > kept ? "..." : "");
	return out;
}

size_t kz_native_find(const unsigned char *p, size_t n, size_t from, const char *mark)
{
	const unsigned char *at = from < n ? memmem(p + from, n - from, mark, strlen(mark)) : NULL;

	return at ? (size_t)(at - p) : n;
}

size_t kz_native_find_last(const unsigned char *p, size_t n, size_t from, const char *mark)
{
	size_t size = strlen(mark);

	for (size_t at = n >= size ? n - size + 1 : 0; at > from; at--) {
		if (memcmp(p + at - 1, mark, size) == 0)
			return at - 1;
	}
	return n;
}

/* What the first bytes say, when they say it clearly: another kind than the name. */
static enum kz_rc judge_head(const struct kz_native_doc *d, struct kz_err *err)
{
	static const unsigned char cfb[8] = { 0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1 };
	bool is_zip = d->n >= 4 && memcmp(d->p, "PK\3\4", 4) == 0;
	bool is_pdf = d->n >= 5 && memcmp(d->p, "%PDF-", 5) == 0;

	if (d->n == 0)
		return KZ_INVALID(err, "the file is empty");
	if (d->n >= sizeof cfb && memcmp(d->p, cfb, sizeof cfb) == 0) {
		if (d->kind == KZ_NATIVE_PDF)
			return kz_refuse(err, KZ_R_NATIVE_MISMATCH,
					 "a compound file of an old Office format, not a PDF");
		return kz_refuse(err, KZ_R_NATIVE_ENCRYPTED,
				 "a password-protected or legacy Office file");
	}
	if (d->kind == KZ_NATIVE_PDF && is_zip)
		return kz_refuse(err, KZ_R_NATIVE_MISMATCH, "a ZIP archive, not a PDF");
	if (d->kind != KZ_NATIVE_PDF && is_pdf)
		return kz_refuse(err, KZ_R_NATIVE_MISMATCH, "a PDF, not an Office document");
	return KZ_OK;
}

enum kz_rc kz_native_check(enum kz_native_kind kind, int level, const void *p, size_t n,
			   struct kz_native_report *found, struct kz_err *err)
{
	struct kz_native_doc d = { kind, p, n, found, 0 };
	enum kz_rc rc;

	memset(found, 0, sizeof *found);
	found->pages = found->parts = -1;
	if (n > (uint64_t)KZ_NATIVE_FILE_MAX)
		return KZ_BOMB(err, "the file has more than %lld bytes",
			       (long long)KZ_NATIVE_FILE_MAX);
	rc = judge_head(&d, err);
	if (rc != KZ_OK)
		return rc;
	return kind == KZ_NATIVE_PDF ? kz_native_pdf(&d, level, err) :
				       kz_native_office(&d, level, err);
}
