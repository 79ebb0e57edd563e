/* Heads and names of entries. */
#include "rule/entry.h"

#include <string.h>

#define COMPONENT_MAX 255
#define MODE_MAX 07777
#define NS_MAX 999999999

static void put(uint8_t *p, int bytes, uint64_t v)
{
	for (int i = bytes - 1; i >= 0; i--, v >>= 8)
		p[i] = (uint8_t)v;
}

static uint64_t get(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

void kz_entry_head(const struct kz_entry *e, uint8_t out[KZ_ENTRY_HEAD])
{
	memset(out, 0, KZ_ENTRY_HEAD);
	out[0] = (uint8_t)e->kind;
	put(out + 2, 2, e->name_len);
	put(out + 4, 4, e->mode);
	put(out + 8, 8, (uint64_t)e->mtime_s);
	put(out + 16, 4, e->mtime_ns);
	put(out + 24, 8, (uint64_t)e->size);
}

/* What the kind allows, beyond what all heads obey. */
static bool is_fit(const struct kz_entry *e)
{
	switch (e->kind) {
	case KZ_ENTRY_FILE: return e->name_len > 0;
	case KZ_ENTRY_DIR: return e->name_len > 0 && e->size == 0;
	case KZ_ENTRY_LINK: return e->name_len > 0 && e->size > 0 && e->size <= KZ_ENTRY_TARGET_MAX;
	case KZ_ENTRY_END:
		return e->name_len == 0 && e->mode == 0 && e->mtime_ns == 0 && e->mtime_s >= 0;
	}
	return false;
}

bool kz_entry_parse(const uint8_t head[KZ_ENTRY_HEAD], struct kz_entry *out)
{
	uint64_t size = get(head + 24, 8);

	if (head[1] != 0 || get(head + 20, 4) != 0 || size > INT64_MAX)
		return false;
	*out = (struct kz_entry){ .kind = (enum kz_entry_kind)head[0],
				  .name_len = (size_t)get(head + 2, 2),
				  .mode = (uint32_t)get(head + 4, 4),
				  .mtime_s = (int64_t)get(head + 8, 8),
				  .mtime_ns = (uint32_t)get(head + 16, 4),
				  .size = (int64_t)size };
	return out->name_len <= KZ_ENTRY_NAME_MAX && out->mode <= MODE_MAX &&
	       out->mtime_ns <= NS_MAX && is_fit(out);
}

static bool is_component(const char *p, size_t n)
{
	return n > 0 && n <= COMPONENT_MAX && !(n == 1 && p[0] == '.') &&
	       !(n == 2 && p[0] == '.' && p[1] == '.') && !memchr(p, 0, n);
}

bool kz_entry_name_ok(const char *name, size_t n)
{
	size_t at = 0, depth = 0;

	if (n == 0 || n > KZ_ENTRY_NAME_MAX)
		return false;
	for (;;) {
		const char *slash = memchr(name + at, '/', n - at);
		size_t end = slash ? (size_t)(slash - name) : n;

		if (++depth > KZ_ENTRY_DEPTH_MAX || !is_component(name + at, end - at))
			return false;
		if (!slash)
			return true;
		at = end + 1;
	}
}

/* '/' is lowest of all; a name holds no zero byte */
static int rank(char c)
{
	return c == '/' ? 0 : (unsigned char)c;
}

int kz_entry_name_cmp(const char *a, size_t an, const char *b, size_t bn)
{
	size_t n = an < bn ? an : bn;

	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return rank(a[i]) - rank(b[i]);
	return an < bn ? -1 : an > bn;
}
