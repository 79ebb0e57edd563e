/* A message by its outermost object alone. */
#include "core/mcp/scan.h"

#include <string.h>

#include "base/str.h"

static void add(struct kz_mcp_scan *s, char c)
{
	if (s->word_n < KZ_MCP_ID_MAX)
		s->word[s->word_n] = c;
	s->word_n += s->word_n <= KZ_MCP_ID_MAX;
}

static bool is_word(const struct kz_mcp_scan *s, const char *word)
{
	return s->word_n == strlen(word) && !memcmp(s->word, word, s->word_n);
}

/* A name has ended. */
static void name(struct kz_mcp_scan *s)
{
	s->has_method |= is_word(s, "\"method\"");
	s->is_id = is_word(s, "\"id\"");
	s->is_wrong |= s->is_id && s->has_id;
	s->is_value = true;
	s->word_n = 0;
}

/* A member has ended. */
static void member(struct kz_mcp_scan *s)
{
	if (s->is_id && s->word_n && s->word_n <= KZ_MCP_ID_MAX) {
		memcpy(s->id, s->word, s->word_n);
		s->id[s->word_n] = 0;
		s->has_id = true;
	}
	s->is_value = s->is_id = false;
	s->word_n = 0;
}

static void text(struct kz_mcp_scan *s, char c)
{
	if (s->depth == 1)
		add(s, c);
	s->is_text = c != '"' || s->is_escaped;
	s->is_escaped = c == '\\' && !s->is_escaped;
}

static void enter(struct kz_mcp_scan *s, char c)
{
	s->is_wrong |= !s->depth && (c != '{' || s->is_over);
	s->depth++;
}

static void leave(struct kz_mcp_scan *s)
{
	if (s->depth == 1) {
		member(s);
		s->is_over = true;
	}
	s->is_wrong |= !s->depth;
	s->depth -= s->depth > 0;
}

static void byte(struct kz_mcp_scan *s, char c)
{
	if (s->is_text) {
		text(s, c);
		return;
	}
	s->is_text = c == '"';
	if (c == '{' || c == '[')
		enter(s, c);
	else if (c == '}' || c == ']')
		leave(s);
	else if (s->depth == 1 && c == ':' && !s->is_value)
		name(s);
	else if (s->depth == 1 && c == ',')
		member(s);
	else if (!strchr(" \t\r\n", c) && s->depth == 1)
		add(s, c);
	else if (!strchr(" \t\r\n", c) && !s->depth)
		s->is_wrong = true;
}

void kz_mcp_scan(struct kz_mcp_scan *s, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		byte(s, p[i]);
}

struct kz_json *kz_mcp_scan_id(const struct kz_mcp_scan *s)
{
	struct kz_json *id = NULL;

	if (s->is_wrong || !s->is_over || !s->has_id || !s->has_method ||
	    kz_json_parse(s->id, strlen(s->id), &id, NULL))
		return NULL;
	if (kz_mcp_is_id(id, NULL))
		return id;
	kz_json_free(id);
	return NULL;
}
