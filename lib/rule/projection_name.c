/* File names that the server gives: safe, and one for each file of a set. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "rule/projection_parts.h"

#define SUFFIX_MAX 16
#define FALLBACK "file"

/* Characters that mislead who reads a listing: directions, joiners, separators, marks of byte order. */
static bool is_invisible(uint32_t c)
{
	return (c >= 0x80 && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       c == 0x61c || c == 0x180e || (c >= 0xfff9 && c <= 0xfffb) || (c >> 16) == 0xe;
}

static bool is_plain(unsigned char c)
{
	return c > 0x20 && c < 0x7f && !strchr("\"#$%&'*/:;<>?@\\^`{|}~!", c);
}

/* One character of s; out: its bytes. Invalid text counts byte by byte. */
static size_t decode(const char *s, uint32_t *c)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = u[0] < 0x80 ? 1 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;

	*c = 0;
	if (n == 1 || strnlen(s, n) < n || !kz_utf8_valid(s, n)) {
		*c = u[0] < 0x80 ? u[0] : 0x80;
		return 1;
	}
	*c = u[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++)
		*c = *c << 6 | (u[i] & 0x3f);
	return n;
}

/* Copy as many whole, safe characters as fit into size - 1 bytes; what is unsafe becomes one '_'. */
static void sanitize(const char *s, const char *end, char *out, size_t size)
{
	size_t len = 0;

	while (s < end) {
		uint32_t c;
		size_t n = decode(s, &c);
		bool ok = c < 0x80 ? is_plain((unsigned char)c) : !is_invisible(c);

		if (len + (ok ? n : 1) >= size)
			break;
		if (ok) {
			memcpy(out + len, s, n);
			len += n;
		} else if (!len || out[len - 1] != '_') {
			out[len++] = '_';
		}
		s += n;
	}
	out[len] = '\0';
}

/* Nothing in front that hides it or looks like an option, nothing behind that some systems drop. */
static void trim(char *name)
{
	size_t lead = strspn(name, ".-"), n = strlen(name) - lead;

	memmove(name, name + lead, n + 1);
	while (n && name[n - 1] == '.')
		name[--n] = '\0';
}

void kz_prj_name(const char *filename, char out[KZ_PRJ_NAME])
{
	const char *base = filename ? filename : "", *end, *dot;
	char suffix[SUFFIX_MAX + 2];

	for (const char *s = base; *s; s++)
		if (*s == '/' || *s == '\\')
			base = s + 1;
	end = base + strlen(base);
	dot = strrchr(base, '.');
	if (!dot || dot == base || end - dot > SUFFIX_MAX)
		dot = end;
	sanitize(dot, end, suffix, sizeof(suffix));
	/* room is left for the prefix of kz_prj_unique */
	sanitize(base, dot, out, KZ_PRJ_NAME - sizeof(suffix) - 4);
	trim(out);
	if (!*out)
		memcpy(out, FALLBACK, sizeof(FALLBACK));
	memcpy(out + strlen(out), suffix, strlen(suffix) + 1);
	trim(out);
}

static bool is_taken(const struct kz_prj_set *set, const char *name)
{
	for (size_t i = 0; i < set->file_count; i++)
		if (strcasecmp(set->files[i].name, name) == 0)
			return true;
	return false;
}

void kz_prj_unique(struct kz_prj_set *set, const struct kz_prj_doc *d)
{
	struct kz_prj_file *f = &set->files[set->file_count];
	char plain[KZ_PRJ_NAME];

	f->doc = d;
	kz_prj_name(d->filename, plain);
	memcpy(f->name, plain, sizeof(plain));
	for (int i = 2; is_taken(set, f->name); i++)
		snprintf(f->name, sizeof(f->name), "%d-%.*s", i & 63, KZ_PRJ_NAME - 8, plain);
	set->file_count++;
	set->file_bytes += d->size;
}
