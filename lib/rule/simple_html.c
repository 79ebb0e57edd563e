/* The HTML form of an index (PEP 503): tags alone, in pieces. */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "rule/simple_parts.h"

enum html { TEXT, TAG, COMMENT, RAW };

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
	struct kz_simple_attribute a;
	char text[600];

	kz_simple_file_begin(s);
	while (kz_simple_next(&p, end, &a)) {
		if (kz_simple_is_named(&a, "href")) {
			char *mark;

			kz_simple_decode(f->url, sizeof f->url, &a);
			mark = strchr(f->url, '#');
			if (mark) {
				*mark = '\0';
				hash_of(f, mark + 1);
			}
		} else if (kz_simple_is_named(&a, "data-requires-python")) {
			kz_simple_decode(f->requires_python, sizeof f->requires_python, &a);
		} else if (kz_simple_is_named(&a, "data-yanked")) {
			f->is_yanked = true;
			kz_simple_decode(f->yanked, sizeof f->yanked, &a);
		} else if (kz_simple_is_named(&a, "data-core-metadata") ||
			   (kz_simple_is_named(&a, "data-dist-info-metadata") && !has_core)) {
			has_core |= kz_simple_is_named(&a, "data-core-metadata");
			kz_simple_decode(text, sizeof text, &a);
			core_of(f, text);
		}
	}
	name_of(f);
	(void)kz_simple_file_end(s);
}

static void meta(struct kz_simple *s, const char *p, const char *end)
{
	char name[40] = "", content[512] = "";
	struct kz_simple_attribute a;

	while (kz_simple_next(&p, end, &a)) {
		if (kz_simple_is_named(&a, "name"))
			kz_simple_decode(name, sizeof name, &a);
		else if (kz_simple_is_named(&a, "content"))
			kz_simple_decode(content, sizeof content, &a);
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
	struct kz_simple_attribute a;

	while (!*s->page && kz_simple_next(&p, end, &a))
		if (kz_simple_is_named(&a, "href"))
			kz_simple_decode(s->page, sizeof s->page, &a);
}

/* A whole tag, without its '<' and '>'. */
static void tag(struct kz_simple *s)
{
	const char *p = kz_buf_str(&s->tag), *end = p + s->tag.len;
	size_t n = 0;

	while (p + n < end && !kz_simple_is_blank(p[n]))
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
