/*
 * Tar archives in memory: pax, ustar and GNU.  Nothing is checked here but the form;
 * what a name may be and where it may lie is the caller's.  The only user of
 * libarchive.  Names are bytes whatever the locale is: the caller never calls
 * setlocale.  Layer 1.
 */
#ifndef KZ_PORT_ARC_H
#define KZ_PORT_ARC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/err.h"

enum kz_arc_kind {
	KZ_ARC_FILE,
	KZ_ARC_DIR,
	KZ_ARC_SYMLINK,
	KZ_ARC_HARDLINK, /* target is the name of another entry */
	KZ_ARC_OTHER,    /* device, fifo, socket */
};

struct kz_arc_item {
	enum kz_arc_kind kind;
	const char *name;   /* as it is in the archive; borrowed until the next item */
	const char *target; /* of a link; else NULL */
	uint32_t mode;      /* 07777 */
	int64_t mtime_s;
	uint32_t mtime_ns;
	int64_t size; /* of a sparse file: its full length */
};

/*
 * Read fd to its end and undo compression by gzip, zstd or xz, if there is any and if
 * that is allowed.  in: out->max bounds the result.
 * err: KZ_E_DATA (malformed, cut, followed by something else), KZ_E_NO over the bound, KZ_E_OS, KZ_E_IO
 */
enum kz_rc kz_arc_expand(int fd, bool may_be_compressed, struct kz_buf *out, struct kz_err *err);

struct kz_arc_in;
/* Begin to read tar[0..n), which must stay. own: kz_arc_in_free. err: KZ_E_OS, KZ_E_DATA */
enum kz_rc kz_arc_in_new(const void *tar, size_t n, struct kz_arc_in **out, struct kz_err *err);
void kz_arc_in_free(struct kz_arc_in *in);
KZ_AUTO(kz_auto_arc_in_, struct kz_arc_in *, kz_arc_in_free)
#define kz_auto_arc_in kz_auto(kz_auto_arc_in_)
/*
 * The next entry. out: *more false: it was the last, the two blocks of zeros are there and nothing follows.
 * err: KZ_E_DATA for an archive that is malformed or cut; KZ_E_OS
 */
enum kz_rc kz_arc_next(struct kz_arc_in *in, struct kz_arc_item *item, bool *more,
		       struct kz_err *err);
/* A piece of the item's content. out: p[0..n) within tar, at that offset of the file; what no piece covers is zero. *more false: there is none. err: KZ_E_DATA */
enum kz_rc kz_arc_data(struct kz_arc_in *in, const void **p, size_t *n, int64_t *at, bool *more,
		       struct kz_err *err);

struct kz_arc_out;
/* Where the bytes of a new tar go. returns KZ_OK, or what the call that caused it returns. */
typedef enum kz_rc (*kz_arc_write)(void *arg, const void *p, size_t n, struct kz_err *err);
/* Begin a tar: pax, owner 0, no owner's name, names as bytes; the same items make the same bytes. own: kz_arc_out_free. err: KZ_E_OS */
enum kz_rc kz_arc_out_new(kz_arc_write write, void *arg, struct kz_arc_out **out,
			  struct kz_err *err);
/* Without kz_arc_out_end what was written is no archive. */
void kz_arc_out_free(struct kz_arc_out *out);
KZ_AUTO(kz_auto_arc_out_, struct kz_arc_out *, kz_arc_out_free)
#define kz_auto_arc_out kz_auto(kz_auto_arc_out_)
/* One item (file, directory or symbolic link) with its whole content. err: KZ_E_SOFTWARE, and what write returned */
enum kz_rc kz_arc_add(struct kz_arc_out *out, const struct kz_arc_item *item, const void *content,
		      struct kz_err *err);
/* The end of the archive. err: as kz_arc_add */
enum kz_rc kz_arc_out_end(struct kz_arc_out *out, struct kz_err *err);

#endif
