/* Versions of Python distributions: reading, order, clauses. */
#include "rule/version.h"

#include <string.h>

#include "base/str.h"

struct scan {
	const char *p, *end;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char low(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

static bool digits(struct scan *s, int64_t *out)
{
	const char *from = s->p;

	for (*out = 0; s->p < s->end && is_digit(*s->p); s->p++) {
		if (s->p - from > 15)
			return false;
		*out = *out * 10 + (*s->p - '0');
	}
	return s->p > from;
}

static bool take(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->p) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (low(s->p[i]) != word[i])
			return false;
	s->p += n;
	return true;
}

static void separator(struct scan *s)
{
	if (s->p < s->end && strchr("._-", *s->p))
		s->p++;
}

/* One of the words, a separator before and after it, and its number, 0 when it has none. out: which, -1 none */
static int labelled(struct scan *s, const char *const *words, int64_t *number)
{
	struct scan t = *s;

	separator(&t);
	for (int i = 0; words[i]; i++) {
		if (!take(&t, words[i]))
			continue;
		*s = t;
		separator(&t);
		if (digits(&t, number))
			*s = t;
		else
			*number = 0;
		return i;
	}
	return -1;
}

static bool release(struct scan *s, struct kz_version *v)
{
	struct scan t;

	if (!digits(s, &v->part[0]))
		return false;
	if (s->p < s->end && *s->p == '!') {
		v->epoch = v->part[0];
		s->p++;
		if (!digits(s, &v->part[0]))
			return false;
	}
	for (v->count = 1; s->p < s->end && *s->p == '.'; v->count++) {
		t = *s;
		t.p++;
		if (t.p >= t.end || !is_digit(*t.p))
			return true;
		if (v->count == KZ_VERSION_PARTS || !digits(&t, &v->part[v->count]))
			return false;
		*s = t;
	}
	return true;
}

static void suffixes(struct scan *s, struct kz_version *v)
{
	static const char *const pre[] = { "alpha", "beta", "preview", "pre", "rc",
					   "a",     "b",    "c",       NULL };
	static const int phases[] = { 0, 1, 2, 2, 2, 0, 1, 2 };
	static const char *const post[] = { "post", "rev", "r", NULL };
	static const char *const dev[] = { "dev", NULL };
	int i = labelled(s, pre, &v->pre);
	struct scan t;

	v->phase = i < 0 ? 3 : phases[i];
	v->post = -1;
	v->dev = INT64_MAX;
	t = *s;
	if (t.p < t.end && *t.p == '-' && (t.p++, digits(&t, &v->post)))
		*s = t;
	else if (labelled(s, post, &v->post) < 0)
		v->post = -1;
	if (labelled(s, dev, &v->dev) < 0)
		v->dev = INT64_MAX;
	else if (v->phase == 3 && v->post < 0)
		v->phase = -1;
}

static bool local(struct scan *s, struct kz_version *v)
{
	size_t n = 0;

	if (s->p == s->end)
		return true;
	if (*s->p++ != '+' || s->p == s->end)
		return false;
	for (; s->p < s->end; s->p++) {
		char c = low(*s->p);

		if (!(is_digit(c) || (c >= 'a' && c <= 'z') || strchr("._-", c)) ||
		    n + 1 >= sizeof v->local)
			return false;
		v->local[n++] = strchr("_-", c) ? '.' : c;
	}
	return true;
}

bool kz_version_parse(const char *p, size_t n, struct kz_version *out)
{
	struct scan s = { p, p + n };

	*out = (struct kz_version){ .post = -1, .dev = INT64_MAX };
	if (n > 128 || memchr(p, 0, n))
		return false;
	(void)take(&s, "v");
	if (!release(&s, out))
		return false;
	suffixes(&s, out);
	return local(&s, out);
}

static int order(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Without the local part. */
static int compare_public(const struct kz_version *a, const struct kz_version *b)
{
	int c = order(a->epoch, b->epoch);

	for (int i = 0; !c && i < KZ_VERSION_PARTS; i++)
		c = order(a->part[i], b->part[i]);
	if (!c)
		c = order(a->phase, b->phase);
	if (!c)
		c = order(a->pre, b->pre);
	if (!c)
		c = order(a->post, b->post);
	return c ? c : order(a->dev, b->dev);
}

int kz_version_compare(const struct kz_version *a, const struct kz_version *b)
{
	int c = compare_public(a, b);

	return c ? c : strcmp(a->local, b->local);
}

/* The operator at the beginning. out: its length, 0 when there is none */
static size_t operator_length(const char *p, size_t n)
{
	static const char *const two[] = { "~=", "==", "!=", "<=", ">=" };

	for (size_t i = 0; n >= 2 && i < sizeof two / sizeof *two; i++)
		if (!memcmp(p, two[i], 2))
			return n > 2 && p[2] == '=' ? 0 : 2;
	return n && (*p == '<' || *p == '>') ? 1 : 0;
}

struct clause {
	char op; /* first character; '=' and '!' for == and != */
	bool is_inclusive, is_prefix;
	struct kz_version v;
};

static bool clause_parse(const char *p, size_t n, struct clause *c)
{
	size_t op = operator_length(p, n);

	*c = (struct clause){ .op = op ? *p : 0, .is_inclusive = op == 2 };
	if (!op)
		return false;
	p += op;
	n -= op;
	if (n > 2 && p[n - 2] == '.' && p[n - 1] == '*') {
		c->is_prefix = true;
		n -= 2;
	}
	if (!kz_version_parse(p, n, &c->v))
		return false;
	if (c->is_prefix)
		return (c->op == '=' || c->op == '!') && c->v.phase == 3 && c->v.post < 0 &&
		       c->v.dev == INT64_MAX && !c->v.local[0];
	if (c->op == '~')
		return c->v.count > 1 && !c->v.local[0];
	return !c->v.local[0] || c->op == '=' || c->op == '!';
}

static bool has_prefix(const struct kz_version *v, const struct kz_version *of, int count)
{
	for (int i = 0; i < count; i++)
		if (v->part[i] != of->part[i])
			return false;
	return v->epoch == of->epoch;
}

static bool equals(const struct kz_version *v, const struct clause *c)
{
	if (c->is_prefix)
		return has_prefix(v, &c->v, c->v.count);
	/* without a local part of its own a clause takes any */
	return c->v.local[0] ? !kz_version_compare(v, &c->v) : !compare_public(v, &c->v);
}

static bool same_release(const struct kz_version *a, const struct kz_version *b)
{
	return has_prefix(a, b, KZ_VERSION_PARTS);
}

static bool is_before_release(const struct kz_version *v)
{
	return v->phase < 3 || v->dev != INT64_MAX;
}

static bool holds(const struct kz_version *v, const struct clause *c)
{
	int order_of = compare_public(v, &c->v);

	switch (c->op) {
	case '=': return equals(v, c);
	case '!': return !equals(v, c);
	case '~': return order_of >= 0 && has_prefix(v, &c->v, c->v.count - 1);
	case '<':
		if (c->is_inclusive)
			return order_of <= 0;
		/* a pre-release of what is excluded is not below it */
		return order_of < 0 && !(is_before_release(v) && !is_before_release(&c->v) &&
					 same_release(v, &c->v));
	default:
		if (c->is_inclusive)
			return order_of >= 0;
		return order_of > 0 && !(v->post >= 0 && c->v.post < 0 && same_release(v, &c->v));
	}
}

bool kz_version_clause_is_valid(const char *p, size_t n)
{
	struct clause c;

	return clause_parse(p, n, &c);
}

bool kz_version_holds(const struct kz_version *v, const char *clauses)
{
	bool names_pre = false;

	if (!*clauses)
		return true;
	for (const char *p = clauses;; p++) {
		size_t n = strcspn(p, ",");
		struct clause c;

		if (!clause_parse(p, n, &c) || !holds(v, &c))
			return false;
		names_pre = names_pre || is_before_release(&c.v);
		p += n;
		if (!*p)
			break;
	}
	return names_pre || !is_before_release(v);
}
