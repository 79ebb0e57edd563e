/*
 * What the indexes of a run named: of each file where it is, how long and of which digest.
 * Kept in memory by execution until its token ends, bounded in bytes; of the execution
 * that has most the project that was not asked for longest goes first.  What is not in here is handed out to nobody.
 * Layer 3.
 * src: BRK-6, BRK-7, BRK-28
 */
#ifndef KZ_CORE_BROKER_BOOK_H
#define KZ_CORE_BROKER_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "port/seal.h"
#include "base/time.h"
#include "rule/host.h"
#include "rule/package.h"
#include "rule/reason.h"

#define KZ_BRK_BOOK_OF_ONE (16u << 20) /* bytes of one execution */
#define KZ_BRK_BOOK_OF_ALL (64u << 20)
#define KZ_BRK_BOOK_EXECUTIONS 4096

struct kz_brk_book;
struct kz_brk_book_run;   /* one execution */
struct kz_brk_book_pages; /* one project, while its index is read */

enum kz_digest { KZ_DIGEST_NONE, KZ_DIGEST_SHA256, KZ_DIGEST_SHA512 };

struct kz_brk_book_file {
	const char *url;
	int64_t size;          /* -1: not told */
	enum kz_digest digest; /* of the file: digest_hex */
	char digest_hex[129];
	bool has_metadata;
	char metadata_sha256[65]; /* of the companion, "" not told */
};

/* own: kz_brk_book_free; NULL when memory is out */
struct kz_brk_book *kz_brk_book_new(void);
void kz_brk_book_free(struct kz_brk_book *b);
/*
 * The part of an execution, made at its first request; lives until then, whatever is done to the clock of the day.
 * out: borrowed until the next kz_brk_book_run or kz_brk_book_sweep, and while it has jobs; NULL when there are too many or memory is out
 */
struct kz_brk_book_run *kz_brk_book_run(struct kz_brk_book *b, const char *execution,
					struct kz_deadline until);
/* Drop those whose time is over; kz_brk_book_run does so too where there is no place left. */
void kz_brk_book_sweep(struct kz_brk_book *b);

/* Start to write a project down; NULL when memory is out. own: kz_brk_book_close or kz_brk_book_drop */
struct kz_brk_book_pages *kz_brk_book_open(void);
/* Add a file. out: false when memory is out or there are too many */
bool kz_brk_book_add(struct kz_brk_book_pages *p, const char *name,
		     const struct kz_brk_book_file *f);
/* What was written takes the place of what was known of this project before. out: false when it is over the bounds; own: pages is taken */
bool kz_brk_book_close(struct kz_brk_book *b, struct kz_brk_book_run *r, enum kz_registry registry,
		       const char *project, struct kz_brk_book_pages *p);
void kz_brk_book_drop(struct kz_brk_book_pages *p);
/* Is anything known of this project? */
bool kz_brk_book_has(const struct kz_brk_book_run *r, enum kz_registry registry,
		     const char *project);
/* out: false: no index of this execution named it; url is borrowed until the next change */
bool kz_brk_book_find(struct kz_brk_book_run *r, enum kz_registry registry, const char *project,
		      const char *file, struct kz_brk_book_file *out);

/* How this execution fares, for who asks afterwards [BRK-17]: last reason, and which registry could not be reached. */
struct kz_brk_book_fare {
	enum kz_reason last;
	bool is_unreachable[KZ_REGISTRIES];
	char silent[KZ_HOST_MAX +
		    1]; /* a host that did not answer a request, and is not asked ... */
	struct kz_deadline silent_until; /* ... again before */
	unsigned told;                   /* refusals in the log */
	unsigned jobs;                   /* requests in hand: it is kept until they are over */
	unsigned running[2];             /* of them under way: for an index, for a file */
};
struct kz_brk_book_fare *kz_brk_book_fare(struct kz_brk_book_run *r);

#endif
