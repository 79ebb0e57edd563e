/* Text: names, lines, fields, numbers. */
#include "kzgen.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	if (line)
		fprintf(stderr, "%s:%d: ", file, line);
	else
		fprintf(stderr, "%s: ", file);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

void *need(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p)
		fail("kzgen", 0, "out of memory");
	return p;
}

char *copy(const char *s)
{
	char *p = need(strlen(s) + 1);

	memcpy(p, s, strlen(s));
	return p;
}

static char *mapped(const char *s, int (*map)(int))
{
	char *p = copy(s);

	for (char *c = p; *c; c++)
		*c = *c == '-' || *c == '.' ? '_' : (char)map((unsigned char)*c);
	return p;
}

char *upper(const char *s)
{
	return mapped(s, toupper);
}

char *lower(const char *s)
{
	return mapped(s, tolower);
}

void check_name(const char *file, int line, const char *name)
{
	if (strlen(name) > NAME_MOST - 1)
		fail(file, line, "name %s is longer than %d", name, NAME_MOST - 1);
	if (name[0] < 'a' || name[0] > 'z' ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
		fail(file, line, "%s is not a name ([a-z][a-z0-9_]*)", name);
}

static char *trim(char *s)
{
	size_t n;

	while (*s == ' ' || *s == '\t')
		s++;
	n = strlen(s);
	while (n && strchr(" \t\r\n", s[n - 1]))
		s[--n] = '\0';
	return s;
}

struct line *read_lines(const char *file, int *count)
{
	struct line *lines = NULL;
	char *text = NULL;
	size_t size = 0;
	int no = 0;
	FILE *f = fopen(file, "r");

	if (!f)
		fail(file, 0, "cannot open: %s", strerror(errno));
	*count = 0;
	while (getline(&text, &size, f) >= 0) {
		char *s = trim(text);

		no++;
		if (*s == '\0' || *s == '#')
			continue;
		lines = realloc(lines, sizeof(*lines) * ((size_t)*count + 1));
		if (!lines)
			fail(file, no, "out of memory");
		lines[(*count)++] = (struct line){ .no = no, .text = copy(s) };
	}
	if (ferror(f))
		fail(file, no, "cannot read");
	fclose(f);
	free(text);
	return lines;
}

void split_row(const char *file, const struct line *l, char **field, int n)
{
	char *s = copy(l->text);
	int i = 0;

	for (;;) {
		char *bar = strchr(s, '|');

		if (i == n)
			fail(file, l->no, "more than %d fields", n);
		if (bar)
			*bar = '\0';
		field[i++] = trim(s);
		if (!bar)
			break;
		s = bar + 1;
	}
	if (i != n)
		fail(file, l->no, "%d fields where %d are needed", i, n);
}

int split_words(const char *file, const struct line *l, char **word, int most)
{
	char *save = NULL;
	int n = 0;

	for (char *w = strtok_r(copy(l->text), " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		if (n == most)
			fail(file, l->no, "more than %d words", most);
		word[n++] = w;
	}
	return n;
}

int64_t number(const char *file, int line, const char *s)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno || end == s || *end || (!isdigit((unsigned char)*s) && *s != '-'))
		fail(file, line, "%s is not a number", *s ? s : "\"\"");
	return v;
}
