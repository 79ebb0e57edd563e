/* What stays below the operator's directory: marks. */
#include "core/mcp/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "rule/reason.h"

#define MARKS ".kz-mcp"

int kz_mcp_keep_below(int dir, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_NOFOLLOW | O_CLOEXEC),
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV };

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

/* The directory of marks: ours, and nobody else writes there. */
static enum kz_rc open_marks(struct kz_mcp_keep *k, const char *outdir, struct kz_err *err)
{
	struct stat st;

	if (mkdirat(k->out_fd, MARKS, 0700) < 0 && errno != EEXIST)
		return kz_refuse(err, KZ_R_OUTPUT_UNCREATABLE, "cannot write into %.300s: %s",
				 outdir, strerror(errno));
	k->marks_fd = kz_mcp_keep_below(k->out_fd, MARKS, O_RDONLY | O_DIRECTORY);
	if (k->marks_fd < 0 || fstat(k->marks_fd, &st) < 0 || st.st_uid != geteuid() ||
	    (st.st_mode & 022))
		return kz_refuse(err, KZ_R_OUTPUT_UNCREATABLE,
				 "%.300s/" MARKS " is no directory that only this user can write",
				 outdir);
	return KZ_OK;
}

enum kz_rc kz_mcp_keep_open(struct kz_mcp_keep *k, const char *outdir,
			    const struct kz_mcp_bounds *bounds, struct kz_err *err)
{
	*k = (struct kz_mcp_keep){ .out_fd = -1, .marks_fd = -1, .bounds = *bounds };
	if (!outdir)
		return KZ_OK;
	k->out_fd = open(outdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (k->out_fd < 0)
		return kz_refuse(err, KZ_R_INPUT_MISSING, "%.300s: %s", outdir, strerror(errno));
	return open_marks(k, outdir, err);
}

enum kz_rc kz_mcp_keep_begin(const struct kz_mcp_keep *k, const char *name, int *mark_fd,
			     struct kz_err *err)
{
	*mark_fd =
		openat(k->marks_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*mark_fd < 0 || flock(*mark_fd, LOCK_EX | LOCK_NB) < 0)
		return kz_refuse(err, KZ_R_OUTPUT_UNCREATABLE, "cannot write into " MARKS ": %s",
				 strerror(errno));
	return KZ_OK;
}

struct kz_json *kz_mcp_keep_look(const char *name, int fd)
{
	struct kz_json *o;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return NULL;
	o = kz_json_object();
	kz_json_set_str(o, "name", name);
	kz_json_set_int(o, "inode", (int64_t)st.st_ino);
	kz_json_set_int(o, "bytes", (int64_t)st.st_size);
	kz_json_set_int(o, "mtime_ms",
			(int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000);
	return o;
}

void kz_mcp_keep_end(int mark_fd, int dir_fd, const struct kz_json *files)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1 << 20);
	struct kz_json *list = kz_json_array();
	struct stat st;

	for (size_t i = 0; i < kz_json_count(files); i++)
		kz_json_append(list, kz_json_ref(kz_json_at(files, i)));
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "mcp_outputs");
	kz_json_set_int(o, "inode", fstat(dir_fd, &st) < 0 ? -1 : (int64_t)st.st_ino);
	kz_json_set(o, "files", list);
	if (!kz_json_write(o, &b, NULL))
		(void)kz_fd_write_all(mark_fd, b.data, b.len, NULL);
}

void kz_mcp_keep_close(struct kz_mcp_keep *k)
{
	kz_auto_close_(&k->out_fd);
	kz_auto_close_(&k->marks_fd);
	k->out_fd = k->marks_fd = -1;
}
