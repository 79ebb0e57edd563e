/* Undoing compression, within a bound. */
#include <archive.h>
#include <errno.h>
#include <string.h>

#include "port/arc.h"

#define CHUNK 65536

struct source {
	int fd;
	int error;  /* errno of a failed read */
	int64_t in; /* bytes handed in */
	bool is_over;
	char chunk[CHUNK];
};

static ssize_t read_some(int fd, void *p, size_t n)
{
	ssize_t got;

	do
		got = read(fd, p, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static la_ssize_t give(struct archive *a, void *arg, const void **p)
{
	struct source *s = arg;
	ssize_t n = read_some(s->fd, s->chunk, sizeof s->chunk);

	if (n < 0) {
		s->error = errno;
		archive_set_error(a, errno, "cannot read");
		return ARCHIVE_FATAL;
	}
	s->is_over = n == 0;
	s->in += n;
	*p = s->chunk;
	return n;
}

static void archive_release(struct archive **a)
{
	if (*a)
		archive_read_free(*a);
}

static enum kz_rc add(struct kz_buf *out, const void *p, size_t n, struct kz_err *err)
{
	if (n > out->max - out->len)
		return kz_err_set(err, KZ_E_NO, "the archive is longer than its bound");
	return kz_buf_add(out, p, n, err);
}

static enum kz_rc copy(struct source *s, struct kz_buf *out, struct kz_err *err)
{
	ssize_t n;

	while ((n = read_some(s->fd, s->chunk, sizeof s->chunk)) > 0) {
		enum kz_rc rc = add(out, s->chunk, (size_t)n, err);

		if (rc != KZ_OK)
			return rc;
	}
	return n < 0 ? kz_err_sys(err, KZ_E_IO, "cannot read the archive") : KZ_OK;
}

static enum kz_rc failed(struct archive *a, const struct source *s, struct kz_err *err)
{
	if (s->error)
		return kz_err_set(err, KZ_E_IO, "cannot read the archive");
	if (archive_errno(a) == ENOMEM)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	return kz_err_set(err, KZ_E_DATA, "the compression is malformed");
}

/* What follows the compressed bytes would be dropped in silence. */
static bool is_used_up(struct archive *a, struct source *s)
{
	const void *p;

	return archive_filter_bytes(a, -1) == s->in && (s->is_over || give(a, s, &p) == 0);
}

static enum kz_rc undo(struct archive *a, struct source *s, struct kz_buf *out, struct kz_err *err)
{
	struct archive_entry *e;
	const void *p;
	size_t n;
	la_int64_t at;
	int rc = archive_read_open(a, s, NULL, give, NULL);

	if (rc == ARCHIVE_OK)
		rc = archive_read_next_header(a, &e);
	if (rc == ARCHIVE_EOF)
		return KZ_OK;
	while (rc == ARCHIVE_OK) {
		rc = archive_read_data_block(a, &p, &n, &at);
		if (rc == ARCHIVE_OK) {
			enum kz_rc bad = add(out, p, n, err);

			if (bad != KZ_OK)
				return bad;
		}
	}
	if (rc != ARCHIVE_EOF)
		return failed(a, s, err);
	return is_used_up(a, s) ? KZ_OK :
				  kz_err_set(err, KZ_E_DATA, "something follows the archive");
}

enum kz_rc kz_arc_expand(int fd, bool may_be_compressed, struct kz_buf *out, struct kz_err *err)
{
	kz_auto(archive_release) struct archive *a = NULL;
	kz_auto_free struct source *s = calloc(1, sizeof *s);

	if (!s)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	s->fd = fd;
	if (!may_be_compressed)
		return copy(s, out, err);
	a = archive_read_new();
	/* only what is built into the library: a filter that starts a program answers with a warning */
	if (!a || archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(a) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(a) != ARCHIVE_OK ||
	    archive_read_support_format_raw(a) != ARCHIVE_OK ||
	    archive_read_support_format_empty(a) != ARCHIVE_OK)
		return kz_err_set(err, KZ_E_OS, "cannot read compressed archives");
	return undo(a, s, out, err);
}
