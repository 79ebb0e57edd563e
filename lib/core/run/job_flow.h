/*
 * What goes into a run and comes out of it: inputs and streams.  For the files of
 * core/run only.  Layer 3.
 */
#ifndef KZ_CORE_RUN_JOB_FLOW_H
#define KZ_CORE_RUN_JOB_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "port/seal.h"
#include "rule/excerpt.h"
#include "rule/path.h"

struct kz_job_input {
	char name[KZ_PATH_MAX + 1];
	const char *file;
	int fd;
	int64_t size;
	char sha256[KZ_SHA256_HEX]; /* of what was sent */
};

/* One stream as this side received it. */
struct kz_job_stream {
	int64_t bytes;
	struct kz_sha256 hash;
	char sha256[KZ_SHA256_HEX];
	char part[4]; /* begin of a character cut between two events */
	size_t part_len;
	struct kz_excerpt excerpt;
	struct kz_buf whole; /* all of it, where it may be compressed; own */
	bool is_part;        /* it could not all be kept */
};

#endif
