/*
 * Descriptors and files: complete reads and writes, whole-file replace, sockets.
 * Everything opened here is close-on-exec.  Layer 0.
 */
#ifndef KZ_BASE_FD_H
#define KZ_BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"

/* Write all n bytes, through EINTR and short writes; err: KZ_E_IO. wait: while the other side is slow */
enum kz_rc kz_fd_write_all(int fd, const void *p, size_t n, struct kz_err *err);
/* As above on a non-blocking descriptor, giving up at the deadline with KZ_E_TEMPFAIL. */
enum kz_rc kz_fd_write_until(int fd, const void *p, size_t n, struct kz_deadline until,
			     struct kz_err *err);
/* Read to the end into b; err: KZ_E_IO, KZ_E_DATA past b->max. */
enum kz_rc kz_fd_read_all(int fd, struct kz_buf *b, struct kz_err *err);
/*
 * A new empty file in memory that nobody can execute and that can be sealed; it is gone when its last
 * descriptor is closed.
 * in: name is for who looks at /proc.  out: fd, to be closed by the caller.  err: KZ_E_OS
 */
enum kz_rc kz_memory_file(const char *name, int *fd, struct kz_err *err);
/* One with these n bytes in it, at its beginning.  err: KZ_E_OS, KZ_E_IO */
enum kz_rc kz_memory_file_of(const char *name, const void *p, size_t n, int *fd,
			     struct kz_err *err);
/* To its beginning, where the next one reads; err: KZ_E_IO */
enum kz_rc kz_fd_rewind(int fd, struct kz_err *err);
/* Wait until fd is readable/writable; err: KZ_E_TEMPFAIL at the deadline, KZ_E_IO. events: POLLIN, POLLOUT */
enum kz_rc kz_fd_wait(int fd, short events, struct kz_deadline until, struct kz_err *err);

/* Read a whole file relative to dir (AT_FDCWD allowed) into b; err: KZ_E_NOINPUT when absent, KZ_E_IO, KZ_E_DATA past b->max. */
enum kz_rc kz_file_read(int dir, const char *path, struct kz_buf *b, struct kz_err *err);
/*
 * Replace a file whole: temporary name beside it, write, fsync, rename, fsync of
 * the directory.  A reader sees the old content or the new.
 * in: mode is set exactly (no umask); gid (gid_t)-1 leaves the group.
 * err: KZ_E_CANTCREAT, KZ_E_IO; the old file is then untouched.
 */
enum kz_rc kz_file_replace(int dir, const char *path, const void *p, size_t n, mode_t mode,
			   gid_t gid, struct kz_err *err);
/* Make a directory with exactly this mode and group; an existing one gets them too. */
enum kz_rc kz_dir_make(int dir, const char *path, mode_t mode, gid_t gid, struct kz_err *err);
/* Remove a tree without following symbolic links or crossing mounts; absent is fine. err: KZ_E_IO */
enum kz_rc kz_tree_remove(int dir, const char *path, struct kz_err *err);

/*
 * Unix stream sockets by path; paths too long for sun_path go through the
 * directory's descriptor (/proc/self/fd).  Descriptors are non-blocking.
 * err: KZ_E_UNAVAILABLE (absent, refused, or its queue full until the deadline), KZ_E_OS.
 */
enum kz_rc kz_unix_connect(const char *path, struct kz_deadline until, int *fd, struct kz_err *err);
/* Listen; a stale socket file of that name is replaced. mode is set exactly. err: KZ_E_CANTCREAT (in use, not a socket) */
enum kz_rc kz_unix_listen(const char *path, mode_t mode, gid_t gid, int backlog, int *fd,
			  struct kz_err *err);

/* Set or clear a flag of a descriptor; err: KZ_E_OS */
enum kz_rc kz_fd_set_nonblock(int fd, struct kz_err *err);
enum kz_rc kz_fd_set_cloexec(int fd, bool on, struct kz_err *err);
/* Take an exclusive advisory lock on a file (made if missing); released by closing. err: KZ_E_TEMPFAIL at the deadline */
enum kz_rc kz_file_lock(int dir, const char *path, struct kz_deadline until, int *fd,
			struct kz_err *err);

#endif
