/* JSON in pieces. */
#include "rule/jsonflow.h"

#include <string.h>

#include "base/str.h"

enum state {
	VALUE,       /* a value must come */
	FIRST_VALUE, /* of an array: a value, or its end */
	FIRST_KEY,   /* of an object: a key, or its end */
	NEXT_KEY,    /* a key must come */
	COLON,       /* after a key */
	AFTER,       /* after a value: ',' or an end */
	STRING,      /* inside of one */
	ESCAPE,      /* after its '\' */
	CODE,        /* in the digits of \u */
	PAIR,
	PAIR_U, /* after the first half of a pair */
	WORD,   /* in a number, true, false or null */
	DONE,   /* blanks alone */
};

void kz_jsonflow_init(struct kz_jsonflow *j, size_t text_max, kz_jsonflow_fn fn, void *arg)
{
	memset(j, 0, sizeof *j);
	kz_buf_init(&j->text, text_max);
	j->fn = fn;
	j->arg = arg;
	j->state = VALUE;
}

void kz_jsonflow_release(struct kz_jsonflow *j)
{
	kz_buf_release(&j->text);
}

static bool is_told(const struct kz_jsonflow *j)
{
	return !j->pass;
}

static bool tell(struct kz_jsonflow *j, enum kz_jsonflow_what what)
{
	enum kz_jsonflow_say say;

	if (!is_told(j))
		return true;
	say = j->fn(j->arg, what, kz_buf_str(&j->text), j->text.len);
	if (say == KZ_JSON_PASS && what == KZ_JSON_KEY)
		j->is_passed = true;
	return say != KZ_JSON_STOP;
}

static bool keep(struct kz_jsonflow *j, char c)
{
	return !is_told(j) || kz_buf_add(&j->text, &c, 1, NULL) == KZ_OK;
}

static bool keep_code(struct kz_jsonflow *j, uint32_t c)
{
	if (c < 0x80)
		return keep(j, (char)c);
	if (c < 0x800)
		return keep(j, (char)(0xc0 | c >> 6)) && keep(j, (char)(0x80 | (c & 63)));
	if (c < 0x10000)
		return keep(j, (char)(0xe0 | c >> 12)) && keep(j, (char)(0x80 | (c >> 6 & 63))) &&
		       keep(j, (char)(0x80 | (c & 63)));
	return keep(j, (char)(0xf0 | c >> 18)) && keep(j, (char)(0x80 | (c >> 12 & 63))) &&
	       keep(j, (char)(0x80 | (c >> 6 & 63))) && keep(j, (char)(0x80 | (c & 63)));
}

/* A value has ended: what comes after it depends on what it stands in. */
static void value_over(struct kz_jsonflow *j)
{
	if (j->pass && j->depth < j->pass)
		j->pass = 0;
	j->state = j->depth ? AFTER : DONE;
}

/* A value begins; one that is passed ends the telling until this depth is reached again. */
static void value_begin(struct kz_jsonflow *j)
{
	if (j->is_passed)
		j->pass = (uint16_t)(j->depth + 1);
	j->is_passed = false;
}

static bool open(struct kz_jsonflow *j, bool is_array)
{
	if (j->depth == KZ_JSONFLOW_DEPTH)
		return false;
	if (!tell(j, is_array ? KZ_JSON_ARRAY : KZ_JSON_OBJECT))
		return false;
	j->is_array[++j->depth] = is_array;
	j->state = is_array ? FIRST_VALUE : FIRST_KEY;
	return true;
}

static bool close_one(struct kz_jsonflow *j, bool is_array)
{
	if (j->depth == 0 || j->is_array[j->depth] != is_array)
		return false;
	j->depth--;
	if (!tell(j, is_array ? KZ_JSON_ARRAY_END : KZ_JSON_OBJECT_END))
		return false;
	value_over(j);
	return true;
}

static bool string_begin(struct kz_jsonflow *j, bool is_key)
{
	kz_buf_clear(&j->text);
	j->is_key = is_key;
	j->utf8_left = 0;
	j->state = STRING;
	return true;
}

static bool string_end(struct kz_jsonflow *j)
{
	/* What is passed is not looked at that closely. */
	if (is_told(j) && !kz_utf8_valid(kz_buf_str(&j->text), j->text.len))
		return false;
	if (!tell(j, j->is_key ? KZ_JSON_KEY : KZ_JSON_STRING))
		return false;
	if (j->is_key)
		j->state = COLON;
	else
		value_over(j);
	return true;
}

static bool value(struct kz_jsonflow *j, char c)
{
	value_begin(j);
	kz_buf_clear(&j->text);
	if (c == '{' || c == '[')
		return open(j, c == '[');
	if (c == '"')
		return string_begin(j, false);
	j->state = WORD;
	j->word = 0;
	kz_buf_clear(&j->text);
	if (c != '-' && (c < '0' || c > '9') && c != 't' && c != 'f' && c != 'n')
		return false;
	return kz_buf_add(&j->text, &c, 1, NULL) == KZ_OK;
}

static bool is_number(const char *p)
{
	p += *p == '-';
	if (*p == '0')
		p++;
	else if (*p >= '1' && *p <= '9')
		p += strspn(p, "0123456789");
	else
		return false;
	if (*p == '.') {
		size_t n = strspn(++p, "0123456789");

		if (n == 0)
			return false;
		p += n;
	}
	if (*p == 'e' || *p == 'E') {
		size_t n;

		p++;
		p += *p == '+' || *p == '-';
		n = strspn(p, "0123456789");
		if (n == 0)
			return false;
		p += n;
	}
	return *p == '\0';
}

static bool word_end(struct kz_jsonflow *j)
{
	const char *w = kz_buf_str(&j->text);

	if (!kz_str_eq(w, "true") && !kz_str_eq(w, "false") && !kz_str_eq(w, "null") &&
	    !is_number(w))
		return false;
	if (!tell(j, KZ_JSON_OTHER))
		return false;
	value_over(j);
	return true;
}

static bool escape(struct kz_jsonflow *j, char c)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = c ? strchr(from, c) : NULL;

	j->state = STRING;
	if (at)
		return keep(j, to[at - from]);
	j->state = CODE;
	j->code = 0;
	j->code_at = 0;
	return c == 'u';
}

/* The fourth digit: a character, half of one, or (a half alone) one that stands for what cannot be shown. */
static bool code_over(struct kz_jsonflow *j)
{
	uint32_t c = j->code;

	j->state = STRING;
	if (j->high) {
		uint32_t high = j->high;

		j->high = 0;
		if (c < 0xdc00 || c > 0xdfff)
			return false;
		return keep_code(j, 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00));
	}
	if (c >= 0xd800 && c <= 0xdbff) {
		j->high = c;
		j->state = PAIR;
		return true;
	}
	return (c < 0xdc00 || c > 0xdfff) && keep_code(j, c);
}

static bool code(struct kz_jsonflow *j, char c)
{
	static const char digits[] = "0123456789abcdef";
	char lower = c >= 'A' && c <= 'F' ? (char)(c + 32) : c;
	const char *at = lower ? strchr(digits, lower) : NULL;

	if (!at)
		return false;
	j->code = j->code << 4 | (uint32_t)(at - digits);
	return ++j->code_at < 4 || code_over(j);
}

static bool in_string(struct kz_jsonflow *j, char c)
{
	switch ((enum state)j->state) {
	case ESCAPE: return escape(j, c);
	case CODE: return code(j, c);
	case PAIR: j->state = PAIR_U; return c == '\\';
	case PAIR_U:
		j->state = CODE;
		j->code = 0;
		j->code_at = 0;
		return c == 'u';
	case STRING:
	case VALUE:
	case FIRST_VALUE:
	case FIRST_KEY:
	case NEXT_KEY:
	case COLON:
	case AFTER:
	case WORD:
	case DONE: break;
	}
	if (c == '"')
		return string_end(j);
	if (c == '\\') {
		j->state = ESCAPE;
		return true;
	}
	return (unsigned char)c >= 0x20 && keep(j, c);
}

static bool between(struct kz_jsonflow *j, char c)
{
	switch ((enum state)j->state) {
	case FIRST_VALUE:
		if (c == ']')
			return close_one(j, true);
		return value(j, c);
	case VALUE: return value(j, c);
	case FIRST_KEY:
		if (c == '}')
			return close_one(j, false);
		return c == '"' && string_begin(j, true);
	case NEXT_KEY: return c == '"' && string_begin(j, true);
	case COLON: j->state = VALUE; return c == ':';
	case AFTER:
		if (c != ',')
			return (c == ']' || c == '}') && close_one(j, c == ']');
		j->state = j->is_array[j->depth] ? VALUE : NEXT_KEY;
		return true;
	case STRING:
	case ESCAPE:
	case CODE:
	case PAIR:
	case PAIR_U:
	case WORD:
	case DONE: break;
	}
	return false;
}

static bool step(struct kz_jsonflow *j, char c)
{
	if (j->state >= STRING && j->state <= PAIR_U)
		return in_string(j, c);
	if (j->state == WORD) {
		if (c && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", c))
			return ++j->word < 64 && kz_buf_add(&j->text, &c, 1, NULL) == KZ_OK;
		if (!word_end(j))
			return false;
	}
	if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		return true;
	return between(j, c);
}

/* Inside a string most bytes are plain: all of them up to the next that means something go at once. */
static size_t plain(struct kz_jsonflow *j, const char *p, size_t n)
{
	size_t i = 0;

	if (j->state != STRING)
		return 0;
	while (i < n && p[i] != '"' && p[i] != '\\' && (unsigned char)p[i] >= 0x20)
		i++;
	if (i && is_told(j) && kz_buf_add(&j->text, p, i, NULL) != KZ_OK)
		j->is_failed = true;
	return i;
}

bool kz_jsonflow_add(struct kz_jsonflow *j, const void *p, size_t n)
{
	const char *s = p;

	for (size_t i = 0; !j->is_failed && i < n;) {
		i += plain(j, s + i, n - i);
		if (!j->is_failed && i < n && !step(j, s[i++]))
			j->is_failed = true;
	}
	return !j->is_failed;
}

bool kz_jsonflow_end(struct kz_jsonflow *j)
{
	if (!j->is_failed && j->state == WORD && !word_end(j))
		j->is_failed = true;
	return !j->is_failed && j->state == DONE;
}

enum kz_rc kz_jsonflow_quote(struct kz_buf *b, const char *text, size_t n, struct kz_err *err)
{
	enum kz_rc rc = kz_buf_add(b, "\"", 1, err);

	for (size_t i = 0; !rc && i < n;) {
		size_t from = i;

		while (i < n && text[i] != '"' && text[i] != '\\' &&
		       (unsigned char)text[i] >= 0x20 && text[i] != 0x7f)
			i++;
		rc = kz_buf_add(b, text + from, i - from, err);
		if (!rc && i < n)
			rc = kz_buf_printf(b, err,
					   text[i] == '"' || text[i] == '\\' ? "\\%c" : "\\u%04x",
					   (unsigned)(unsigned char)text[i]);
		i++;
	}
	return rc ? rc : kz_buf_add(b, "\"", 1, err);
}
