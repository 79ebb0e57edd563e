/*
 * A file on its way to its place in the output directory: without a name until it is
 * whole, where the file system can do that, and under a hidden one where it cannot.
 * What has the final name is replaced: a symbolic link itself, never its target, and no
 * link is followed on the way there.  Layer 3.
 */
#ifndef KZ_CORE_RUN_PUBLISH_H
#define KZ_CORE_RUN_PUBLISH_H

#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"
#include "port/seal.h"
#include "rule/media.h"

struct kz_publish {
	int dir;       /* the output directory, borrowed */
	int fd;        /* readable and writable */
	char temp[48]; /* its name meanwhile; "" for none */
	int64_t bytes;
	struct kz_sha256 hash;
	char head[KZ_MEDIA_HEAD];
	size_t head_len;
};

/* Begin one. own: kz_publish_release, also after a failure. err: output_uncreatable */
enum kz_rc kz_publish_open(struct kz_publish *c, int dir, struct kz_err *err);
/* Add the next bytes. in: arg is the struct kz_publish; the form of a kz_wk_sink. err: KZ_E_IO */
enum kz_rc kz_publish_add(void *arg, const void *p, size_t n, struct kz_err *err);
/*
 * Give it its name, when it is on disk.  Directories are made only now, so that a
 * refusal leaves none.
 * in: name is a normal form (rule/path.h). err: output_uncreatable. wait: a disk flush
 */
enum kz_rc kz_publish_name(struct kz_publish *c, const char *name, struct kz_err *err);
/* Close; what has no name yet is gone. */
void kz_publish_release(struct kz_publish *c);
#define kz_auto_publish kz_auto(kz_publish_release)

#endif
