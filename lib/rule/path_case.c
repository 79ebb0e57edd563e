/* Names that differ only in case, as a file system that ignores case would see them. */
#include <stdint.h>
#include <string.h>

#include "rule/path.h"

/* Letters from first to last, each step-th of them, have their small form that much further on (Unicode's simple folding). */
struct range {
	uint32_t first, last;
	int32_t add;
	uint32_t step;
};

static const struct range capitals[] = {
	{ 'A', 'Z', 32, 1 },      { 0xc0, 0xd6, 32, 1 },     { 0xd8, 0xde, 32, 1 },
	{ 0x100, 0x12e, 1, 2 },   { 0x132, 0x136, 1, 2 },    { 0x139, 0x147, 1, 2 },
	{ 0x14a, 0x176, 1, 2 },   { 0x178, 0x178, -121, 1 }, { 0x179, 0x17d, 1, 2 },
	{ 0x386, 0x386, 38, 1 },  { 0x388, 0x38a, 37, 1 },   { 0x38c, 0x38c, 64, 1 },
	{ 0x38e, 0x38f, 63, 1 },  { 0x391, 0x3a1, 32, 1 },   { 0x3a3, 0x3ab, 32, 1 },
	{ 0x3c2, 0x3c2, 1, 1 },   { 0x400, 0x40f, 80, 1 },   { 0x410, 0x42f, 32, 1 },
	{ 0x460, 0x480, 1, 2 },   { 0x48a, 0x4be, 1, 2 },    { 0x4c1, 0x4cd, 1, 2 },
	{ 0x4d0, 0x52e, 1, 2 },   { 0x531, 0x556, 48, 1 },   { 0x1e00, 0x1e94, 1, 2 },
	{ 0x1ea0, 0x1efe, 1, 2 }, { 0xff21, 0xff3a, 32, 1 },
};

static uint32_t small(uint32_t c)
{
	for (size_t i = 0; i < sizeof(capitals) / sizeof(*capitals); i++) {
		const struct range *r = &capitals[i];

		if (c >= r->first && c <= r->last && (c - r->first) % r->step == 0)
			return (uint32_t)((int32_t)c + r->add);
	}
	return c;
}

/* The next character of UTF-8 that was found valid; 0 at the end. */
static uint32_t next(const char **s)
{
	const unsigned char *p = (const unsigned char *)*s;
	size_t n = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	uint32_t c = n == 1 ? *p : *p & (0xffu >> (n + 1));

	if (!*p)
		return 0;
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	*s += n;
	return c;
}

bool kz_path_same_but_case(const char *a, const char *b)
{
	uint32_t x, y;

	do {
		x = small(next(&a));
		y = small(next(&b));
	} while (x && x == y);
	return x == y;
}
