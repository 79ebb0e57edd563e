/* Writing an index in either form. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rule/simple_parts.h"

/* What is put after a failure is put nowhere: s->read says so at the end. */
static void put(struct kz_simple *s, struct kz_buf *b, const char *text)
{
	if (s->read == KZ_PKG_READ && kz_buf_puts(b, text, NULL) != KZ_OK)
		s->read = KZ_PKG_READ_LARGE;
}

static void put_string(struct kz_simple *s, struct kz_buf *b, const char *key, const char *text)
{
	put(s, b, key);
	if (s->read == KZ_PKG_READ && kz_jsonflow_quote(b, text, strlen(text), NULL) != KZ_OK)
		s->read = KZ_PKG_READ_LARGE;
}

/* A member that is left out where there is nothing to say. */
static void put_told(struct kz_simple *s, struct kz_buf *b, const char *key, const char *text)
{
	if (*text)
		put_string(s, b, key, text);
}

static void put_link(struct kz_simple *s, const char *link)
{
	put(s, s->out, s->base);
	put(s, s->out, link);
}

static void put_core_json(struct kz_simple *s, const struct kz_simple_file *f)
{
	put(s, s->out, ",\"core-metadata\":");
	if (*f->metadata_sha256)
		put_string(s, s->out, "{\"sha256\":", f->metadata_sha256);
	put(s, s->out, *f->metadata_sha256 ? "}" : "true");
}

static void put_json(struct kz_simple *s, const struct kz_simple_file *f, const char *link)
{
	char size[48];

	put_string(s, s->out, s->has_file ? ",{\"filename\":" : "{\"filename\":", f->name);
	put(s, s->out, ",\"url\":\"");
	put_link(s, link);
	put(s, s->out, "\",\"hashes\":{");
	put(s, s->out, f->hashes);
	put(s, s->out, "}");
	put_told(s, s->out, ",\"requires-python\":", f->requires_python);
	if (f->size >= 0) {
		(void)snprintf(size, sizeof size, ",\"size\":%" PRId64, f->size);
		put(s, s->out, size);
	}
	if (f->has_metadata)
		put_core_json(s, f);
	put_told(s, s->out, ",\"upload-time\":", f->upload_time);
	if (f->is_yanked && !*f->yanked)
		put(s, s->out, ",\"yanked\":true");
	else if (f->is_yanked)
		put_string(s, s->out, ",\"yanked\":", f->yanked);
	put(s, s->out, "}");
}

static void put_escaped(struct kz_simple *s, struct kz_buf *b, const char *text)
{
	for (; *text; text++) {
		char one[2] = { *text, 0 };

		put(s, b,
		    *text == '<' ? "&lt;" :
		    *text == '>' ? "&gt;" :
		    *text == '&' ? "&amp;" :
		    *text == '"' ? "&quot;" :
				   one);
	}
}

static void put_attribute(struct kz_simple *s, const char *name, const char *value)
{
	put(s, s->out, name);
	put_escaped(s, s->out, value);
	put(s, s->out, "\"");
}

static void put_html(struct kz_simple *s, const struct kz_simple_file *f, const char *link)
{
	char core[80] = "true";

	if (*f->metadata_sha256)
		(void)snprintf(core, sizeof core, "sha256=%s", f->metadata_sha256);
	put(s, s->out, "<a href=\"");
	put_link(s, link);
	put(s, s->out, *f->sha256 ? "#sha256=" : "");
	put(s, s->out, f->sha256);
	put(s, s->out, "\"");
	if (*f->requires_python)
		put_attribute(s, " data-requires-python=\"", f->requires_python);
	if (f->is_yanked)
		put_attribute(s, " data-yanked=\"", f->yanked);
	if (f->has_metadata) {
		/* The older spelling too: pip 23.0 knows no other [PEP 714]. */
		put_attribute(s, " data-core-metadata=\"", core);
		put_attribute(s, " data-dist-info-metadata=\"", core);
	}
	put(s, s->out, ">");
	put_escaped(s, s->out, f->name);
	put(s, s->out, "</a><br>\n");
}

void kz_simple_put_file(struct kz_simple *s, const char *link)
{
	if (s->to == KZ_SIMPLE_JSON)
		put_json(s, &s->file, link);
	else
		put_html(s, &s->file, link);
}

static void finish_json(struct kz_simple *s)
{
	put(s, &s->head, "{\"meta\":{\"api-version\":\"");
	put(s, &s->head, s->versions.len ? "1.1\"}" : "1.0\"}");
	put_string(s, &s->head, ",\"name\":", s->project);
	if (*s->status) {
		put_string(s, &s->head, ",\"project-status\":{\"status\":", s->status);
		put_told(s, &s->head, ",\"reason\":", s->status_reason);
		put(s, &s->head, "}");
	}
	put(s, &s->head, ",\"files\":[");
	put(s, s->out, "]");
	if (s->versions.len) {
		put(s, s->out, ",\"versions\":[");
		put(s, s->out, kz_buf_str(&s->versions));
		put(s, s->out, "]");
	}
	put(s, s->out, "}\n");
}

static void put_meta(struct kz_simple *s, const char *name, const char *content)
{
	if (!*content)
		return;
	put(s, &s->head, "<meta name=\"pypi:");
	put(s, &s->head, name);
	put(s, &s->head, "\" content=\"");
	put_escaped(s, &s->head, content);
	put(s, &s->head, "\">\n");
}

static void finish_html(struct kz_simple *s)
{
	put(s, &s->head, "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n");
	put_meta(s, "repository-version", "1.1");
	put_meta(s, "project-status", s->status);
	put_meta(s, "project-status-reason", s->status_reason);
	put(s, &s->head, "<title>");
	put(s, &s->head, s->project);
	put(s, &s->head, "</title>\n</head>\n<body>\n");
	put(s, s->out, "</body>\n</html>\n");
}

void kz_simple_put_rest(struct kz_simple *s)
{
	if (s->to == KZ_SIMPLE_JSON)
		finish_json(s);
	else
		finish_html(s);
}
