/*
 * Entry streams: the first byte says how the rest is cut.  Whatever it is, any cut gives the same entries, and what a
 * stream is told to be whole for is exactly what went through [WS-15].
 */
#include <string.h>

#include "fuzz.h"
#include "rule/entry_reader.h"

struct seen {
	uint64_t mix;
	int64_t entries, left;
};

static enum kz_rc on_entry(void *arg, const struct kz_entry *e, const char *name,
			   struct kz_err *err)
{
	struct seen *s = arg;

	(void)err;
	CLAIM(s->left == 0);
	CLAIM(e->kind != KZ_ENTRY_END && strlen(name) == e->name_len);
	CLAIM(kz_entry_name_ok(name, e->name_len) && e->mode <= 07777);
	CLAIM(name[0] != '/' && !strstr(name, "//"));
	s->left = e->size;
	s->entries++;
	s->mix = s->mix * 31 + e->name_len + (uint64_t)e->size;
	return KZ_OK;
}

static enum kz_rc on_data(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct seen *s = arg;

	(void)err;
	CLAIM(n > 0 && (int64_t)n <= s->left);
	s->left -= (int64_t)n;
	for (size_t i = 0; i < n; i++)
		s->mix = s->mix * 31 + ((const uint8_t *)p)[i];
	return KZ_OK;
}

static enum kz_rc feed(const uint8_t *data, size_t size, size_t piece, struct seen *s, bool *whole)
{
	static struct kz_entry_reader r;
	const struct kz_entry_sink to = { s, on_entry, on_data };
	enum kz_rc rc = KZ_OK;

	kz_entry_start(&r);
	for (size_t at = 0; at < size && rc == KZ_OK; at += piece)
		rc = kz_entry_feed(&r, data + at, size - at < piece ? size - at : piece, &to, NULL);
	*whole = kz_entry_is_whole(&r);
	CLAIM(!*whole || (r.count == s->entries && s->left == 0));
	CLAIM(rc == KZ_OK || !*whole);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen one = { 0 }, other = { 0 };
	bool whole, again;
	enum kz_rc rc;

	if (size < 2)
		return 0;
	rc = feed(data + 1, size - 1, size, &one, &whole);
	CLAIM(rc == feed(data + 1, size - 1, 1U + data[0], &other, &again) && whole == again);
	CLAIM(one.entries == other.entries && one.mix == other.mix);
	return 0;
}
