/* Error records. */
#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text reaches terminals and logs: nothing in it may move a cursor. */
static void err_clean(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

static void err_fill(struct kz_err *err, enum kz_rc rc, int saved, const char *fmt, va_list ap)
{
	err->rc = rc;
	err->sys_errno = saved;
	err->reason[0] = '\0';
	if (vsnprintf(err->text, sizeof(err->text), fmt, ap) < 0)
		err->text[0] = '\0';
	err_clean(err->text);
}

enum kz_rc kz_err_set(struct kz_err *err, enum kz_rc rc, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return rc;
	va_start(ap, fmt);
	err_fill(err, rc, 0, fmt, ap);
	va_end(ap);
	return rc;
}

enum kz_rc kz_err_sys(struct kz_err *err, enum kz_rc rc, const char *fmt, ...)
{
	int saved = errno;
	char room[128];
	const char *why;
	size_t len;
	va_list ap;

	if (!err)
		return rc;
	va_start(ap, fmt);
	err_fill(err, rc, saved, fmt, ap);
	va_end(ap);
	why = strerror_r(saved, room, sizeof(room));
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %c%s",
		 islower((unsigned char)why[1]) ? tolower((unsigned char)why[0]) : why[0], why + 1);
	errno = saved;
	return rc;
}

enum kz_rc kz_err_wrap(struct kz_err *err, const char *fmt, ...)
{
	char inner[sizeof(((struct kz_err *)0)->text)];
	size_t len;
	va_list ap;

	if (!err)
		return KZ_E_SOFTWARE;
	if (err->rc == KZ_OK)
		return kz_err_set(err, KZ_E_SOFTWARE, "context added to no failure");
	memcpy(inner, err->text, sizeof(inner));
	va_start(ap, fmt);
	if (vsnprintf(err->text, sizeof(err->text), fmt, ap) < 0)
		err->text[0] = '\0';
	va_end(ap);
	err_clean(err->text);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", inner);
	return err->rc;
}

enum kz_rc kz_err_reason(struct kz_err *err, const char *reason)
{
	if (!err)
		return KZ_E_SOFTWARE;
	snprintf(err->reason, sizeof(err->reason), "%s", reason);
	return err->rc;
}

static const struct {
	enum kz_rc rc;
	int status;
	const char *name;
} codes[] = {
	{ KZ_OK, 0, "ok" },
	{ KZ_E_NO, 1, "no" },
	{ KZ_E_USAGE, 64, "usage" },
	{ KZ_E_DATA, 65, "data" },
	{ KZ_E_NOINPUT, 66, "noinput" },
	{ KZ_E_UNAVAILABLE, 69, "unavailable" },
	{ KZ_E_SOFTWARE, 70, "software" },
	{ KZ_E_OS, 71, "os" },
	{ KZ_E_CANTCREAT, 73, "cantcreat" },
	{ KZ_E_IO, 74, "io" },
	{ KZ_E_TEMPFAIL, 75, "tempfail" },
	{ KZ_E_PROTOCOL, 76, "protocol" },
	{ KZ_E_NOPERM, 77, "noperm" },
	{ KZ_E_CONFIG, 78, "config" },
};

int kz_rc_status(enum kz_rc rc)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].rc == rc)
			return codes[i].status;
	return 70;
}

enum kz_rc kz_rc_of_status(int status)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].status == status)
			return codes[i].rc;
	return KZ_E_SOFTWARE;
}

const char *kz_rc_name(enum kz_rc rc)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].rc == rc)
			return codes[i].name;
	return "software";
}
