/*
 * One program at work on one workspace: what kz-workspace does between a load and a
 * commit.  Layer 3.
 * src: WS-10 to WS-16
 */
#ifndef KZ_CORE_FILES_SESSION_H
#define KZ_CORE_FILES_SESSION_H

#include "core/files/workspace.h"

/*
 * One session of a program on one workspace: settings, keys, store, and for writers the
 * lease, own (acquired here) or the one in force (KZ_LEASE).
 * in: writes: take the lease. own: kz_workspace_close, which gives an own lease back.
 * err: workspace_busy and all of acquiring; those of the store
 */
struct kz_workspace_ask {
	const char *actor;        /* NULL: the calling user */
	const char *conversation; /* needed */
	bool writes;
	const char *lease, *token, *fence; /* of the environment; NULL: none */
	int cancel_fd;                     /* -1: none */
};
struct kz_workspace;
enum kz_rc kz_workspace_open(const struct kz_workspace_ask *ask, struct kz_workspace **out,
			     struct kz_err *err);
void kz_workspace_close(struct kz_workspace *w);
KZ_AUTO(kz_auto_workspace_, struct kz_workspace *, kz_workspace_close)
#define kz_auto_workspace kz_auto(kz_auto_workspace_)

/* The settings it was opened with. own: borrowed */
const struct kz_conf *kz_workspace_conf(const struct kz_workspace *w);
/* The newest generation as it was when the session was opened. */
const struct kz_generation *kz_workspace_now(const struct kz_workspace *w);
/* A file of the workspace, in a new unnamed file at offset 0. in: path in normal form. out: mode. err: file_missing, file_not_regular, file_too_large (over max), object_damaged */
enum kz_rc kz_workspace_file(struct kz_workspace *w, const char *path, int64_t max, int *fd,
			     int64_t *size, uint32_t *mode, struct kz_err *err);
/* The hashline record, as kz_workspace_fetch; *fd -1 when there is none. */
enum kz_rc kz_workspace_lines(struct kz_workspace *w, int *fd, int64_t *size, struct kz_err *err);
/* One change of a file; directories above it are made. */
struct kz_change {
	const char *path; /* normal form */
	int fd;           /* the new content from its start; -1: remove it */
	int64_t size;
	int64_t mode; /* -1: as the file had, 0644 for a new one */
};
/*
 * Change files and, with lines_fd >= 0, the hashline record, in one generation or not
 * at all; the session then stands on it.  A path that runs through a link, or names
 * anything but a regular file, is refused.
 * err: file_not_regular, path_rejected, workspace_over_bound and those of kz_workspace_commit
 */
enum kz_rc kz_workspace_change(struct kz_workspace *w, const struct kz_change *changes,
			       size_t count, int lines_fd, struct kz_err *err);

#endif
