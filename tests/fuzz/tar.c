/*
 * Tar archives, without the jail: whatever they are, nothing comes out that an entry must not be, sorted, each once, its
 * parent before it, within the bounds, and twice the same [WS-15, BOUND-10].
 */
#include <string.h>

#include "core/archive/archive.h"
#include "fuzz.h"

#define BYTES (1 << 20)
#define ENTRIES 200

struct seen {
	char last[KZ_ENTRY_NAME_MAX + 1];
	char dirs[ENTRIES][256]; /* short ones; others are not looked up */
	int dir_count;
	uint64_t mix;
	int64_t entries, left, bytes;
};

static int is_dir(const struct seen *s, const char *name, size_t n)
{
	if (n >= sizeof s->dirs[0])
		return 1;
	for (int i = 0; i < s->dir_count; i++)
		if (strlen(s->dirs[i]) == n && memcmp(s->dirs[i], name, n) == 0)
			return 1;
	return 0;
}

static enum kz_rc on_entry(void *arg, const struct kz_entry *e, const char *name,
			   struct kz_err *err)
{
	struct seen *s = arg;
	const char *slash = strrchr(name, '/');

	(void)err;
	CLAIM(s->left == 0 && ++s->entries <= ENTRIES);
	CLAIM(strlen(name) == e->name_len && kz_entry_name_ok(name, e->name_len));
	CLAIM(!s->last[0] || kz_entry_name_cmp(s->last, strlen(s->last), name, e->name_len) < 0);
	CLAIM(!slash || is_dir(s, name, (size_t)(slash - name)));
	CLAIM(e->mode <= 07777 && e->mtime_ns < 1000000000);
	memcpy(s->last, name, e->name_len + 1);
	if (e->kind == KZ_ENTRY_DIR && e->name_len < sizeof s->dirs[0])
		memcpy(s->dirs[s->dir_count++], name, e->name_len + 1);
	s->left = e->size;
	s->bytes += e->size;
	CLAIM(s->bytes <= BYTES);
	s->mix = s->mix * 31 + (uint64_t)e->size + e->mode;
	return KZ_OK;
}

static enum kz_rc on_data(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct seen *s = arg;

	(void)err;
	CLAIM((int64_t)n <= s->left);
	s->left -= (int64_t)n;
	for (size_t i = 0; i < n; i++)
		s->mix = s->mix * 31 + ((const uint8_t *)p)[i];
	return KZ_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct kz_archive_bounds b = { .bytes = BYTES, .entries = ENTRIES };
	static struct seen one, other;
	const struct kz_entry_sink to = { &one, on_entry, on_data };
	const struct kz_entry_sink again = { &other, on_entry, on_data };
	enum kz_rc rc;

	memset(&one, 0, sizeof one);
	memset(&other, 0, sizeof other);
	rc = kz_archive_read(data, size, &b, &to, NULL);
	CLAIM(rc == kz_archive_read(data, size, &b, &again, NULL));
	CLAIM(one.entries == other.entries && one.mix == other.mix && one.left == 0);
	CLAIM(rc == KZ_OK || one.entries == 0);
	return 0;
}
