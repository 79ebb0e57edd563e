/* Indexes of Python projects: what both forms have in common, and writing. */
#include "rule/simple.h"

#include <inttypes.h>
#include <stdio.h>
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

static bool put(struct kz_simple *s, struct kz_buf *b, const char *text)
{
	if (kz_buf_puts(b, text, NULL) == KZ_OK)
		return true;
	s->read = KZ_PKG_READ_LARGE;
	return false;
}

static bool put_string(struct kz_simple *s, struct kz_buf *b, const char *key, const char *text)
{
	if (put(s, b, key) && kz_jsonflow_quote(b, text, strlen(text), NULL) == KZ_OK)
		return true;
	s->read = KZ_PKG_READ_LARGE;
	return false;
}

static bool put_json(struct kz_simple *s, const struct kz_simple_file *f, const char *link)
{
	char size[48] = "", core[100] = "";

	if (f->has_metadata && *f->metadata_sha256)
		(void)snprintf(core, sizeof core, ",\"core-metadata\":{\"sha256\":\"%s\"}",
			       f->metadata_sha256);
	else if (f->has_metadata)
		(void)snprintf(core, sizeof core, ",\"core-metadata\":true");
	if (f->size >= 0)
		(void)snprintf(size, sizeof size, ",\"size\":%" PRId64, f->size);
	return put(s, s->out, s->has_file ? "," : "") &&
	       put_string(s, s->out, "{\"filename\":", f->name) && put(s, s->out, ",\"url\":\"") &&
	       put(s, s->out, s->base) && put(s, s->out, link) &&
	       put(s, s->out, "\",\"hashes\":{") && put(s, s->out, f->hashes) &&
	       put(s, s->out, "}") &&
	       (!*f->requires_python ||
		put_string(s, s->out, ",\"requires-python\":", f->requires_python)) &&
	       put(s, s->out, size) && put(s, s->out, core) &&
	       (!*f->upload_time || put_string(s, s->out, ",\"upload-time\":", f->upload_time)) &&
	       (!f->is_yanked || (*f->yanked ? put_string(s, s->out, ",\"yanked\":", f->yanked) :
					       put(s, s->out, ",\"yanked\":true"))) &&
	       put(s, s->out, "}");
}

static bool put_escaped(struct kz_simple *s, struct kz_buf *b, const char *text)
{
	for (; *text; text++) {
		char one[2] = { *text, 0 };

		if (!put(s, b,
			 *text == '<' ? "&lt;" :
			 *text == '>' ? "&gt;" :
			 *text == '&' ? "&amp;" :
			 *text == '"' ? "&quot;" :
					one))
			return false;
	}
	return true;
}

static bool put_attribute(struct kz_simple *s, const char *name, const char *value)
{
	return put(s, s->out, name) && put_escaped(s, s->out, value) && put(s, s->out, "\"");
}

static bool put_html(struct kz_simple *s, const struct kz_simple_file *f, const char *link)
{
	char core[80] = "true";

	if (*f->metadata_sha256)
		(void)snprintf(core, sizeof core, "sha256=%s", f->metadata_sha256);
	if (!put(s, s->out, "<a href=\"") || !put(s, s->out, s->base) || !put(s, s->out, link) ||
	    !put(s, s->out, *f->sha256 ? "#sha256=" : "") || !put(s, s->out, f->sha256) ||
	    !put(s, s->out, "\""))
		return false;
	if (*f->requires_python &&
	    !put_attribute(s, " data-requires-python=\"", f->requires_python))
		return false;
	if (f->is_yanked && !put_attribute(s, " data-yanked=\"", f->yanked))
		return false;
	/* The older spelling too: pip 23.0 knows no other [PEP 714]. */
	if (f->has_metadata && (!put_attribute(s, " data-core-metadata=\"", core) ||
				!put_attribute(s, " data-dist-info-metadata=\"", core)))
		return false;
	return put(s, s->out, ">") && put_escaped(s, s->out, f->name) &&
	       put(s, s->out, "</a><br>\n");
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
	if (!(s->to == KZ_SIMPLE_JSON ? put_json(s, f, link) : put_html(s, f, link)))
		return false;
	s->has_file = true;
	return true;
}

void kz_simple_init(struct kz_simple *s, const char *project, const char *base,
		    enum kz_simple_form from, enum kz_simple_form to, struct kz_buf *out,
		    bool (*on_file)(void *arg, const struct kz_simple_file *f, const char *page),
		    void *arg)
{
	memset(s, 0, sizeof *s);
	s->project = project;
	s->base = base;
	s->from = from;
	s->to = to;
	s->out = out;
	s->on_file = on_file;
	s->arg = arg;
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
	else if (!kz_jsonflow_add(&s->flow, data, n) && s->read == KZ_PKG_READ)
		s->read = KZ_PKG_READ_BAD;
	return s->read;
}

static bool finish_json(struct kz_simple *s)
{
	return put(s, &s->head, "{\"meta\":{\"api-version\":\"") &&
	       put(s, &s->head, s->versions.len ? "1.1\"}" : "1.0\"}") &&
	       put_string(s, &s->head, ",\"name\":", s->project) &&
	       (!*s->status ||
		(put_string(s, &s->head, ",\"project-status\":{\"status\":", s->status) &&
		 (!*s->status_reason ||
		  put_string(s, &s->head, ",\"reason\":", s->status_reason)) &&
		 put(s, &s->head, "}"))) &&
	       put(s, &s->head, ",\"files\":[") && put(s, s->out, "]") &&
	       (!s->versions.len ||
		(put(s, s->out, ",\"versions\":[") && put(s, s->out, kz_buf_str(&s->versions)) &&
		 put(s, s->out, "]"))) &&
	       put(s, s->out, "}\n");
}

static bool put_meta(struct kz_simple *s, const char *name, const char *content)
{
	return put(s, &s->head, "<meta name=\"pypi:") && put(s, &s->head, name) &&
	       put(s, &s->head, "\" content=\"") && put_escaped(s, &s->head, content) &&
	       put(s, &s->head, "\">\n");
}

static bool finish_html(struct kz_simple *s)
{
	return put(s, &s->head, "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n") &&
	       put_meta(s, "repository-version", "1.1") &&
	       (!*s->status || put_meta(s, "project-status", s->status)) &&
	       (!*s->status_reason || put_meta(s, "project-status-reason", s->status_reason)) &&
	       put(s, &s->head, "<title>") && put(s, &s->head, s->project) &&
	       put(s, &s->head, "</title>\n</head>\n<body>\n") &&
	       put(s, s->out, "</body>\n</html>\n");
}

enum kz_pkg_read kz_simple_end(struct kz_simple *s)
{
	if (s->read != KZ_PKG_READ)
		return s->read;
	if (s->from == KZ_SIMPLE_JSON ?
		    !kz_jsonflow_end(&s->flow) || !s->is_named || !s->has_files :
		    !s->has_tag || s->html != 0)
		s->read = KZ_PKG_READ_BAD;
	else if (s->to == KZ_SIMPLE_JSON)
		(void)finish_json(s);
	else
		(void)finish_html(s);
	return s->read;
}
