/* Dates in text. */
#include "base/date.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define LAST INT64_C(253402300799) /* 9999-12-31T23:59:59 */

void kz_date_print(int64_t s, char out[KZ_DATE_TEXT])
{
	time_t t = (time_t)(s < 0 ? 0 : s > LAST ? LAST : s);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(out, KZ_DATE_TEXT, "%Y-%m-%dT%H:%M:%S+00:00", &tm);
}

/* Two or four digits at p. */
static int digits(const char *p, int n)
{
	int v = 0;

	for (int i = 0; i < n; i++)
		v = v * 10 + (p[i] - '0');
	return v;
}

/* Has text the shape of a date, where 9 stands for any digit, and one of its two ends? */
static bool has_shape(const char *text)
{
	for (const char *form = "9999-99-99T99:99:99"; *form; text++, form++)
		if (*form == '9' ? *text < '0' || *text > '9' : *text != *form)
			return false;
	return strcmp(text, "+00:00") == 0 || strcmp(text, "Z") == 0;
}

bool kz_date_parse(const char *text, int64_t *s)
{
	char again[KZ_DATE_TEXT];
	struct tm tm = { 0 };
	int64_t t;

	if (!has_shape(text))
		return false;
	tm.tm_year = digits(text, 4) - 1900;
	tm.tm_mon = digits(text + 5, 2) - 1;
	tm.tm_mday = digits(text + 8, 2);
	tm.tm_hour = digits(text + 11, 2);
	tm.tm_min = digits(text + 14, 2);
	tm.tm_sec = digits(text + 17, 2);
	t = (int64_t)timegm(&tm);
	/* A date that the calendar has not comes out as another one. */
	kz_date_print(t, again);
	if (t < 0 || memcmp(again, text, 19) != 0)
		return false;
	*s = t;
	return true;
}
