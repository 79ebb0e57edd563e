/*
 * The tenant's first process: root of nothing but its own namespaces, a child of
 * process 1.  It builds the tenant's root, measures the namespaces it lives in,
 * starts one program and reaps; it is killed to end the tenant.
 *
 * Messages are fixed records over a SOCK_SEQPACKET pair; nothing the tenant makes
 * is ever read from it.
 */
#ifndef KZ_WORKER_INIT_H
#define KZ_WORKER_INIT_H

#include <stdint.h>

#include "worker/boot.h"
#include "worker/deny.h"

enum kz_init_ask_what {
	KZ_ASK_VIEW = 1, /* measure; answered by KZ_SAY_VIEW */
	KZ_ASK_JOIN,     /* enter the tenant's cgroup; no answer (a failure shows at KZ_ASK_RUN) */
	KZ_ASK_RUN, /* descriptors: stdin, stdout, stderr, a file with the vectors; value: listen for the way out */
	KZ_ASK_DIRTY, /* fault build: dirty the surface in value; answered by KZ_SAY_READY */
};

struct kz_init_ask {
	uint32_t what;
	int32_t value;
	int64_t open_files;
	int64_t file_bytes;
};

enum kz_init_say_what {
	KZ_SAY_READY = 1,
	KZ_SAY_FAILED, /* setting up failed: step and errno */
	KZ_SAY_VIEW,
	KZ_SAY_LISTENS, /* carries the listener of kz_forward_listen */
	KZ_SAY_REFUSED, /* it could not be: step and errno */
	KZ_SAY_ENDED,   /* its wait status in value */
};

#define KZ_VIEW_PLACES 14
/* Owner and mode of a place that stays; all 0: it is not there. */
struct kz_view_mode {
	uint32_t mode, uid, gid, rdev;
};

/* What the tenant's namespaces hold; -1 where it could not be read. */
struct kz_view {
	int64_t shm, msg, sem, mqueue, sockets, mounts, projection;
	char mounts_digest[65], limits_digest[65], modes_digest[65];
	struct kz_view_mode
		modes[KZ_VIEW_PLACES]; /* what modes_digest is of, in the order of view.c */
};

struct kz_init_say {
	uint32_t what;
	int32_t value;
	int32_t sys_errno;
	char step[32];
	struct kz_view view;
};

/* The descriptors of a KZ_ASK_RUN, in order. */
enum { KZ_RUN_IN, KZ_RUN_OUT, KZ_RUN_ERR, KZ_RUN_VECTORS, KZ_RUN_FDS };

/* Life of the tenant's first process, right after clone. in: sock is its end; space where its file system is mounted. Never returns. */
_Noreturn void kz_init_main(int sock, struct kz_boot *b, const struct kz_deny *deny,
			    const char *space);

#endif
