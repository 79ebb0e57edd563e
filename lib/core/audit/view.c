/* Looking at all segments at one moment. */
#include "core/audit/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

void kz_audit_segment_name(int64_t first, char out[48])
{
	snprintf(out, 48, "closed/%019lld.db", (long long)first);
}

static bool first_of(const char *name, int64_t *first)
{
	char number[20];
	const char *p = number;

	if (strlen(name) != 22 || strcmp(name + 19, ".db") != 0)
		return false;
	memcpy(number, name, 19);
	number[19] = '\0';
	while (*p == '0' && p[1])
		p++;
	return kz_str_int(p, 1, INT64_MAX, first, NULL) == KZ_OK;
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

enum kz_rc kz_audit_segments(int dir, int64_t **out, size_t *count, struct kz_err *err)
{
	kz_auto_closedir DIR *d = NULL;
	kz_auto_free int64_t *list = NULL;
	const struct dirent *e;
	size_t n = 0;
	int64_t first;
	int fd = openat(dir, "closed", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*out = NULL;
	*count = 0;
	if (fd < 0 && errno == ENOENT)
		return KZ_OK;
	if (fd < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot read the closed segments");
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return kz_err_sys(err, KZ_E_IO, "cannot read the closed segments");
	}
	while ((e = readdir(d))) {
		int64_t *grown;

		if (!first_of(e->d_name, &first))
			continue;
		grown = realloc(list, (n + 1) * sizeof(*list));
		if (!grown)
			return kz_err_set(err, KZ_E_OS, "out of memory");
		list = grown;
		list[n++] = first;
	}
	if (n)
		qsort(list, n, sizeof(*list), by_number);
	*out = kz_take(list);
	*count = n;
	return KZ_OK;
}

static enum kz_rc open_main(struct kz_audit_view *v, const char *path, struct kz_err *err)
{
	struct stat st;
	enum kz_rc rc;

	v->first = INT64_MAX;
	if (fstatat(v->dir, "audit.db", &st, 0) < 0)
		return errno == ENOENT ? KZ_OK :
					 kz_err_sys(err, KZ_E_IO, "cannot open the audit store");
	rc = kz_db_open(&v->db, path, KZ_DB_READ, KZ_AUDIT_BUSY, err);
	if (rc == KZ_OK)
		rc = kz_db_exec(v->db, "BEGIN", err);
	return rc == KZ_OK ?
		       kz_db_int(v->db, "SELECT min(id) FROM entry", INT64_MAX, &v->first, err) :
		       rc;
}

static enum kz_rc open_view(struct kz_audit_view *v, const char *path, struct kz_err *err)
{
	const char *slash = strrchr(path, '/');
	char dir[512];
	enum kz_rc rc;

	if (!slash || (size_t)(slash - path) >= sizeof(dir))
		return kz_err_set(err, KZ_E_SOFTWARE, "the path is relative or too long");
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = '\0';
	v->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (v->dir < 0)
		return kz_err_sys(err, errno == EACCES ? KZ_E_NOPERM : KZ_E_IO,
				  "cannot open the audit directory");
	v->lock = openat(v->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (v->lock >= 0 && flock(v->lock, LOCK_SH) < 0)
		if (errno != EINTR)
			return kz_err_sys(err, KZ_E_IO, "cannot lock the audit directory");
	rc = kz_audit_head_read(v->dir, &v->head, err);
	if (rc == KZ_OK)
		rc = open_main(v, path, err);
	if (rc == KZ_OK)
		rc = kz_audit_segments(v->dir, &v->closed, &v->closed_count, err);
	/* A file that starts where the open segment starts is the remains of a rotation that was cut off. */
	while (rc == KZ_OK && v->closed_count && v->closed[v->closed_count - 1] >= v->first)
		v->closed_count--;
	return rc;
}

enum kz_rc kz_audit_view_open(struct kz_audit_view *v, const char *path, struct kz_err *err)
{
	enum kz_rc rc;

	memset(v, 0, sizeof(*v));
	v->dir = v->lock = -1;
	rc = kz_seal_init(err);
	if (rc == KZ_OK)
		rc = open_view(v, path, err);
	return rc == KZ_OK ? KZ_OK : kz_audit_fail(err);
}

void kz_audit_view_release(struct kz_audit_view *v)
{
	kz_db_close(v->db);
	free(v->closed);
	if (v->lock >= 0)
		close(v->lock);
	if (v->dir >= 0)
		close(v->dir);
	memset(v, 0, sizeof(*v));
	v->dir = v->lock = -1;
}

enum kz_rc kz_audit_view_segment(const struct kz_audit_view *v, size_t i, struct kz_db **out,
				 struct kz_err *err)
{
	char name[48], path[96];

	kz_audit_segment_name(v->closed[i], name);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", v->dir, name);
	return kz_db_open(out, path, KZ_DB_READ, KZ_AUDIT_BUSY, err);
}

enum kz_rc kz_audit_file_sha256(int dir, const char *name, char out[KZ_SHA256_HEX],
				struct kz_err *err)
{
	kz_auto_close int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct kz_sha256 h;
	char part[65536];
	ssize_t n;

	if (fd < 0)
		return kz_err_sys(err, errno == ENOENT ? KZ_E_NOINPUT : KZ_E_IO,
				  "cannot open a segment");
	kz_sha256_start(&h);
	while ((n = read(fd, part, sizeof(part))) > 0)
		kz_sha256_add(&h, part, (size_t)n);
	if (n < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot read a segment");
	kz_sha256_end(&h, out);
	return KZ_OK;
}
