/* Imports of Python and JavaScript programs, told token by token. */
#include "rule/imports.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "gen/bundled.h"
#include "gen/imports.h"
#include "rule/classify_parts.h"

static const char *const python_own[] = {
#define X(name) name,
#include "rule/python_modules.tbl"
#undef X
};
static const char *const node_own[] = {
#define X(name) name,
#include "rule/node_modules.tbl"
#undef X
};

static int by_name(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

bool kz_imports_is_builtin(enum kz_ecosystem eco, const char *module)
{
	if (eco == KZ_ECO_PYTHON)
		return bsearch(module, python_own, sizeof python_own / sizeof *python_own,
			       sizeof *python_own, by_name);
	return kz_str_has_prefix(module, "node:") ||
	       bsearch(module, node_own, sizeof node_own / sizeof *node_own, sizeof *node_own,
		       by_name);
}

const char *kz_imports_package(const char *module)
{
	for (size_t i = 0; i < KZ_BUNDLED_ROWS; i++)
		if (kz_str_eq(kz_bundled_rows[i].module, module))
			return kz_bundled_rows[i].name;
	for (size_t i = 0; i < KZ_IMPORT_ROWS; i++)
		if (kz_str_eq(kz_import_rows[i].module, module))
			return kz_import_rows[i].package;
	return module;
}

static void note(struct kz_imports *out, enum kz_ecosystem eco, const char *p, size_t n)
{
	struct kz_import *m = &out->list[out->count];
	char name[KZ_REQUIREMENT_NAME];

	/* what is no name of a package is none of our business: the interpreter will say so */
	if (!n || n >= sizeof name || memchr(p, 0, n))
		return;
	memcpy(name, p, n);
	name[n] = '\0';
	if (kz_imports_is_builtin(eco, name))
		return;
	for (size_t i = 0; i < out->count; i++)
		if (kz_str_eq(out->list[i].module, name))
			return;
	if (out->count == KZ_IMPORTS_MOST) {
		out->is_cut = true;
		return;
	}
	*m = (struct kz_import){ .module = "" };
	memcpy(m->module, name, n + 1);
	(void)kz_str_copy(m->package, sizeof m->package,
			  eco == KZ_ECO_PYTHON ? kz_imports_package(name) : name, NULL);
	out->count++;
}

/* Of a Python program: where the statement that is being read stands. */
struct python {
	struct kz_imports *out;
	bool is_start;  /* the next token begins a statement */
	size_t indent;  /* of its line */
	size_t guarded; /* 1 + indent of the "try" it is in; 0: none */
	bool is_line;   /* it is the first of its line */
	enum { PY_NONE, PY_IMPORT, PY_FROM, PY_REST } state;
};

static bool is_word(const struct kz_tok *t, const char *word)
{
	return t->kind == KZ_TOK_NAME && kz_piece_is(t->text, word);
}

static bool is_mark(const struct kz_tok *t, char c)
{
	return t->kind == KZ_TOK_MARK && t->text.n == 1 && *t->text.p == c;
}

/* A statement begins. */
static void python_start(struct python *s, const struct kz_tok *t)
{
	static const char *const goes_on[] = { "except", "else", "finally", NULL };

	s->state = PY_NONE;
	if (s->is_line && s->guarded && s->indent < s->guarded &&
	    !(s->indent + 1 == s->guarded && t->kind == KZ_TOK_NAME &&
	      kz_piece_in(t->text, goes_on)))
		s->guarded = 0;
	if (is_word(t, "try") && !s->guarded)
		s->guarded = s->indent + 1;
	else if (is_word(t, "import") && !s->guarded)
		s->state = PY_IMPORT;
	else if (is_word(t, "from") && !s->guarded)
		s->state = PY_FROM;
	s->is_line = false;
}

static void python_token(struct python *s, const struct kz_tok *t, bool is_open)
{
	if (t->kind == KZ_TOK_LINE || t->kind == KZ_TOK_SHELL) {
		s->is_start = s->is_line = t->kind == KZ_TOK_LINE;
		s->indent = t->indent;
		return;
	}
	if (s->is_start) {
		s->is_start = false;
		python_start(s, t);
		return;
	}
	if (is_mark(t, ';') || (is_mark(t, ':') && !is_open)) {
		s->is_start = true;
		return;
	}
	if (s->state == PY_IMPORT || s->state == PY_FROM) {
		if (t->kind == KZ_TOK_NAME)
			note(s->out, KZ_ECO_PYTHON, t->text.p, t->text.n);
		/* "from . import x" names nothing; "import a.b as c, d" goes on at the comma */
		s->state = s->state == PY_IMPORT && t->kind == KZ_TOK_NAME ? PY_REST : PY_NONE;
	} else if (s->state == PY_REST && is_mark(t, ',')) {
		s->state = PY_IMPORT;
	}
}

/* The package of "name/sub" and "@scope/name/sub"; nothing for paths, addresses and imports of one's own. */
static void note_specifier(struct kz_imports *out, const struct kz_tok *t)
{
	const char *p = t->text.p, *end = p + t->text.n, *slash;

	if (t->text.n == 0 || memchr(p, '\\', t->text.n) || memchr(p, ':', t->text.n) ||
	    t->is_template || *p == '.' || *p == '/' || *p == '#')
		return;
	slash = memchr(p, '/', t->text.n);
	if (*p == '@') {
		if (!slash)
			return;
		slash = memchr(slash + 1, '/', (size_t)(end - slash - 1));
	}
	note(out, KZ_ECO_NODE, p, (size_t)((slash ? slash : end) - p));
}

enum js_state { JS_NONE, JS_CALL, JS_OPEN, JS_CLAUSE, JS_SOURCE };

struct node {
	struct kz_imports *out;
	size_t braces, guarded; /* guarded: 1 + braces around the "try" that is open; 0: none */
	bool is_try;            /* its brace has to come */
	int state;              /* enum js_state */
	bool was_dot;
};

static void node_braces(struct node *s, const struct kz_tok *t)
{
	if (is_mark(t, '{')) {
		s->braces++;
		if (s->is_try && !s->guarded)
			s->guarded = s->braces;
		s->is_try = false;
	} else if (is_mark(t, '}') && s->braces) {
		if (s->guarded == s->braces)
			s->guarded = 0;
		s->braces--;
	}
}

/* Part of an import clause: names, braces, commas, a star. */
static bool is_clause(const struct kz_tok *t)
{
	return t->kind == KZ_TOK_NAME || is_mark(t, '{') || is_mark(t, '}') || is_mark(t, ',') ||
	       is_mark(t, '*');
}

/* What a token other than a string makes of the state: "import 'x'", "import('x')", "import ... from 'x'". */
static int node_next(const struct node *s, const struct kz_tok *t, bool was_dot)
{
	bool is_source = s->state == JS_SOURCE;

	if (is_word(t, "require") && !was_dot)
		return JS_CALL;
	if (is_word(t, "import") && !was_dot)
		return JS_SOURCE;
	if (is_word(t, "export") && !was_dot)
		return JS_CLAUSE;
	if (is_mark(t, '('))
		return s->state == JS_CALL || is_source ? JS_OPEN : JS_NONE;
	if (!is_source && s->state != JS_CLAUSE)
		return JS_NONE;
	if (is_word(t, "from"))
		return JS_SOURCE;
	return is_clause(t) ? JS_CLAUSE : JS_NONE;
}

static void node_token(struct node *s, const struct kz_tok *t)
{
	bool was_dot = s->was_dot;

	node_braces(s, t);
	s->was_dot = is_mark(t, '.');
	if (t->kind == KZ_TOK_LINE)
		return;
	if (t->kind == KZ_TOK_STRING) {
		if ((s->state == JS_OPEN || s->state == JS_SOURCE) && !s->guarded)
			note_specifier(s->out, t);
		s->state = JS_NONE;
		return;
	}
	if (is_word(t, "try") && !was_dot)
		s->is_try = true;
	s->state = node_next(s, t, was_dot);
}

void kz_imports_find(enum kz_ecosystem eco, const char *text, size_t n, struct kz_imports *out)
{
	struct kz_lex l = { .p = text, .n = n, .line = 1, .is_node = eco == KZ_ECO_NODE };
	struct python py = { .out = out };
	struct node js = { .out = out };
	struct kz_tok t;

	out->count = 0;
	out->is_cut = false;
	while ((t = kz_lex_next(&l)).kind != KZ_TOK_END) {
		if (eco == KZ_ECO_PYTHON)
			python_token(&py, &t, l.depth > 0);
		else
			node_token(&js, &t);
	}
}
