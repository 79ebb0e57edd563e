/* Writing pax with libarchive. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

#include "port/arc.h"

struct kz_arc_out {
	struct archive *a;
	struct archive_entry *e;
	kz_arc_write write;
	void *arg;
	struct kz_err err; /* of write */
	bool is_ended;
};

static la_ssize_t pass(struct archive *a, void *arg, const void *p, size_t n)
{
	struct kz_arc_out *out = arg;

	if (out->err.rc == KZ_OK && out->write(out->arg, p, n, &out->err) == KZ_OK)
		return (la_ssize_t)n;
	archive_set_error(a, EIO, "cannot write");
	return -1;
}

enum kz_rc kz_arc_out_new(kz_arc_write write, void *arg, struct kz_arc_out **made,
			  struct kz_err *err)
{
	kz_auto_arc_out struct kz_arc_out *out = calloc(1, sizeof *out);

	if (!out || !(out->a = archive_write_new()) || !(out->e = archive_entry_new()))
		return kz_err_set(err, KZ_E_OS, "out of memory");
	out->write = write;
	out->arg = arg;
	if (archive_write_set_format_pax(out->a) != ARCHIVE_OK ||
	    archive_write_set_format_option(out->a, "pax", "hdrcharset", "BINARY") != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(out->a, 1) != ARCHIVE_OK ||
	    archive_write_open(out->a, out, NULL, pass, NULL) != ARCHIVE_OK)
		return kz_err_set(err, KZ_E_OS, "cannot begin an archive");
	*made = kz_take(out);
	return KZ_OK;
}

void kz_arc_out_free(struct kz_arc_out *out)
{
	if (!out)
		return;
	if (out->a && !out->is_ended) {
		/* or its end would be written now */
		archive_write_fail(out->a);
	}
	if (out->e)
		archive_entry_free(out->e);
	if (out->a)
		archive_write_free(out->a);
	free(out);
}

static enum kz_rc failed(struct kz_arc_out *out, struct kz_err *err)
{
	if (out->err.rc != KZ_OK) {
		if (err)
			*err = out->err;
		return out->err.rc;
	}
	return kz_err_set(err, KZ_E_SOFTWARE, "cannot write an entry: %s",
			  archive_error_string(out->a));
}

enum kz_rc kz_arc_add(struct kz_arc_out *out, const struct kz_arc_item *item, const void *content,
		      struct kz_err *err)
{
	static const __LA_MODE_T types[] = {
		[KZ_ARC_FILE] = AE_IFREG, [KZ_ARC_DIR] = AE_IFDIR, [KZ_ARC_SYMLINK] = AE_IFLNK
	};
	size_t left = item->kind == KZ_ARC_FILE ? (size_t)item->size : 0;

	if (item->kind > KZ_ARC_SYMLINK)
		return kz_err_set(err, KZ_E_SOFTWARE, "no such kind of entry");
	archive_entry_clear(out->e);
	archive_entry_set_pathname(out->e, item->name);
	archive_entry_set_filetype(out->e, types[item->kind]);
	archive_entry_set_perm(out->e, item->mode);
	archive_entry_set_mtime(out->e, item->mtime_s, (long)item->mtime_ns);
	archive_entry_set_size(out->e, (la_int64_t)left);
	if (item->kind == KZ_ARC_SYMLINK)
		archive_entry_set_symlink(out->e, item->target);
	if (archive_write_header(out->a, out->e) != ARCHIVE_OK)
		return failed(out, err);
	for (const char *p = content; left;) {
		la_ssize_t n = archive_write_data(out->a, p, left);

		if (n <= 0)
			return failed(out, err);
		p += n;
		left -= (size_t)n;
	}
	return KZ_OK;
}

enum kz_rc kz_arc_out_end(struct kz_arc_out *out, struct kz_err *err)
{
	if (archive_write_close(out->a) != ARCHIVE_OK)
		return failed(out, err);
	out->is_ended = true;
	return KZ_OK;
}
