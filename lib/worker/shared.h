/*
 * Read-only files of a run: what was put on /work/shared, and whether it is what the run
 * was admitted with.  Process 1 hashes each file as it writes it; a program starts only
 * when the set, its manifest and its audience are the ones that were announced.
 * src: PRJ-4 to PRJ-7, PRJ-34, INV-38, INV-41
 */
#ifndef KZ_WORKER_SHARED_H
#define KZ_WORKER_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "rule/httphead.h"
#include "rule/projection.h"

struct kz_json;

struct kz_shared {
	bool is_open; /* files may be put */
	uint64_t round;
	char manifest[65];  /* digest of the text that the program gets */
	char audience[129]; /* version of the audience it is for */
	int count;
	int64_t bytes;
	struct {
		char name[KZ_PRJ_NAME];
		int64_t size;
		char sha256[65];
		bool is_whole;
	} files[KZ_PRJ_FILES];
};

/*
 * May a program start with what lies there?
 * in: dir: the place; want: member "shared" of the exec, NULL for a run without; tail: its
 * arguments and environment, the environment after argc strings.
 * err: projection_failed
 */
enum kz_rc kz_shared_check(const struct kz_shared *s, int dir, const struct kz_json *want,
			   struct kz_slice tail, int64_t argc, struct kz_err *err);
/* A name that may be put there: one component, not hidden. */
bool kz_shared_is_name(const char *name);
/* Are these files, as name, size and sha256 of each element, the ones that were put, all of them and whole? */
bool kz_shared_is_set(const struct kz_shared *s, const struct kz_json *list);
/* Likewise of the manifest that a program reads: each path lies below KZ_PRJ_DIR. in: text[0..n) */
bool kz_shared_is_manifest(const struct kz_shared *s, const char *text, size_t n);

#endif
