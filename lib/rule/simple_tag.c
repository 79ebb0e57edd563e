/* The inside of a tag: attributes and their values. */
#include <string.h>
#include <strings.h>

#include "rule/simple_parts.h"

/* The value of a digit, 16 for none. */
static unsigned digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 32;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

/* "&#62;" or "&#x3e;" at p, of a printable character. out: the bytes it takes, 0: it is none */
static size_t numbered(const char *p, size_t n, char *out)
{
	bool is_hex = n > 3 && (p[2] | 32) == 'x';
	unsigned base = is_hex ? 16 : 10, code = 0;
	size_t at = is_hex ? 3 : 2;

	for (; at < n && p[at] != ';' && code < 0x80; at++) {
		if (digit(p[at]) >= base)
			return 0;
		code = code * base + digit(p[at]);
	}
	if (at >= n || p[at] != ';' || code < 0x20 || code > 0x7e)
		return 0;
	*out = (char)code;
	return at + 1;
}

/* A character reference at p: "&gt;". out: the bytes it takes, 0: it is none */
static size_t reference(const char *p, size_t n, char *out)
{
	static const struct {
		const char *name;
		char is;
	} known[] = { { "&lt;", '<' },
		      { "&gt;", '>' },
		      { "&amp;", '&' },
		      { "&quot;", '"' },
		      { "&apos;", '\'' } };

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (n >= strlen(known[i].name) &&
		    strncmp(p, known[i].name, strlen(known[i].name)) == 0) {
			*out = known[i].is;
			return strlen(known[i].name);
		}
	return n >= 4 && p[1] == '#' ? numbered(p, n, out) : 0;
}

void kz_simple_decode(char *to, size_t size, const struct kz_simple_attribute *a)
{
	const char *p = a->value;
	size_t n = a->value_n;
	char text[4096];
	size_t at = 0;

	to[0] = '\0';
	for (size_t i = 0; i < n && at + 1 < sizeof text;) {
		size_t len = p[i] == '&' ? reference(p + i, n - i, &text[at]) : 0;

		if (len == 0) {
			text[at] = p[i];
			len = 1;
		}
		at++;
		i += len;
	}
	text[at] = '\0';
	if (n < sizeof text)
		kz_simple_text(to, size, text, at);
}

bool kz_simple_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '/';
}

static const char *skip_blanks(const char *s, const char *end, bool is_slash_one)
{
	while (s < end && kz_simple_is_blank(*s) && (is_slash_one || *s != '/'))
		s++;
	return s;
}

/* The value behind a '=', in quotes or up to a blank. out: where it goes on */
static const char *value_of(const char *s, const char *end, struct kz_simple_attribute *a)
{
	char quote;

	s = skip_blanks(s, end, false);
	quote = s < end && (*s == '"' || *s == '\'') ? *s++ : 0;
	a->value = s;
	while (s < end && (quote ? *s != quote : !kz_simple_is_blank(*s) || *s == '/'))
		s++;
	a->value_n = (size_t)(s - a->value);
	return s + (quote && s < end);
}

bool kz_simple_next(const char **p, const char *end, struct kz_simple_attribute *a)
{
	const char *s = skip_blanks(*p, end, true);

	if (s == end)
		return false;
	a->name = s;
	/* A '=' in front is part of the name, so that this ends. */
	do
		s++;
	while (s < end && !kz_simple_is_blank(*s) && *s != '=');
	a->name_n = (size_t)(s - a->name);
	a->value = s;
	a->value_n = 0;
	s = skip_blanks(s, end, false);
	*p = s < end && *s == '=' ? value_of(s + 1, end, a) : s;
	return true;
}

bool kz_simple_is_named(const struct kz_simple_attribute *a, const char *name)
{
	return a->name_n == strlen(name) && strncasecmp(a->name, name, a->name_n) == 0;
}
