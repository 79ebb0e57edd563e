/*
 * Packuments of npm, filtered while they come: of each version what an installer needs is
 * kept, links to tarballs are rewritten to the broker, all else is dropped unread.  The
 * memory it takes is what it hands out.  Pure.  Layer 2.
 * src: BRK-1, BRK-3, BRK-6
 */
#ifndef KZ_RULE_PACKUMENT_H
#define KZ_RULE_PACKUMENT_H

#include "rule/jsonflow.h"
#include "rule/package.h"

#define KZ_PACKUMENT_TEXT 16384 /* bytes of one string that is handed out */

/* One version that can be had. */
struct kz_packument_file {
	const char *file;      /* as the broker names it */
	const char *tarball;   /* as the registry names it */
	const char *integrity; /* "sha512-..." and the like, or "" */
};

struct kz_packument {
	const char *name,
		*base; /* of the package; what links begin with, "http://127.0.0.1:8000" */
	struct kz_buf *out;
	/* Remember it. out: false: the link cannot be followed, so the version is dropped */
	bool (*on_file)(void *arg, const struct kz_packument_file *f);
	void *arg;

	/* private */
	struct kz_jsonflow flow;
	enum kz_pkg_read read;
	unsigned depth, copied; /* copied: the depth of a value that goes out as it is */
	int place, want;        /* what the object around is; what the next string is for */
	uint64_t has_item[2];   /* by depth: was there a member before? */
	bool is_named, has_versions;
	size_t mark; /* out before the version, should it be dropped */
	bool mark_item;
	struct kz_buf tarball, integrity;
	char version[KZ_PKG_FILE];
};

/* in: name, base, out borrowed; out's maximum is the bound. own: kz_packument_release */
void kz_packument_init(struct kz_packument *p, const char *name, const char *base,
		       struct kz_buf *out,
		       bool (*on_file)(void *arg, const struct kz_packument_file *f), void *arg);
void kz_packument_release(struct kz_packument *p);
/* The next piece. wait: never */
enum kz_pkg_read kz_packument_add(struct kz_packument *p, const void *data, size_t n);
/* Nothing more comes: was it whole, and of this package? */
enum kz_pkg_read kz_packument_end(struct kz_packument *p);

#endif
