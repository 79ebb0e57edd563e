/* Requirements: reading strictly, comparing with what is installed. */
#include "rule/requirement.h"

#include <string.h>

#include "base/str.h"
#include "rule/reason.h"
#include "rule/version.h"

struct scan {
	const char *p, *end;
};

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static enum kz_rc bad(struct kz_err *err, const char *why)
{
	return kz_refuse(err, KZ_R_DEPENDENCY_REQUEST_INVALID,
			 "this is not a requirement that can be asked for: %s", why);
}

static void blanks(struct scan *s)
{
	while (s->p < s->end && *s->p == ' ')
		s->p++;
}

/* Append what was read to the canonical text. */
static enum kz_rc add(struct kz_requirement *r, const char *p, size_t n, struct kz_err *err)
{
	size_t used = strlen(r->text);

	if (used + n >= sizeof r->text)
		return bad(err, "it is too long");
	memcpy(r->text + used, p, n);
	return KZ_OK;
}

static enum kz_rc copy(char *to, size_t size, const char *p, size_t n, struct kz_err *err)
{
	if (n >= size)
		return bad(err, "it is too long");
	memcpy(to, p, n);
	to[n] = '\0';
	return KZ_OK;
}

/* Letters, digits and what may stand between them. out: length, 0 when none begins here */
static size_t word(const struct scan *s)
{
	size_t n = 0, left = (size_t)(s->end - s->p);

	while (n < left && (is_alnum(s->p[n]) || (s->p[n] && strchr("._-", s->p[n]))))
		n++;
	return n && is_alnum(s->p[0]) && is_alnum(s->p[n - 1]) ? n : 0;
}

static enum kz_rc extras(struct scan *s, struct kz_requirement *r, struct kz_err *err)
{
	enum kz_rc rc;

	blanks(s);
	if (s->p == s->end || *s->p != '[')
		return KZ_OK;
	do {
		size_t n;

		rc = add(r, s->p++, 1, err);
		blanks(s);
		n = word(s);
		if (!n)
			return bad(err, "an extra is no name");
		if (rc == KZ_OK)
			rc = add(r, s->p, n, err);
		if (rc != KZ_OK)
			return rc;
		s->p += n;
		blanks(s);
	} while (s->p < s->end && *s->p == ',');
	if (s->p == s->end || *s->p != ']')
		return bad(err, "the list of extras has no end");
	r->has_extras = true;
	return add(r, s->p++, 1, err);
}

/* One clause without its blanks. out: false when it is none */
static bool clause(struct scan *s, char out[KZ_REQUIREMENT_MAX])
{
	size_t n = 0;

	while (s->p < s->end && *s->p != ',') {
		if (*s->p == ' ') {
			/* around the operator and at the end only */
			bool is_inside = n && !strchr("<>=!~", out[n - 1]);

			blanks(s);
			if (is_inside && s->p < s->end && *s->p != ',')
				return false;
			continue;
		}
		out[n++] = *s->p++;
	}
	out[n] = '\0';
	return kz_version_clause_is_valid(out, n);
}

static enum kz_rc clauses(struct scan *s, struct kz_requirement *r, struct kz_err *err)
{
	char one[KZ_REQUIREMENT_MAX];
	size_t used = 0, count = 0;

	blanks(s);
	while (s->p < s->end) {
		if (count++)
			s->p++; /* the comma */
		blanks(s);
		if (!clause(s, one))
			return bad(
				err,
				"behind the name there may stand versions alone (==1.2, >=1,<2)");
		if (used + strlen(one) + 2 > sizeof r->versions)
			return bad(err, "it is too long");
		if (used)
			r->versions[used++] = ',';
		memcpy(r->versions + used, one, strlen(one) + 1);
		used += strlen(one);
		if (s->p < s->end && s->p + 1 == s->end)
			return bad(err, "it ends in a comma");
	}
	r->is_pin = count == 1 && r->versions[0] == '=' && r->versions[used - 1] != '*';
	return add(r, r->versions, used, err);
}

static enum kz_rc python(struct scan *s, struct kz_requirement *r, struct kz_err *err)
{
	size_t n = word(s);
	enum kz_rc rc;

	if (!n)
		return bad(err, "it does not begin with a name");
	rc = copy(r->name, sizeof r->name, s->p, n, err);
	if (rc == KZ_OK)
		rc = add(r, s->p, n, err);
	s->p += n;
	if (rc == KZ_OK)
		rc = extras(s, r, err);
	return rc == KZ_OK ? clauses(s, r, err) : rc;
}

/* The installer would take such a name for a file. */
static bool is_file_name(const char *s)
{
	static const char *const ends[] = { ".tgz", ".tar.gz", ".tar" };
	size_t n = strlen(s);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (n >= strlen(ends[i]) && !strcasecmp(s + n - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

/* Part of a name: letters, digits, - _ . ~, no dot or underscore first. */
static size_t node_word(const struct scan *s)
{
	size_t n = 0, left = (size_t)(s->end - s->p);

	while (n < left && (is_alnum(s->p[n]) || (s->p[n] && strchr("._-~", s->p[n]))))
		n++;
	return n && is_alnum(s->p[0]) ? n : 0;
}

/* Exactly NUMBER.NUMBER.NUMBER with what may follow it. */
static bool is_exact(const char *s)
{
	int dots = 0;

	if (strspn(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-+") !=
	    strlen(s))
		return false;
	for (; *s && *s != '-' && *s != '+'; s++) {
		dots += *s == '.';
		if (!(*s >= '0' && *s <= '9') && (*s != '.' || !(s[1] >= '0' && s[1] <= '9')))
			return false;
	}
	return dots == 2;
}

static enum kz_rc range(struct scan *s, struct kz_requirement *r, struct kz_err *err)
{
	size_t n = (size_t)(s->end - s->p);
	enum kz_rc rc = copy(r->versions, sizeof r->versions, s->p, n, err);

	s->p = s->end;
	if (rc != KZ_OK)
		return rc;
	if (!n || !(is_alnum(*r->versions) || strchr("^~<>=*", *r->versions)) ||
	    strspn(r->versions,
		   "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.^~<>=|*+- ") !=
		    n ||
	    r->versions[n - 1] == ' ' || is_file_name(r->versions))
		return bad(err, "behind @ there may stand a version, a range or a tag alone");
	r->is_pin = is_exact(r->versions);
	return KZ_OK;
}

/* NAME or @NAME/NAME, into r->name. */
static enum kz_rc node_name(struct scan *s, struct kz_requirement *r, struct kz_err *err)
{
	const char *from = s->p;
	size_t n;
	enum kz_rc rc;

	if (s->p < s->end && *s->p == '@') {
		s->p++;
		n = node_word(s);
		s->p += n;
		if (!n || s->p == s->end || *s->p != '/')
			return bad(err, "a scope is @NAME/NAME");
		s->p++;
	}
	n = node_word(s);
	if (!n)
		return bad(err, "it does not begin with a name");
	s->p += n;
	rc = copy(r->name, sizeof r->name, from, (size_t)(s->p - from), err);
	if (rc == KZ_OK && is_file_name(r->name))
		return bad(err, "its name is one of a file");
	return rc;
}

static enum kz_rc node(struct scan *s, struct kz_requirement *r, struct kz_err *err)
{
	enum kz_rc rc = node_name(s, r, err);

	if (rc != KZ_OK)
		return rc;
	if (s->p < s->end && *s->p != '@')
		return bad(err, "behind the name there may stand @ and a range alone");
	if (s->p < s->end) {
		s->p++;
		rc = range(s, r, err);
	}
	if (rc == KZ_OK)
		rc = add(r, r->name, strlen(r->name), err);
	if (rc == KZ_OK && r->versions[0])
		rc = add(r, "@", 1, err);
	return rc == KZ_OK ? add(r, r->versions, strlen(r->versions), err) : rc;
}

enum kz_rc kz_requirement_parse(enum kz_ecosystem eco, const char *p, size_t n,
				struct kz_requirement *out, struct kz_err *err)
{
	struct scan s = { p, p + n };
	enum kz_rc rc = KZ_OK;

	*out = (struct kz_requirement){ .eco = eco };
	if (!n || n > KZ_REQUIREMENT_MAX)
		rc = bad(err, n ? "it is too long" : "it is empty");
	for (size_t i = 0; rc == KZ_OK && i < n; i++)
		if (p[i] < ' ' || p[i] > '~')
			rc = bad(err, "it has bytes that are no printable ASCII");
	if (rc == KZ_OK && *p == '-')
		rc = bad(err, "it begins like an option");
	if (rc == KZ_OK)
		rc = eco == KZ_ECO_PYTHON ? python(&s, out, err) : node(&s, out, err);
	if (rc == KZ_OK)
		kz_requirement_key(eco, out->name, out->key);
	if (rc != KZ_OK)
		*out = (struct kz_requirement){ .eco = eco };
	return rc;
}

bool kz_requirement_allows(const struct kz_requirement *r, const char *version)
{
	struct kz_version v;

	if (!r->versions[0])
		return true;
	if (r->eco == KZ_ECO_NODE)
		return r->is_pin && kz_str_eq(r->versions, version);
	return kz_version_parse(version, strlen(version), &v) && kz_version_holds(&v, r->versions);
}

void kz_requirement_key(enum kz_ecosystem eco, const char *name, char out[KZ_REQUIREMENT_NAME])
{
	size_t n = 0;

	if (strlen(name) >= KZ_REQUIREMENT_NAME || eco == KZ_ECO_NODE) {
		(void)kz_str_copy(out, KZ_REQUIREMENT_NAME, name, NULL);
		return;
	}
	for (; *name; name++) {
		bool is_mark = strchr("-_.", *name) != NULL;

		if (is_mark && n && out[n - 1] == '-')
			continue;
		out[n++] = is_mark                      ? '-' :
			   *name >= 'A' && *name <= 'Z' ? (char)(*name | 32) :
							  *name;
	}
	out[n] = '\0';
}

const char *kz_ecosystem_name(enum kz_ecosystem eco)
{
	return eco == KZ_ECO_NODE ? "node" : "python";
}
