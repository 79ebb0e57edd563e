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
#include "worker/view.h"

enum kz_init_ask_what {
	KZ_ASK_VIEW = 1, /* measure; answered by KZ_SAY_VIEW */
	KZ_ASK_JOIN,     /* enter the tenant's cgroup; no answer (a failure shows at KZ_ASK_RUN) */
	KZ_ASK_RUN, /* descriptors: stdin, stdout, stderr, a file with the vectors, perhaps the channel; value: 1 + the way out that it listens for, 0 none */
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

struct kz_init_say {
	uint32_t what;
	int32_t value;
	int32_t sys_errno;
	char step[32];
	struct kz_view view;
};

/* The descriptors of a KZ_ASK_RUN, in order; the last may be missing. */
enum { KZ_RUN_IN, KZ_RUN_OUT, KZ_RUN_ERR, KZ_RUN_VECTORS, KZ_RUN_CHANNEL, KZ_RUN_FDS };

/* Life of the tenant's first process, right after clone. in: sock is its end; space where its file system is mounted. Never returns. */
_Noreturn void kz_init_main(int sock, struct kz_boot *b, const struct kz_deny *deny,
			    const char *space);

#endif
