/*
 * One request to an S3 server, with what may be tried again, and the reason of its
 * answer.  For objects_s3.c only.  Layer 3.
 */
#ifndef KZ_CORE_FILES_S3_CALL_H
#define KZ_CORE_FILES_S3_CALL_H

#include "core/conf/objects_key.h"
#include "core/files/objects_parts.h"
#include "port/http.h"

#define KZ_S3_TRIES 3
#define KZ_S3_ERROR_BYTES 65536 /* of an error's XML; more is not read */

struct kz_s3 {
	struct kz_objects_url url;
	struct kz_objects_key key;
	struct kz_http *http;
	char scope[80];
};

enum kz_s3_verb { KZ_S3_GET, KZ_S3_PUT, KZ_S3_DELETE, KZ_S3_LIST };

struct kz_s3_call {
	enum kz_s3_verb verb;
	const char *url;
	/* put */
	int from_fd;
	int64_t size;
	const char *sha256;
	bool fresh;
	/* get: where to (-1: only count and digest), and what comes; list: the page in text */
	int to_fd;
	int64_t max;
	struct kz_sha256 hash;
	struct kz_buf text; /* max set by the caller; a page, or the XML of an error */
	/* how it went */
	int tries;
	bool is_unconditional; /* the server knows no If-None-Match */
	struct kz_http_answer answer;
	struct kz_err why; /* of a stop */
};

/*
 * Do it: up to three times within the deadline where the server fails or does not
 * answer; bytes of a try that failed are taken back.
 * err: object_exists, object_missing, object_too_large, object_damaged, store_unavailable,
 *   store_refused, store_full, io_failed. wait: until the deadline
 */
enum kz_rc kz_s3_do(struct kz_s3 *s, struct kz_s3_call *q, struct kz_deadline until,
		    struct kz_err *err);

#endif
