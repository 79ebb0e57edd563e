/* Reading tar with libarchive, from memory. */
#include "port/arc.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#include "base/fd.h"

#define BLOCK 512
#define SIZE_AT 124
#define SIZE_DIGITS 12
#define TYPE_AT 156

struct kz_arc_in {
	struct archive *a;
	struct archive_entry *e; /* borrowed from a */
	const char *tar;
	size_t n;
};

static enum kz_rc failed(struct archive *a, struct kz_err *err)
{
	if (archive_errno(a) == ENOMEM)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	/* the library's own words may hold a name */
	return kz_err_set(err, KZ_E_DATA, "the archive is malformed or cut");
}

enum kz_rc kz_arc_in_new(const void *tar, size_t n, struct kz_arc_in **out, struct kz_err *err)
{
	kz_auto_arc_in struct kz_arc_in *in = calloc(1, sizeof *in);

	if (!in || !(in->a = archive_read_new()))
		return kz_err_set(err, KZ_E_OS, "out of memory");
	in->tar = tar;
	in->n = n;
	if (archive_read_support_format_tar(in->a) != ARCHIVE_OK ||
	    archive_read_support_format_empty(in->a) != ARCHIVE_OK ||
	    archive_read_open_memory(in->a, tar, n) != ARCHIVE_OK)
		return failed(in->a, err);
	*out = kz_take(in);
	return KZ_OK;
}

void kz_arc_in_free(struct kz_arc_in *in)
{
	if (!in)
		return;
	if (in->a)
		archive_read_free(in->a);
	free(in);
}

/* The size field of a header that only carries a name: octal digits, nothing else. out: -1 */
static int64_t octal(const char *p)
{
	int64_t v = 0;
	int i = 0;

	while (i < SIZE_DIGITS && p[i] == ' ')
		i++;
	for (; i < SIZE_DIGITS && p[i] != 0 && p[i] != ' '; i++) {
		if (p[i] < '0' || p[i] > '7')
			return -1;
		v = v * 8 + (p[i] - '0');
	}
	return v;
}

/* A zero byte would cut a value short in silence; GNU's long names have theirs at the end. */
static bool is_whole_text(char type, const char *p, size_t n)
{
	const char *zero = memchr(p, 0, n);

	if (!zero)
		return true;
	if (type != 'L' && type != 'K')
		return false;
	for (; zero < p + n; zero++)
		if (*zero)
			return false;
	return true;
}

/* The headers before an entry's own, which carry names: from at to where its content begins. */
static enum kz_rc check_names(const struct kz_arc_in *in, int64_t at, int64_t end,
			      struct kz_err *err)
{
	while (at >= 0 && at + BLOCK <= end && end <= (int64_t)in->n) {
		char type = in->tar[at + TYPE_AT];
		int64_t size = octal(in->tar + at + SIZE_AT);

		if (!memchr("xXgLK", type, 5))
			return KZ_OK;
		at += BLOCK;
		if (size < 0 || size > end - at || !is_whole_text(type, in->tar + at, (size_t)size))
			return kz_err_set(err, KZ_E_DATA, "a name holds a zero byte");
		at += (size + BLOCK - 1) / BLOCK * BLOCK;
	}
	return KZ_OK;
}

/* After the last entry: two blocks of zeros at least, and nothing else. */
static enum kz_rc check_end(const struct kz_arc_in *in, struct kz_err *err)
{
	int64_t at = archive_read_header_position(in->a);

	if (at < 0 || (int64_t)in->n - at < 2 * BLOCK)
		return kz_err_set(err, KZ_E_DATA, "the archive is cut");
	for (size_t i = (size_t)at; i < in->n; i++)
		if (in->tar[i])
			return kz_err_set(err, KZ_E_DATA, "something follows the archive");
	return KZ_OK;
}

/*
 * In the C locale a name that is UTF-8 in the archive is handed out as its bytes, with
 * this warning; every other warning is a fault of the archive.
 */
static bool is_names_bytes(struct archive *a)
{
	const char *s = archive_error_string(a);

	return s && strstr(s, "can't be converted from UTF-8 to current locale");
}

static enum kz_arc_kind kind_of(struct archive_entry *e)
{
	if (archive_entry_hardlink(e))
		return KZ_ARC_HARDLINK;
	switch (archive_entry_filetype(e)) {
	case AE_IFREG: return KZ_ARC_FILE;
	case AE_IFDIR: return KZ_ARC_DIR;
	case AE_IFLNK: return KZ_ARC_SYMLINK;
	default: return KZ_ARC_OTHER;
	}
}

enum kz_rc kz_arc_next(struct kz_arc_in *in, struct kz_arc_item *item, bool *more,
		       struct kz_err *err)
{
	int rc = archive_read_next_header(in->a, &in->e);
	enum kz_rc bad;

	*more = rc != ARCHIVE_EOF;
	if (!*more)
		return check_end(in, err);
	if (rc != ARCHIVE_OK && !(rc == ARCHIVE_WARN && is_names_bytes(in->a)))
		return failed(in->a, err);
	bad = check_names(in, archive_read_header_position(in->a), archive_filter_bytes(in->a, 0),
			  err);
	if (bad != KZ_OK)
		return bad;
	*item = (struct kz_arc_item){ .kind = kind_of(in->e),
				      .name = archive_entry_pathname(in->e),
				      .mode = archive_entry_perm(in->e) & 07777,
				      .mtime_s = archive_entry_mtime(in->e),
				      .mtime_ns = (uint32_t)archive_entry_mtime_nsec(in->e),
				      .size = archive_entry_size(in->e) };
	item->target = item->kind == KZ_ARC_HARDLINK ? archive_entry_hardlink(in->e) :
		       item->kind == KZ_ARC_SYMLINK  ? archive_entry_symlink(in->e) :
						       NULL;
	if (!item->name || item->size < 0)
		return kz_err_set(err, KZ_E_DATA, "an entry has no name or size");
	return KZ_OK;
}

enum kz_rc kz_arc_data(struct kz_arc_in *in, const void **p, size_t *n, int64_t *at, bool *more,
		       struct kz_err *err)
{
	la_int64_t offset = 0;
	int rc = archive_read_data_block(in->a, p, n, &offset);

	*at = offset;
	*more = rc != ARCHIVE_EOF;
	return rc == ARCHIVE_OK || rc == ARCHIVE_EOF ? KZ_OK : failed(in->a, err);
}
