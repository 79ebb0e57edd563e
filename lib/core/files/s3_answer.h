/*
 * What an S3 server answers: a page of a listing, and an error.  Hostile bytes: a page
 * is taken whole or refused.  Layer 3.
 */
#ifndef KZ_CORE_FILES_S3_ANSWER_H
#define KZ_CORE_FILES_S3_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"

#define KZ_S3_PAGE_BYTES (4 * 1024 * 1024) /* no page of 1000 names is longer */
#define KZ_S3_PAGE_NAMES 1000              /* the most that a server gives in one */
#define KZ_S3_KEY 1025                     /* with the final 0 */
#define KZ_S3_TOKEN 2048
#define KZ_S3_CODE 41

struct kz_s3_item {
	char *key;
	int64_t size;
	int64_t mtime_s; /* 0 where the server says nothing that is a time */
};

struct kz_s3_page {
	struct kz_s3_item *items;
	size_t count;
	bool is_cut;             /* there is more */
	char token[KZ_S3_TOKEN]; /* to go on with; "" unless is_cut */
};

/*
 * Read the answer to ListObjectsV2.
 * out: a page whose keys ascend strictly in order of bytes, all of them after
 *   *after ("" for the first page); is_cut only with a token and at least one key.
 * own: kz_s3_page_release, also after a failure. err: KZ_E_DATA with what is wrong, KZ_E_OS
 */
enum kz_rc kz_s3_page_read(const void *p, size_t n, const char *after, struct kz_s3_page *out,
			   struct kz_err *err);
void kz_s3_page_release(struct kz_s3_page *page);
/* The Code of an error's XML, letters only, "" when there is none. */
void kz_s3_error_code(const void *p, size_t n, char out[KZ_S3_CODE]);

#endif
