/* XXH32 (seed 0) in pieces, and the tag of a text. */
#include "rule/tag.h"

#include <string.h>

#define P1 2654435761u
#define P2 2246822519u
#define P3 3266489917u
#define P4 668265263u
#define P5 374761393u

struct state {
	uint32_t v[4];
	uint32_t seed, total; /* total modulo 2^32, as the algorithm has it */
	bool is_long;         /* sixteen bytes or more came */
	unsigned char rest[16];
	size_t held;
};

static uint32_t rotl(uint32_t x, int r)
{
	return (x << r) | (x >> (32 - r));
}

static uint32_t le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void start(struct state *s, uint32_t seed)
{
	*s = (struct state){ .v = { seed + P1 + P2, seed + P2, seed, seed - P1 }, .seed = seed };
}

static void stripe(struct state *s, const unsigned char *p)
{
	for (int i = 0; i < 4; i++)
		s->v[i] = rotl(s->v[i] + le32(p + 4 * i) * P2, 13) * P1;
	s->is_long = true;
}

static void add(struct state *s, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	s->total += (uint32_t)n;
	if (s->held) {
		size_t take = sizeof s->rest - s->held;

		if (take > n)
			take = n;
		if (take)
			memcpy(s->rest + s->held, p, take);
		s->held += take;
		p += take;
		n -= take;
		if (s->held < sizeof s->rest)
			return;
		stripe(s, s->rest);
		s->held = 0;
	}
	for (; n >= sizeof s->rest; n -= sizeof s->rest, p += sizeof s->rest)
		stripe(s, p);
	if (n)
		memcpy(s->rest, p, n);
	s->held = n;
}

static uint32_t end(const struct state *s)
{
	const unsigned char *p = s->rest;
	size_t n = s->held;
	uint32_t h = s->seed + P5;

	if (s->is_long)
		h = rotl(s->v[0], 1) + rotl(s->v[1], 7) + rotl(s->v[2], 12) + rotl(s->v[3], 18);
	h += s->total;
	for (; n >= 4; n -= 4, p += 4)
		h = rotl(h + le32(p) * P3, 17) * P4;
	for (; n > 0; n--, p++)
		h = rotl(h + *p * P5, 11) * P1;
	h = (h ^ (h >> 15)) * P2;
	h = (h ^ (h >> 13)) * P3;
	return h ^ (h >> 16);
}

uint32_t kz_xxh32(const void *p, size_t n, uint32_t seed)
{
	struct state s;

	start(&s, seed);
	add(&s, p, n);
	return end(&s);
}

uint16_t kz_tag(const char *text, size_t n)
{
	struct state s;

	start(&s, 0);
	while (n > 0) {
		const char *lf = memchr(text, '\n', n);
		size_t line = lf ? (size_t)(lf - text) : n;
		size_t kept = line;

		while (kept > 0 &&
		       (text[kept - 1] == ' ' || text[kept - 1] == '\t' || text[kept - 1] == '\r'))
			kept--;
		add(&s, text, kept);
		if (lf) {
			add(&s, "\n", 1);
			line++;
		}
		text += line;
		n -= line;
	}
	return (uint16_t)end(&s);
}

void kz_tag_text(uint16_t tag, char out[KZ_TAG_TEXT])
{
	static const char digits[] = "0123456789ABCDEF";

	for (int i = 0; i < 4; i++)
		out[i] = digits[(tag >> (12 - 4 * i)) & 15];
	out[4] = 0;
}

bool kz_tag_parse(const char *p, size_t n, uint16_t *out)
{
	unsigned v = 0;

	if (n != 4)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (p[i] >= '0' && p[i] <= '9')
			v = v * 16 + (unsigned)(p[i] - '0');
		else if (p[i] >= 'A' && p[i] <= 'F')
			v = v * 16 + (unsigned)(p[i] - 'A') + 10;
		else if (p[i] >= 'a' && p[i] <= 'f')
			v = v * 16 + (unsigned)(p[i] - 'a') + 10;
		else
			return false;
	}
	*out = (uint16_t)v;
	return true;
}
