/* PDF: values in bytes. */
#include <string.h>

#include "core/native/pdf.h"

static bool is_blank(unsigned char c)
{
	return c == ' ' || (c >= 9 && c <= 13 && c != 11) || c == 0;
}

static bool is_delimiter(unsigned char c)
{
	return c && strchr("()<>[]{}/%", c);
}

static bool ends_word(const unsigned char *p, size_t n, size_t at)
{
	return at >= n || is_blank(p[at]) || is_delimiter(p[at]);
}

size_t kz_pdf_blank(struct kz_pdf *f, const unsigned char *p, size_t n, size_t at)
{
	size_t from = at;

	while (at < n && (is_blank(p[at]) || p[at] == '%')) {
		if (p[at++] != '%')
			continue;
		while (at < n && p[at] != '\n' && p[at] != '\r')
			at++;
	}
	f->work += (int64_t)(at - from);
	return at;
}

bool kz_pdf_word(struct kz_pdf *f, const unsigned char *p, size_t n, size_t *at, const char *word)
{
	size_t from = kz_pdf_blank(f, p, n, *at), size = strlen(word);

	if (from >= n || n - from < size || memcmp(p + from, word, size) != 0 ||
	    !ends_word(p, n, from + size))
		return false;
	*at = from + size;
	return true;
}

/* A number's sign and digits. out: false: no number */
static bool read_number(const unsigned char *p, size_t n, size_t *at, struct kz_pdf_value *v)
{
	size_t i = *at, digits = 0;
	bool is_negative = i < n && p[i] == '-', has_dot = false;

	if (i < n && (p[i] == '-' || p[i] == '+'))
		i++;
	for (v->num = 0; i < n; i++) {
		if (p[i] == '.' && !has_dot) {
			has_dot = true;
		} else if (p[i] >= '0' && p[i] <= '9') {
			digits++;
			if (!has_dot && v->num < INT64_MAX / 16)
				v->num = v->num * 10 + (p[i] - '0');
		} else if (p[i] != '-' || digits == 0) { /* "12-3" is seen in the wild */
			break;
		}
	}
	if ((digits == 0 && !has_dot) || !ends_word(p, n, i))
		return false;
	v->kind = has_dot ? KZ_PDF_REAL : KZ_PDF_INT;
	v->num = is_negative ? -v->num : v->num;
	*at = i;
	return true;
}

static bool skip_string(const unsigned char *p, size_t n, size_t *at)
{
	size_t depth = 0;

	for (size_t i = *at; i < n; i++) {
		if (p[i] == '\\')
			i++;
		else if (p[i] == '(')
			depth++;
		else if (p[i] == ')' && --depth == 0) {
			*at = i + 1;
			return true;
		}
	}
	return false;
}

static bool skip_hex(const unsigned char *p, size_t n, size_t *at)
{
	for (size_t i = *at + 1; i < n; i++) {
		if (p[i] == '>') {
			*at = i + 1;
			return true;
		}
		if (!is_blank(p[i]) && !(p[i] && strchr("0123456789abcdefABCDEF", p[i])))
			return false;
	}
	return false;
}

/* A value that holds no other. out: false: none is there */
static bool read_simple(struct kz_pdf *f, const unsigned char *p, size_t n, size_t *at,
			struct kz_pdf_value *v)
{
	static const struct {
		const char *word;
		enum kz_pdf_kind kind;
	} words[] = { { "null", KZ_PDF_NULL }, { "true", KZ_PDF_BOOL }, { "false", KZ_PDF_BOOL } };
	size_t i = *at;

	if (p[i] == '(' || p[i] == '<') {
		v->kind = KZ_PDF_STRING;
		return p[i] == '(' ? skip_string(p, n, at) : skip_hex(p, n, at);
	}
	if (p[i] == '/') {
		for (i++; !ends_word(p, n, i);)
			i++;
		v->kind = KZ_PDF_NAME;
		*at = i;
		return true;
	}
	for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
		if (kz_pdf_word(f, p, n, at, words[w].word)) {
			v->kind = words[w].kind;
			return true;
		}
	}
	return read_number(p, n, at, v);
}

/* "12 0 R" after its first number. */
static void read_reference(struct kz_pdf *f, const unsigned char *p, size_t n, size_t *at,
			   struct kz_pdf_value *v)
{
	struct kz_pdf_value gen = { 0 };
	size_t i;

	if (v->kind != KZ_PDF_INT || v->num < 0 || *at >= n || !is_blank(p[*at]))
		return;
	i = kz_pdf_blank(f, p, n, *at);
	if (i >= n || p[i] < '0' || p[i] > '9' || !read_number(p, n, &i, &gen) ||
	    gen.kind != KZ_PDF_INT || !kz_pdf_word(f, p, n, &i, "R"))
		return;
	v->kind = KZ_PDF_REF;
	v->gen = gen.num;
	*at = i;
}

/* Skip the inside of an array or a dictionary that was opened at *at. */
static bool skip_nested(struct kz_pdf *f, const unsigned char *p, size_t n, size_t *at)
{
	bool is_dict[KZ_PDF_NEST_MAX], wants_value[KZ_PDF_NEST_MAX];
	size_t depth = 0, i = *at;

	do {
		struct kz_pdf_value v = { 0 };
		bool opens_dict = i + 1 < n && p[i] == '<' && p[i + 1] == '<';
		if (i >= n)
			return false;
		if (depth > 0 && (p[i] == ']' || (p[i] == '>' && i + 1 < n && p[i + 1] == '>'))) {
			if (is_dict[depth - 1] != (p[i] == '>') || wants_value[depth - 1])
				return false;
			i += p[i] == '>' ? 2 : 1;
			depth--;
		} else {
			/* A dictionary is keys and values in turn; keys are names. */
			if (depth > 0 && is_dict[depth - 1]) {
				if (!wants_value[depth - 1] && p[i] != '/')
					return false;
				wants_value[depth - 1] = !wants_value[depth - 1];
			}
			if (opens_dict || p[i] == '[') {
				if (depth == KZ_PDF_NEST_MAX)
					return false;
				is_dict[depth] = opens_dict;
				wants_value[depth++] = false;
				i += opens_dict ? 2 : 1;
			} else {
				if (!read_simple(f, p, n, &i, &v))
					return false;
				read_reference(f, p, n, &i, &v);
			}
		}
		if (depth > 0)
			i = kz_pdf_blank(f, p, n, i);
	} while (depth > 0 && f->work <= KZ_PDF_WORK_MAX);
	*at = i;
	return depth == 0;
}

struct kz_pdf_value kz_pdf_read(struct kz_pdf *f, const unsigned char *p, size_t n, size_t at)
{
	struct kz_pdf_value v = { .p = p, .n = n };
	bool is_dict, is_read;

	at = kz_pdf_blank(f, p, n, at);
	if (at >= n || f->work > KZ_PDF_WORK_MAX)
		return v;
	v.at = at;
	is_dict = n - at >= 2 && p[at] == '<' && p[at + 1] == '<';
	if (is_dict || p[at] == '[') {
		v.kind = is_dict ? KZ_PDF_DICT : KZ_PDF_ARRAY;
		is_read = skip_nested(f, p, n, &at);
	} else {
		is_read = read_simple(f, p, n, &at, &v);
		if (is_read)
			read_reference(f, p, n, &at, &v);
	}
	v.end = at;
	/* What does not hold was read to its end too. */
	f->work += (int64_t)(is_read ? v.end - v.at : n - v.at);
	if (!is_read)
		v.kind = KZ_PDF_NONE;
	return v;
}

static int hex(unsigned char c)
{
	return c >= '0' && c <= '9'                   ? c - '0' :
	       (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 :
							-1;
}

bool kz_pdf_is_name(const struct kz_pdf_value *v, const char *name)
{
	size_t i = v->at + 1;

	if (v->kind != KZ_PDF_NAME)
		return false;
	for (; *name; name++) {
		int c;
		if (i >= v->end)
			return false;
		c = v->p[i++];
		if (c == '#' && v->end - i >= 2 && hex(v->p[i]) >= 0 && hex(v->p[i + 1]) >= 0) {
			c = hex(v->p[i]) * 16 + hex(v->p[i + 1]);
			i += 2;
		}
		if (c != (unsigned char)*name)
			return false;
	}
	return i == v->end;
}

struct kz_pdf_value kz_pdf_get(struct kz_pdf *f, const struct kz_pdf_value *dict, const char *key)
{
	struct kz_pdf_value name, value = { 0 };
	size_t at = dict->at + 2;

	if (dict->kind != KZ_PDF_DICT)
		return value;
	for (;;) {
		name = kz_pdf_read(f, dict->p, dict->end - 2, at);
		if (name.kind != KZ_PDF_NAME)
			return (struct kz_pdf_value){ 0 };
		value = kz_pdf_read(f, dict->p, dict->end - 2, name.end);
		if (value.kind == KZ_PDF_NONE || kz_pdf_is_name(&name, key))
			return value;
		at = value.end;
	}
}

bool kz_pdf_each(struct kz_pdf *f, const struct kz_pdf_value *array, size_t *at,
		 struct kz_pdf_value *item)
{
	if (array->kind != KZ_PDF_ARRAY)
		return false;
	*item = kz_pdf_read(f, array->p, array->end - 1, *at ? *at : array->at + 1);
	*at = item->end;
	return item->kind != KZ_PDF_NONE;
}
