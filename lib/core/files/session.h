/*
 * One program at work on one workspace: what kz-workspace does between a load and a
 * commit.  Layer 3.
 * src: WS-10 to WS-16
 */
#ifndef KZ_CORE_FILES_SESSION_H
#define KZ_CORE_FILES_SESSION_H

#include "base/auto.h"
#include "core/conf/conf.h"
#include "core/files/workspace.h"
#include "rule/entry.h"

/*
 * One session of a program on one workspace: settings, keys, store, and for writers the
 * lease, own (acquired here) or the one in force (KZ_LEASE).
 * in: writes: take the lease. own: kz_workspace_close, which gives an own lease back.
 * err: usage; workspace_busy and all of acquiring; workspace_unkept for writers where
 *   workspaces are not kept; those of the store. wait: writers as long as an acquire may
 */
struct kz_workspace_ask {
	const char *actor;        /* NULL: the calling user */
	const char *conversation; /* NULL: that of the lease in force */
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
/* The generation that the session stands on: the newest when it was opened, or its own last change. */
const struct kz_generation *kz_workspace_now(const struct kz_workspace *w);

/* One entry of a listing. in: target of a link, else NULL; both borrowed. Non-KZ_OK ends it */
typedef enum kz_rc (*kz_workspace_each)(void *arg, const struct kz_entry *e, const char *name,
					const char *target, struct kz_err *err);
/* All entries, parents first, in order of bytes within a directory. err: what each returned; object_damaged, those of the store */
enum kz_rc kz_workspace_entries(struct kz_workspace *w, kz_workspace_each each, void *arg,
				struct kz_err *err);
/*
 * A file of the workspace, in a new unnamed file at offset 0.  Links are never followed.
 * in: path in normal form (rule/path.h). out: mode, which may be NULL.
 * err: file_missing, file_not_regular (also where a link is on its way), file_too_large
 *   (over max), object_damaged, those of the store
 */
enum kz_rc kz_workspace_file(struct kz_workspace *w, const char *path, int64_t max, int *fd,
			     int64_t *size, uint32_t *mode, struct kz_err *err);
/* The whole tree as a tar in a new unnamed file; an empty archive for an empty workspace. */
enum kz_rc kz_workspace_tar(struct kz_workspace *w, int *fd, int64_t *size, struct kz_err *err);
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
 * in: lines_fd -1: as it was. count 0: the record alone.
 * err: file_missing (of a removal), file_not_regular, workspace_over_bound and those of
 *   kz_workspace_commit
 */
enum kz_rc kz_workspace_change(struct kz_workspace *w, const struct kz_change *changes,
			       size_t count, int lines_fd, struct kz_err *err);
/* Remove what paths[0..count) name: files and links, with is_tree directories and all below. err: file_missing, file_not_regular, and those of kz_workspace_commit */
enum kz_rc kz_workspace_remove(struct kz_workspace *w, const char *const *paths, size_t count,
			       bool is_tree, struct kz_err *err);
/*
 * Replace the whole tree by that of a tar (any that kz-archive takes).
 * err: archive_refused, and those of kz_workspace_commit
 */
enum kz_rc kz_workspace_replace(struct kz_workspace *w, int tar_fd, struct kz_err *err);

#endif
