/* A staged directory against its manifest and the document. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs.h"
#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "rule/reason.h"

#define MANIFEST_MAX (1 << 20)

static enum kz_rc mismatch(struct kz_err *err, const char *name)
{
	return kz_refuse(err, KZ_R_RESOURCE_DIGEST_MISMATCH, "%.200s: %s", name,
			 kz_reason_text(KZ_R_RESOURCE_DIGEST_MISMATCH));
}

static enum kz_rc check_file(int dir, const struct kz_json *e, struct kz_err *err)
{
	const char *name = kz_json_str(e, "filename", "");
	int64_t size = kz_json_num(e, "size", -1), seen = 0;
	kz_auto_close int fd =
		strchr(name, '/') || !*name ?
			-1 :
			openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct kz_sha256 hash;
	char sha256[KZ_SHA256_HEX], chunk[65536];
	struct stat st;
	ssize_t n = -1;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_mode & 0222)
		return mismatch(err, name);
	kz_sha256_start(&hash);
	while (seen <= size && (n = read(fd, chunk, sizeof(chunk))) > 0) {
		kz_sha256_add(&hash, chunk, (size_t)n);
		seen += n;
	}
	kz_sha256_end(&hash, sha256);
	return n == 0 && seen == size && kz_str_eq(sha256, kz_json_str(e, "sha256", "")) ?
		       KZ_OK :
		       mismatch(err, name);
}

/* Is it a file of the document, and not just any? */
static bool is_of(const struct kz_prj_docs *docs, const struct kz_json *e)
{
	for (size_t i = 0; i < docs->count; i++) {
		const struct kz_prj_doc *d = &docs->at[i];

		if (kz_str_eq(d->id, kz_json_str(e, "id", NULL)) &&
		    kz_str_eq(d->version, kz_json_str(e, "version", NULL)) &&
		    kz_str_eq(d->sha256, kz_json_str(e, "sha256", NULL)) &&
		    d->size == kz_json_num(e, "size", -1))
			return true;
	}
	return false;
}

static enum kz_rc check_count(int dir, size_t want, struct kz_err *err)
{
	kz_auto_closedir DIR *d = fdopendir(dup(dir));
	struct dirent *e;
	size_t count = 0;

	if (!d)
		return kz_err_sys(err, KZ_E_IO, "cannot list the directory");
	while ((e = readdir(d)))
		count += !kz_str_eq(e->d_name, ".") && !kz_str_eq(e->d_name, "..");
	return count == want ? KZ_OK :
			       kz_refuse(err, KZ_R_RESOURCE_MANIFEST_MISMATCH,
					 "the directory holds %zu entries, not %zu", count, want);
}

enum kz_rc kz_project_check_dir(const struct kz_projection *p, const char *path, struct kz_err *err)
{
	kz_auto_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(MANIFEST_MAX);
	kz_auto_json struct kz_json *list = NULL;
	const struct kz_prj_scope *s = &p->turn.scope;
	enum kz_rc rc;

	if (dir < 0)
		return kz_err_sys(err, KZ_E_NOINPUT, "%s", path);
	rc = kz_file_read(dir, KZ_PROJECT_MANIFEST, &text, err);
	if (rc == KZ_E_NOINPUT) /* of a set without a file */
		return check_count(dir, 0, err);
	if (rc || kz_json_parse(kz_buf_str(&text), text.len, &list, NULL) ||
	    !kz_json_is_array(list) || kz_json_count(list) > KZ_PRJ_FILES)
		return kz_refuse(err, KZ_R_RESOURCE_MANIFEST_MISMATCH,
				 "the manifest of the directory is none");
	for (size_t i = 0; !rc && i < kz_json_count(list); i++) {
		const struct kz_json *e = kz_json_at(list, i);

		if (!is_of(&s->manifest, e) && !is_of(&s->selection, e) && !is_of(&s->retrieved, e))
			return kz_refuse(err, KZ_R_RESOURCE_MANIFEST_MISMATCH,
					 "the directory has a file that the scope has not");
		rc = check_file(dir, e, err);
	}
	return rc ? rc : check_count(dir, kz_json_count(list) + 1, err);
}
