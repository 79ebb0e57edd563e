/* The HTML form of an index (PEP 503): tags alone, in pieces. */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "rule/simple_parts.h"

enum html { TEXT, TAG, COMMENT, RAW };

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
	bool is_hex = n > 3 && (p[2] == 'x' || p[2] == 'X');
	size_t at = is_hex ? 3 : 2;
	unsigned code = 0;

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (n >= strlen(known[i].name) &&
		    strncmp(p, known[i].name, strlen(known[i].name)) == 0) {
			*out = known[i].is;
			return strlen(known[i].name);
		}
	if (n < 4 || p[1] != '#')
		return 0;
	for (; at < n && p[at] != ';' && code < 0x80; at++) {
		unsigned value = p[at] >= '0' && p[at] <= '9' ?
					 (unsigned)(p[at] - '0') :
				 (p[at] | 32) >= 'a' && (p[at] | 32) <= 'f' ?
					 (unsigned)((p[at] | 32) - 'a' + 10) :
					 16;

		if (value >= (is_hex ? 16u : 10u))
			return 0;
		code = code * (is_hex ? 16 : 10) + value;
	}
	if (at >= n || p[at] != ';' || code < 0x20 || code > 0x7e)
		return 0;
	*out = (char)code;
	return at + 1;
}

/* The value of an attribute, decoded. */
static void decode(char *to, size_t size, const char *p, size_t n)
{
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

struct attribute {
	const char *name, *value;
	size_t name_n, value_n;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '/';
}

/* The next attribute at *p. out: false at the end */
static bool next(const char **p, const char *end, struct attribute *a)
{
	const char *s = *p;

	while (s < end && is_blank(*s))
		s++;
	if (s == end)
		return false;
	a->name = s;
	/* A '=' in front is part of the name, so that this ends. */
	do
		s++;
	while (s < end && !is_blank(*s) && *s != '=');
	a->name_n = (size_t)(s - a->name);
	a->value = s;
	a->value_n = 0;
	while (s < end && is_blank(*s) && *s != '/')
		s++;
	if (s < end && *s == '=') {
		char quote;

		do
			s++;
		while (s < end && is_blank(*s) && *s != '/');
		quote = s < end && (*s == '"' || *s == '\'') ? *s++ : 0;
		a->value = s;
		while (s < end && (quote ? *s != quote : !is_blank(*s) || *s == '/'))
			s++;
		a->value_n = (size_t)(s - a->value);
		s += quote && s < end;
	}
	*p = s;
	return true;
}

static bool is_named(const struct attribute *a, const char *name)
{
	return a->name_n == strlen(name) && strncasecmp(a->name, name, a->name_n) == 0;
}

/* "sha256=HEX" of a fragment or of an attribute, one of several with '&' between. */
static void hash_of(struct kz_simple_file *f, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "&"), name = strcspn(text, "=");
		char key[16];

		if (name < n && name < sizeof key) {
			memcpy(key, text, name);
			key[name] = '\0';
			kz_simple_hash(f, key, text + name + 1, n - name - 1);
		}
		text += n + (text[n] != 0);
	}
}

static void core_of(struct kz_simple_file *f, const char *text)
{
	f->has_metadata = *text && !kz_str_eq(text, "false");
	if (kz_str_has_prefix(text, "sha256=") && strlen(text) == 71 &&
	    strspn(text + 7, "0123456789abcdef") == 64)
		memcpy(f->metadata_sha256, text + 7, 65);
}

/* The last part of the path of a link, decoded: the name of the file. */
static void name_of(struct kz_simple_file *f)
{
	size_t path = strcspn(f->url, "?"), from = path, at = 0;

	while (from > 0 && f->url[from - 1] != '/')
		from--;
	for (; from < path && at + 1 < sizeof f->name; from++) {
		char c = f->url[from], hex[3] = { 0 };

		if (c == '%' && from + 2 < path) {
			memcpy(hex, f->url + from + 1, 2);
			if (kz_hex_decode(hex, &c, 1, NULL) != KZ_OK)
				break;
			from += 2;
		}
		f->name[at++] = c;
	}
	f->name[from < path ? 0 : at] = '\0';
}

static void anchor(struct kz_simple *s, const char *p, const char *end)
{
	struct kz_simple_file *f = &s->file;
	bool has_core = false;
	struct attribute a;
	char text[600];

	kz_simple_file_begin(s);
	while (next(&p, end, &a)) {
		if (is_named(&a, "href")) {
			char *mark;

			decode(f->url, sizeof f->url, a.value, a.value_n);
			mark = strchr(f->url, '#');
			if (mark) {
				*mark = '\0';
				hash_of(f, mark + 1);
			}
		} else if (is_named(&a, "data-requires-python")) {
			decode(f->requires_python, sizeof f->requires_python, a.value, a.value_n);
		} else if (is_named(&a, "data-yanked")) {
			f->is_yanked = true;
			decode(f->yanked, sizeof f->yanked, a.value, a.value_n);
		} else if (is_named(&a, "data-core-metadata") ||
			   (is_named(&a, "data-dist-info-metadata") && !has_core)) {
			has_core |= is_named(&a, "data-core-metadata");
			decode(text, sizeof text, a.value, a.value_n);
			core_of(f, text);
		}
	}
	name_of(f);
	(void)kz_simple_file_end(s);
}

static void meta(struct kz_simple *s, const char *p, const char *end)
{
	char name[40] = "", content[512] = "";
	struct attribute a;

	while (next(&p, end, &a)) {
		if (is_named(&a, "name"))
			decode(name, sizeof name, a.value, a.value_n);
		else if (is_named(&a, "content"))
			decode(content, sizeof content, a.value, a.value_n);
	}
	if (kz_str_eq(name, "pypi:repository-version") && !kz_simple_is_version(content))
		s->read = KZ_PKG_READ_BAD;
	else if (kz_str_eq(name, "pypi:project-status"))
		(void)kz_str_copy(s->status, sizeof s->status, content, NULL);
	else if (kz_str_eq(name, "pypi:project-status-reason"))
		(void)kz_str_copy(s->status_reason, sizeof s->status_reason, content, NULL);
}

static void base(struct kz_simple *s, const char *p, const char *end)
{
	struct attribute a;

	while (!*s->page && next(&p, end, &a))
		if (is_named(&a, "href"))
			decode(s->page, sizeof s->page, a.value, a.value_n);
}

/* A whole tag, without its '<' and '>'. */
static void tag(struct kz_simple *s)
{
	const char *p = kz_buf_str(&s->tag), *end = p + s->tag.len;
	size_t n = 0;

	while (p + n < end && !is_blank(p[n]))
		n++;
	s->html = TEXT;
	s->has_tag = true;
	if (n == 1 && (*p | 32) == 'a')
		anchor(s, p + n, end);
	else if (n == 4 && strncasecmp(p, "meta", 4) == 0)
		meta(s, p + n, end);
	else if (n == 4 && strncasecmp(p, "base", 4) == 0)
		base(s, p + n, end);
	else if ((n == 6 && strncasecmp(p, "script", 6) == 0) ||
		 (n == 5 && strncasecmp(p, "style", 5) == 0)) {
		(void)kz_str_format(s->skip, sizeof s->skip, NULL, "</%.*s", (int)n, p);
		s->html = RAW;
	}
	kz_buf_clear(&s->tag);
}

static void keep(struct kz_simple *s, char c)
{
	if (kz_buf_add(&s->tag, &c, 1, NULL) != KZ_OK)
		s->read = KZ_PKG_READ_BAD;
}

static void in_tag(struct kz_simple *s, char c)
{
	if (s->quote) {
		if (c == s->quote)
			s->quote = 0;
	} else if (c == '>') {
		tag(s);
		return;
	} else if ((c == '"' || c == '\'') && s->tag.len &&
		   strchr("= \t\n\r\f", s->tag.data[s->tag.len - 1])) {
		s->quote = c;
	}
	keep(s, c);
	if (s->tag.len == 3 && memcmp(s->tag.data, "!--", 3) == 0) {
		kz_buf_clear(&s->tag);
		s->html = COMMENT;
	}
}

/* Until "-->", or "</script": what was read last is in the tag's buffer. */
static void until(struct kz_simple *s, const char *ends, char c)
{
	size_t n = strlen(ends);

	keep(s, c);
	if (s->tag.len > n)
		kz_buf_drop(&s->tag, s->tag.len - n);
	if (s->tag.len < n || strncasecmp(s->tag.data, ends, n) != 0)
		return;
	/* The end of a script is a tag of its own, whose '>' is still to come. */
	s->html = s->html == RAW ? TAG : TEXT;
	kz_buf_clear(&s->tag);
	if (s->html == TAG)
		keep(s, '/');
}

void kz_simple_html_add(struct kz_simple *s, const char *p, size_t n)
{
	for (size_t i = 0; i < n && s->read == KZ_PKG_READ; i++) {
		switch ((enum html)s->html) {
		case TEXT:
			if (p[i] == '<') {
				s->html = TAG;
				s->quote = 0;
			}
			break;
		case TAG: in_tag(s, p[i]); break;
		case COMMENT: until(s, "-->", p[i]); break;
		case RAW: until(s, s->skip, p[i]); break;
		}
	}
}
