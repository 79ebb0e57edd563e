/*
 * Images: a whole tree in memory, read from a tar, changed, and written as one.  Names
 * and heads are in memory, contents in one memory file.  For the files of core/files
 * only.  Layer 3.
 * src: WS-10, WS-14
 */
#ifndef KZ_CORE_FILES_IMAGE_H
#define KZ_CORE_FILES_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/files/tree.h"

struct kz_image_entry {
	struct kz_entry head;
	char *name; /* own, terminated */
	int fd;     /* where its content is, borrowed: the spool, or what was set */
	int64_t at; /* from there */
};

struct kz_image {
	struct kz_image_entry *entries; /* in the order of kz_entry_name_cmp */
	size_t count, room;
	int spool;
	int64_t spooled;
};

/* How an image is begun, and ended. */
#define KZ_IMAGE_INIT                                                                              \
	{                                                                                          \
		NULL, 0, 0, -1, 0                                                                  \
	}
void kz_image_release(struct kz_image *m);
#define kz_auto_image kz_auto(kz_image_release)

/* Read a tar into an empty image. err: as kz_tree_unpack */
enum kz_rc kz_image_read(struct kz_image *m, int tar_fd, const struct kz_tree_bounds *b,
			 int cancel_fd, struct kz_deadline until, struct kz_err *err);
/* Write it as a tar to a regular, empty file. out: sum. err: as kz_tree_pack_* */
enum kz_rc kz_image_write(const struct kz_image *m, int tar_fd, const struct kz_tree_bounds *b,
			  struct kz_tree_sum *sum, struct kz_deadline until, struct kz_err *err);
/* The entry of that name; NULL: none. own: borrowed until the next change */
struct kz_image_entry *kz_image_find(const struct kz_image *m, const char *name);
/*
 * The regular file of that name.
 * err: file_missing; file_not_regular: it is none, or something on its way is a link
 */
enum kz_rc kz_image_file(const struct kz_image *m, const char *name, struct kz_image_entry **out,
			 struct kz_err *err);
/* Hand out a file's content in parts, in order. err: io_failed, and what put says */
enum kz_rc kz_image_content(const struct kz_image_entry *e,
			    enum kz_rc (*put)(void *arg, const void *part, size_t n,
					      struct kz_err *err),
			    void *arg, struct kz_err *err);
/* Set the content of a file, made with its directories when missing. in: fd stays open as long as the image; mode -1: as it was, else 0644. err: file_not_regular, KZ_E_OS */
enum kz_rc kz_image_set(struct kz_image *m, const char *name, int fd, int64_t size, int64_t mode,
			struct kz_err *err);
/* Remove a file or link, with is_tree a directory and all below. err: file_missing, file_not_regular */
enum kz_rc kz_image_remove(struct kz_image *m, const char *name, bool is_tree, struct kz_err *err);

#endif
