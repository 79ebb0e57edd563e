/*
 * The broker's jobs: one a request, from its token to its answer.  For the files of the
 * broker only.  Layer 3.
 */
#ifndef KZ_CORE_BROKER_JOB_H
#define KZ_CORE_BROKER_JOB_H

#include "core/broker/book.h"
#include "core/broker/broker.h"
#include "core/broker/fetch.h"
#include "core/broker/token.h"
#include "core/broker/world.h"
#include "core/gateway/count.h"
#include "rule/packument.h"
#include "rule/simple.h"

enum kz_brk_class { KZ_BRK_INDEX, KZ_BRK_FILE }; /* of struct kz_brk_book_fare's running */

struct kz_broker {
	struct kz_serve *s;
	struct kz_gw *gw;
	struct kz_brk_world world;
	struct kz_brk_net *net;
	struct kz_fetch_world fetch;
	struct kz_brk_book *book;
	struct kz_share *share;
	struct kz_timer *next; /* starts jobs that wait */
	struct kz_timer *idle; /* looks whether it is time to start anew */
	struct kz_job *first;  /* all of them, in the order they came */
	unsigned running[2];
	struct kz_deadline sweep;
	int64_t told_s;
	unsigned told; /* lines in the log in that second, of requests without a run */
	uint64_t *requests[KZ_REGISTRIES], *bytes[KZ_REGISTRIES];
};

struct kz_job {
	struct kz_broker *b;
	struct kz_job *next;
	struct kz_gw_request *r; /* NULL: answered, or gone */
	struct kz_pkg_path path;
	struct kz_pkg_claims claims;
	struct kz_brk_book_run *run;
	char base[32]; /* what links begin with */
	enum kz_brk_class class;
	bool is_running, is_begun;
	int64_t held_ms; /* since when its reader holds it up, boot time; 0: it does not */
	struct kz_fetch *fetch;
	enum kz_reason why; /* found while it was read; KZ_R_NONE */
	char host[KZ_HOST_MAX + 1],
		asked[KZ_HOST_MAX + 1]; /* the one of the answer; the one that was asked first */

	/* an index */
	struct kz_url page;
	struct kz_brk_book_pages *pages;
	struct kz_packument *packument;
	struct kz_simple *simple;
	enum kz_simple_form to;
	struct kz_buf out;
	size_t sent;
	int64_t came;

	/* a file */
	struct kz_brk_book_file file;
	int64_t length; /* announced, -1: not */
	struct kz_sha256 sha256;
	struct kz_sha512 sha512;
	char want[129]; /* digest, "" none */
	enum kz_digest digest;
	struct kz_buf held; /* the last piece, until it is known to be right */
};

/* -- job.c -- */

/* Take up a request whose token was found good. */
void kz_job_new(struct kz_broker *b, struct kz_gw_request *r, const struct kz_pkg_path *path,
		const struct kz_pkg_claims *claims, const char *base);
/* How long what an execution asked for is remembered: to the end of its token, by the clock of the day as it is now. */
struct kz_deadline kz_job_until(const struct kz_pkg_claims *claims);
/* The end of one: gives back all it holds and lets others start. */
void kz_job_free(struct kz_job *j);
/* Its download is over: remember how its host did. in: status as of kz_fetch_ask.on_end; why: KZ_R_NONE: whole and right */
void kz_job_fared(struct kz_job *j, enum kz_reason why, int status);
/* Refuse it, or cut what was begun; write it down; free it. */
void kz_job_refuse(struct kz_job *j, enum kz_reason why);
/* Let jobs start from the loop. */
void kz_job_kick(struct kz_broker *b);
void kz_job_run_all(void *broker);
/* Start a download for it. */
void kz_job_fetch(struct kz_job *j, struct kz_fetch_ask *ask);
/* Tell the operator of a refusal, and count it. in: any text may be NULL */
void kz_job_tell(struct kz_broker *b, unsigned *told, enum kz_reason why, const char *run,
		 const char *registry, const char *host, const char *package);
/* The status of HTTP that a reason comes to, and the header lines besides. */
int kz_job_status(enum kz_reason why, const char **fields);

/* -- index.c, file.c -- */

/* Its turn has come. */
void kz_job_index(struct kz_job *j);
/* Give back what an index needs; may be called again. */
void kz_job_index_release(struct kz_job *j);
/* The answer's reader took what was written. */
void kz_job_index_drained(struct kz_job *j);
/* The same of a file. */
void kz_job_file(struct kz_job *j);
void kz_job_file_release(struct kz_job *j);
void kz_job_file_drained(struct kz_job *j);

#endif
