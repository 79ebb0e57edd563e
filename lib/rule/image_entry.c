/* Reading a line of an image's list of files. */
#include "rule/image_entry.h"

#include <string.h>

#include "base/str.h"

#define FIELDS 5
#define SHA256_HEX 64

/* Cut text at its tabs. false: there are more or fewer than it takes */
static bool cut(char *text, char *field[FIELDS])
{
	for (size_t i = 0; i < FIELDS; i++) {
		char *tab = strchr(text, '\t');

		field[i] = text;
		if ((tab != NULL) != (i + 1 < FIELDS))
			return false;
		if (tab) {
			*tab = '\0';
			text = tab + 1;
		}
	}
	return true;
}

static bool mode_parse(const char *s, unsigned *mode)
{
	size_t n = strlen(s);

	*mode = 0;
	if (n != 4 || strspn(s, "01234567") != n)
		return false;
	for (; *s; s++)
		*mode = *mode * 8 + (unsigned)(*s - '0');
	return true;
}

/* Relative, without an empty part, "." or "..". */
static bool is_plain(const char *name)
{
	for (const char *part = name; part;) {
		size_t n = strcspn(part, "/");

		if (n == 0 || (n <= 2 && strspn(part, ".") >= n))
			return false;
		part = part[n] ? part + n + 1 : NULL;
	}
	return true;
}

static bool is_sum(const struct kz_image_line *line)
{
	switch (line->type) {
	case KZ_IMAGE_FILE:
		return strlen(line->sum) == SHA256_HEX &&
		       strspn(line->sum, "0123456789abcdef") == SHA256_HEX;
	case KZ_IMAGE_DIR: return strcmp(line->sum, "-") == 0 && line->size == 0;
	case KZ_IMAGE_LINK: return (size_t)line->size == strlen(line->sum) && line->size > 0;
	}
	return false;
}

bool kz_image_line_parse(const char *p, size_t n, struct kz_image_line *line)
{
	char *field[FIELDS];

	if (n >= sizeof line->text)
		return false;
	memcpy(line->text, p, n);
	line->text[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)p[i] < ' ' && p[i] != '\t')
			return false;
	if (!cut(line->text, field) || strlen(field[0]) != 1 ||
	    !mode_parse(field[1], &line->mode) ||
	    kz_str_int(field[2], 0, INT64_MAX, &line->size, NULL) != KZ_OK)
		return false;
	line->type = (enum kz_image_type)field[0][0];
	line->sum = field[3];
	line->name = field[4];
	return is_sum(line) && is_plain(line->name);
}
