/* Classification of programs: tokens of Python and JavaScript. */
#include "rule/classify_parts.h"

static bool is_name(char c)
{
	return c == '_' || c == '$' || (c >= '0' && c <= '9') ||
	       ((c | 32) >= 'a' && (c | 32) <= 'z') || (unsigned char)c >= 0x80;
}

static char at(const struct kz_lex *l, size_t i)
{
	return i < l->n ? l->p[i] : 0;
}

static void skip_to(struct kz_lex *l, size_t end)
{
	for (; l->at < end && l->at < l->n; l->at++)
		l->line += l->p[l->at] == '\n';
}

static size_t line_end(const struct kz_lex *l)
{
	const char *end = memchr(l->p + l->at, '\n', l->n - l->at);

	return end ? (size_t)(end - l->p) : l->n;
}

/* Past a comment, when one begins here. */
static bool comment(struct kz_lex *l)
{
	char c = at(l, l->at), d = at(l, l->at + 1);

	if ((!l->is_node && c == '#') || (l->is_node && c == '/' && d == '/') ||
	    (l->is_node && l->at == 0 && c == '#' && d == '!')) {
		l->at = line_end(l);
		return true;
	}
	if (l->is_node && c == '/' && d == '*') {
		const char *end = memmem(l->p + l->at + 2, l->n - l->at - 2, "*/", 2);

		skip_to(l, end ? (size_t)(end - l->p) + 2 : l->n);
		return true;
	}
	return false;
}

/* Up to the quote that ends a string; one that stands on one line ends there at the latest. */
static size_t string_end(const struct kz_lex *l, size_t i, char quote, bool is_triple)
{
	bool is_one_line = !is_triple && quote != '`';

	for (; i < l->n; i++) {
		char c = l->p[i];

		if (c == '\\')
			i++;
		else if (c == '\n' && is_one_line)
			return i;
		else if (c == quote &&
			 (!is_triple || (at(l, i + 1) == quote && at(l, i + 2) == quote)))
			return i;
		else if (quote == '`' && c == '$' && at(l, i + 1) == '{') {
			size_t open = 0;

			for (i++; i < l->n; i++) {
				open += l->p[i] == '{';
				if (l->p[i] == '}' && --open == 0)
					break;
			}
		}
	}
	return l->n;
}

static struct kz_tok string(struct kz_lex *l, size_t prefix)
{
	char quote = l->p[l->at + prefix];
	bool is_triple = !l->is_node && at(l, l->at + prefix + 1) == quote &&
			 at(l, l->at + prefix + 2) == quote;
	size_t from = l->at + prefix + (is_triple ? 3 : 1);
	size_t end = string_end(l, from, quote, is_triple);
	struct kz_tok t = { .kind = KZ_TOK_STRING, .line = l->line, .is_template = quote == '`' };

	for (size_t i = 0; i < prefix; i++)
		t.is_raw = t.is_raw || (l->p[l->at + i] | 32) == 'r';
	end = end > l->n ? l->n : end;
	from = from > end ? end : from;
	t.text = (struct kz_piece){ l->p + from, end - from };
	if (end < l->n && l->p[end] == quote)
		end += is_triple ? 3 : 1;
	skip_to(l, end);
	return t;
}

/* Length of what stands before the quotes of a Python string, -1 when none begins here. */
static int string_prefix(const struct kz_lex *l)
{
	int n = 0;

	while (!l->is_node && n < 2 && at(l, l->at + (size_t)n) &&
	       strchr("rbfuRBFU", at(l, l->at + (size_t)n)))
		n++;
	switch (at(l, l->at + (size_t)n)) {
	case '"':
	case '\'': return n;
	case '`': return l->is_node ? n : -1;
	default: return -1;
	}
}

/* Can an expression begin after this token? Then "/" begins a pattern and no division. */
static bool is_before_value(const struct kz_tok *t)
{
	static const char *const words[] = { "return", "typeof", "case", "in", "of", NULL };

	if (t->kind == KZ_TOK_MARK)
		return t->text.p[t->text.n - 1] != ')' && t->text.p[t->text.n - 1] != ']' &&
		       t->text.p[t->text.n - 1] != '}';
	return t->kind == KZ_TOK_LINE || t->kind == KZ_TOK_END ||
	       (t->kind == KZ_TOK_NAME && kz_piece_in(t->text, words));
}

/* A pattern /.../ of JavaScript, as a mark. out: false when it is none */
static bool pattern(struct kz_lex *l)
{
	size_t i = l->at + 1;
	bool is_class = false;

	if (!l->is_node || at(l, l->at) != '/' || l->line == l->plain_line ||
	    !is_before_value(&l->last))
		return false;
	for (; i < l->n && l->p[i] != '\n'; i++) {
		if (l->p[i] == '\\')
			i++;
		else if (l->p[i] == '[')
			is_class = true;
		else if (l->p[i] == ']')
			is_class = false;
		else if (l->p[i] == '/' && !is_class) {
			l->at = i + 1;
			return true;
		}
	}
	l->plain_line = l->line; /* looking again at each "/" of it would be quadratic */
	return false;
}

static struct kz_tok mark(struct kz_lex *l)
{
	char c = l->p[l->at], d = at(l, l->at + 1);
	size_t n = 1;

	if (pattern(l))
		return (struct kz_tok){ .kind = KZ_TOK_MARK, .text = { "/]", 2 }, .line = l->line };
	if (d == '=' && c && strchr("=!<>+", c))
		n = l->is_node && at(l, l->at + 2) == '=' ? 3 : 2;
	else if ((c == '&' || c == '|') && d == c)
		n = 2;
	if (c == '(' || c == '[' || (c == '{' && !l->is_node))
		l->depth++;
	else if ((c == ')' || c == ']' || (c == '}' && !l->is_node)) && l->depth)
		l->depth--;
	l->at += n;
	return (struct kz_tok){ .kind = KZ_TOK_MARK,
				.text = { l->p + l->at - n, n },
				.line = l->line };
}

/* The first token of a line outside brackets: its indentation, or a command of a notebook. */
static struct kz_tok line(struct kz_lex *l, size_t indent)
{
	struct kz_tok t = { .kind = KZ_TOK_LINE, .line = l->line, .indent = indent };

	l->is_line_begun = true;
	if (!l->is_node && at(l, l->at) == '!') {
		size_t end = line_end(l);

		t.kind = KZ_TOK_SHELL;
		t.text = (struct kz_piece){ l->p + l->at + 1, end - l->at - 1 };
		l->at = end;
	}
	return t;
}

static struct kz_tok name(struct kz_lex *l)
{
	size_t from = l->at;
	bool is_number = l->p[from] >= '0' && l->p[from] <= '9';

	while (l->at < l->n && is_name(l->p[l->at]))
		l->at++;
	return (struct kz_tok){ .kind = is_number ? KZ_TOK_NUMBER : KZ_TOK_NAME,
				.text = { l->p + from, l->at - from },
				.line = l->line };
}

static struct kz_tok next(struct kz_lex *l)
{
	size_t indent = 0;
	int prefix;

	for (; l->at < l->n; l->at++) {
		char c = l->p[l->at];

		if (c == '\n') {
			l->line++;
			indent = 0;
			l->is_line_begun = l->is_line_begun && l->depth > 0;
		} else if (c == '\\' && at(l, l->at + 1) == '\n') {
			l->line++;
			l->at++;
		} else if (c == ' ' || c == '\t' || c == '\r') {
			indent++;
		} else if (comment(l)) {
			l->at--;
		} else {
			break;
		}
	}
	if (l->at >= l->n)
		return (struct kz_tok){ .kind = KZ_TOK_END, .line = l->line };
	if (!l->is_line_begun)
		return line(l, indent);
	prefix = string_prefix(l);
	if (prefix >= 0)
		return string(l, (size_t)prefix);
	return is_name(l->p[l->at]) ? name(l) : mark(l);
}

struct kz_tok kz_lex_next(struct kz_lex *l)
{
	l->last = next(l);
	return l->last;
}

size_t kz_tok_plain(const struct kz_tok *t, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < t->text.n && n < size; i++) {
		char c = t->text.p[i];

		if (c == '\\' && !t->is_raw && i + 1 < t->text.n) {
			c = t->text.p[++i];
			if (c == '\n')
				continue;
			c = c == 'n' ? '\n' : c == 't' || c == 'r' ? ' ' : c;
		}
		out[n++] = c;
	}
	return n;
}
