/* Indexes of Python projects: what both forms have in common, and writing. */
#include "rule/simple.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "rule/simple_parts.h"

#define TYPE_JSON "application/vnd.pypi.simple.v1+json"
#define TYPE_HTML "application/vnd.pypi.simple.v1+html"

const char *kz_simple_type(enum kz_simple_form f)
{
	return f == KZ_SIMPLE_JSON ? TYPE_JSON : "text/html";
}

static bool is_word(const char *p, size_t n, const char *word)
{
	return n == strlen(word) && strncasecmp(p, word, n) == 0;
}

bool kz_simple_is_form(const char *type, enum kz_simple_form *out)
{
	size_t n = strcspn(type, "; \t");
	const char *set = strcasestr(type + n, "charset=");

	*out = is_word(type, n, TYPE_JSON) ? KZ_SIMPLE_JSON : KZ_SIMPLE_HTML;
	if (*out == KZ_SIMPLE_HTML && !is_word(type, n, TYPE_HTML) &&
	    !is_word(type, n, "text/html"))
		return false;
	if (!set)
		return true;
	set += strlen("charset=");
	set += *set == '"';
	n = strcspn(set, "\"; \t");
	return is_word(set, n, "utf-8") || is_word(set, n, "utf8") || is_word(set, n, "us-ascii");
}

/* The weight of one element, in thousandths: "; q=0.01". */
static int weight(const char *p, size_t n)
{
	int w = 0, unit = 100;

	for (size_t i = 0; i + 2 < n; i++)
		if ((p[i] == 'q' || p[i] == 'Q') && p[i + 1] == '=' && i > 0 &&
		    strchr("; \t", p[i - 1])) {
			if (p[i + 2] == '1')
				return 1000;
			for (i += 4; i < n && p[i] >= '0' && p[i] <= '9'; i++, unit /= 10)
				w += unit * (p[i] - '0');
			return w;
		}
	return 1000;
}

enum kz_simple_form kz_simple_accepts(const char *p, size_t n)
{
	int json = 0, html = 0;

	while (n > 0) {
		const char *comma = memchr(p, ',', n);
		size_t len = comma ? (size_t)(comma - p) : n, skip = 0, name;

		while (skip < len && (p[skip] == ' ' || p[skip] == '\t'))
			skip++;
		for (name = skip; name < len && !strchr("; \t", p[name]);)
			name++;
		if (is_word(p + skip, name - skip, TYPE_JSON))
			json = weight(p, len);
		else if (is_word(p + skip, name - skip, TYPE_HTML) ||
			 is_word(p + skip, name - skip, "text/html"))
			html = weight(p, len) > html ? weight(p, len) : html;
		p += len + (comma != NULL);
		n -= len + (comma != NULL);
	}
	return json > 0 && json >= html ? KZ_SIMPLE_JSON : KZ_SIMPLE_HTML;
}

bool kz_simple_is_version(const char *text)
{
	return text[0] == '1' && (text[1] == '\0' || (text[1] == '.' && text[2] &&
						      !text[2 + strspn(text + 2, "0123456789")]));
}

void kz_simple_text(char *to, size_t size, const char *text, size_t n)
{
	to[0] = '\0';
	if (n >= size || strlen(text) < n || !kz_utf8_valid(text, n))
		return;
	memcpy(to, text, n);
	to[n] = '\0';
	if (kz_str_has_control(to))
		to[0] = '\0';
}

void kz_simple_hash(struct kz_simple_file *f, const char *name, const char *hex, size_t n)
{
	static const char *const known[] = { "sha256", "sha384", "sha512", "sha1", "md5", NULL };
	size_t at = strlen(f->hashes);
	char lower[129];

	if (n < 32 || n > 128 || strspn(hex, "0123456789abcdefABCDEF") < n)
		return;
	for (size_t i = 0; i < n; i++)
		lower[i] = (char)(hex[i] >= 'A' && hex[i] <= 'F' ? hex[i] + 32 : hex[i]);
	lower[n] = '\0';
	for (size_t i = 0; known[i]; i++) {
		if (!kz_str_eq(known[i], name) || strstr(f->hashes, name))
			continue;
		if (i == 0 && n != 64)
			return;
		if (i == 0)
			memcpy(f->sha256, lower, 65);
		if (kz_str_format(f->hashes + at, sizeof f->hashes - at, NULL, "%s\"%s\":\"%s\"",
				  at ? "," : "", name, lower) != KZ_OK)
			f->hashes[at] = '\0';
	}
}

void kz_simple_file_begin(struct kz_simple *s)
{
	memset(&s->file, 0, sizeof s->file);
	s->file.size = -1;
}

bool kz_simple_file_end(struct kz_simple *s)
{
	struct kz_simple_file *f = &s->file;
	char link[KZ_PKG_LINK];
	bool is_wheel;

	if (!*f->url || !kz_pkg_is_file_of(f->name, s->project, &is_wheel))
		return true;
	f->has_metadata &= is_wheel;
	if (!s->on_file(s->arg, f, s->page))
		return true;
	kz_pkg_link(KZ_REGISTRY_PYPI, s->project, f->name, link);
	kz_simple_put_file(s, link);
	s->has_file = true;
	return s->read == KZ_PKG_READ;
}

void kz_simple_init(struct kz_simple *s, const char *project, const char *base,
		    enum kz_simple_form from, enum kz_simple_form to, struct kz_buf *out,
		    bool (*on_file)(void *arg, const struct kz_simple_file *f, const char *page),
		    void *arg)
{
	*s = (struct kz_simple){ project, base, from, to, out, .on_file = on_file, .arg = arg };
	kz_jsonflow_init(&s->flow, KZ_SIMPLE_TEXT, kz_simple_on_json, s);
	kz_buf_init(&s->head, 4096);
	kz_buf_init(&s->tag, KZ_SIMPLE_TAG);
	kz_buf_init(&s->versions, 1 << 18);
}

void kz_simple_release(struct kz_simple *s)
{
	kz_jsonflow_release(&s->flow);
	kz_buf_release(&s->head);
	kz_buf_release(&s->tag);
	kz_buf_release(&s->versions);
}

enum kz_pkg_read kz_simple_add(struct kz_simple *s, const void *data, size_t n)
{
	if (s->read != KZ_PKG_READ)
		return s->read;
	if (s->from == KZ_SIMPLE_HTML)
		kz_simple_html_add(s, data, n);
	else
		kz_pkg_read_json(&s->read, &s->flow, data, n);
	return s->read;
}

enum kz_pkg_read kz_simple_end(struct kz_simple *s)
{
	if (s->read != KZ_PKG_READ)
		return s->read;
	if (s->from == KZ_SIMPLE_JSON ?
		    !kz_jsonflow_end(&s->flow) || !s->is_named || !s->has_files :
		    !s->has_tag || s->html != 0)
		s->read = KZ_PKG_READ_BAD;
	else
		kz_simple_put_rest(s);
	return s->read;
}
