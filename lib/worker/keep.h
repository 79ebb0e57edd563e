/*
 * What is kept of a program's output: everything is counted and hashed, and a
 * bound covers stdout and stderr together.  The last share of the bound is held
 * back from stdout until the end, so that a flood there cannot hide the error on
 * stderr, and handed out then if stderr did not need it [BOUND-3, BOUND-12].
 * Pure memory; the caller sends.
 */
#ifndef KZ_WORKER_KEEP_H
#define KZ_WORKER_KEEP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "port/seal.h"

#define KZ_KEEP_SHARE_MOST 65536

enum kz_keep_stream { KZ_KEEP_OUT, KZ_KEEP_ERR, KZ_KEEP_STREAMS };

struct kz_keep {
	int64_t bound, share;
	struct {
		int64_t seen, kept; /* kept: handed to the caller to send */
		struct kz_sha256 hash;
	} of[KZ_KEEP_STREAMS];
	char *held; /* tail of stdout that may still be kept */
	size_t held_n;
};

/* Start for one run. err: KZ_E_OS */
enum kz_rc kz_keep_start(struct kz_keep *k, int64_t bound, struct kz_err *err);
void kz_keep_release(struct kz_keep *k);
/* Take p[0..n) of a stream. out: how many of its first bytes to send now */
size_t kz_keep_add(struct kz_keep *k, enum kz_keep_stream s, const void *p, size_t n);
/* At the end: the held bytes of stdout that are kept after all. out: p borrowed; returns how many */
size_t kz_keep_end(struct kz_keep *k, const char **p);

#endif
