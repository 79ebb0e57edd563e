/* Documents to sealed memory files: opened once, copied and hashed in one pass. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/sys.h"
#include "core/files/projection.h"

#define CHUNK (64 << 10)
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* The name for the member: what a person called it. */
static const char *name_of(const struct kz_prj_file *f)
{
	return f->doc->filename;
}

/* A plain file of that directory itself: no link, no other mount, and nothing that could hold us. */
static int open_document(int dir, const char *sha256)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV };

	return (int)syscall(SYS_openat2, dir, sha256, &how, sizeof(how));
}

static enum kz_rc mismatch(const struct kz_prj_file *f, struct kz_err *err)
{
	return kz_refuse(err, KZ_R_RESOURCE_DIGEST_MISMATCH, "%.200s: %s", name_of(f),
			 kz_reason_text(KZ_R_RESOURCE_DIGEST_MISMATCH));
}

/* What is read is what is hashed and what is kept: there is no second look. */
static enum kz_rc copy(int from, int to, const struct kz_prj_file *f, struct kz_err *err)
{
	char chunk[CHUNK];
	struct kz_sha256 hash;
	char sha256[KZ_SHA256_HEX];
	int64_t size = 0;

	kz_sha256_start(&hash);
	for (;;) {
		ssize_t n = read(from, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return kz_refuse(err, KZ_R_RESOURCE_UNAVAILABLE, "%.200s: %s", name_of(f),
					 strerror(errno));
		if (n == 0)
			break;
		size += n;
		if (size > f->doc->size)
			return mismatch(f, err);
		kz_sha256_add(&hash, chunk, (size_t)n);
		if (kz_fd_write_all(to, chunk, (size_t)n, err))
			return kz_err_reason(err, kz_reason_code(KZ_R_PROJECTION_FAILED));
	}
	kz_sha256_end(&hash, sha256);
	return size == f->doc->size && strcmp(sha256, f->doc->sha256) == 0 ? KZ_OK :
									     mismatch(f, err);
}

static enum kz_rc stage_one(int dir, const struct kz_prj_file *f, int *out, struct kz_err *err)
{
	kz_auto_close int from = open_document(dir, f->doc->sha256), to = -1;
	struct stat st;
	enum kz_rc rc;

	if (from < 0 || fstat(from, &st) < 0 || !S_ISREG(st.st_mode))
		return kz_refuse(err, KZ_R_RESOURCE_UNAVAILABLE, "%.200s: %s", name_of(f),
				 kz_reason_text(KZ_R_RESOURCE_UNAVAILABLE));
	if (kz_sys_before(KZ_SYS_STAGE))
		return kz_refuse(err, KZ_R_PROJECTION_FAILED, NULL);
	if (kz_memory_file("kz-projection", &to, err))
		return kz_err_reason(err, kz_reason_code(KZ_R_PROJECTION_FAILED));
	rc = copy(from, to, f, err);
	if (rc != KZ_OK)
		return rc;
	if (fcntl(to, F_ADD_SEALS, SEALS) < 0 || lseek(to, 0, SEEK_SET) < 0)
		return kz_refuse(err, KZ_R_PROJECTION_FAILED, "cannot seal a memory file");
	kz_sys_after(KZ_SYS_STAGE);
	*out = kz_take_fd(&to);
	return KZ_OK;
}

enum kz_rc kz_projection_stage(struct kz_projection *p, const char *documents, struct kz_err *err)
{
	kz_auto_close int dir = -1;
	enum kz_rc rc = KZ_OK;

	if (!p->set.file_count)
		return KZ_OK;
	dir = documents ? open(documents, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (dir < 0)
		return kz_refuse(err, KZ_R_RESOURCE_UNAVAILABLE,
				 "the directory of documents cannot be opened");
	while (rc == KZ_OK && p->fd_count < p->set.file_count) {
		rc = stage_one(dir, &p->set.files[p->fd_count], &p->fds[p->fd_count], err);
		if (rc == KZ_OK)
			p->fd_count++;
	}
	while (rc != KZ_OK && p->fd_count)
		close(p->fds[--p->fd_count]);
	return rc;
}
