/*
 * One direction of a relay between two non-blocking stream sockets: the first 64 KiB
 * are copied, the rest is spliced through a pipe out of a budgeted pool, or copied on
 * where the budget is used up.  The far side is shut for writing only when every byte
 * has gone out, so that a half-close keeps to the byte.  No loop of its own: the owner
 * waits for readiness and calls kz_flow_step.  Layer 0.
 */
#ifndef KZ_BASE_FLOW_H
#define KZ_BASE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pipes that one process may hold; one pool a thread. */
struct kz_pipes {
	int free_r[64], free_w[64]; /* kept for the next */
	size_t free_count, in_use, most;
	int pipe_bytes;
};
/* in: most pipes at once; read kz_pipes_budget for what the user's limits bear. */
void kz_pipes_init(struct kz_pipes *p, size_t most);
void kz_pipes_release(struct kz_pipes *p);
size_t kz_pipes_budget(void);

enum kz_flow_what {
	KZ_FLOW_DONE = 0,       /* end of input passed on: the far side is shut for writing */
	KZ_FLOW_WANT_READ = 1,  /* call again when from is readable */
	KZ_FLOW_WANT_WRITE = 2, /* call again when to is writable */
	KZ_FLOW_FAILED = 3,     /* a reset or another error, on either side: close both */
};

struct kz_flow {
	struct kz_pipes *pipes;
	int from, to; /* borrowed */
	int pipe_r, pipe_w;
	size_t piped; /* bytes in the pipe */
	char *held;   /* bytes read and not yet written, when there is no pipe */
	size_t held_at, held_len;
	uint64_t passed; /* bytes written to the far side */
	bool is_eof, is_shut;
};

/* Start a direction. in: early[0..n) was read from "from" before and goes first (copied). out: false when memory is out */
bool kz_flow_init(struct kz_flow *f, struct kz_pipes *pipes, int from, int to, const void *early,
		  size_t n);
/* Move what can be moved now, at most quantum bytes, so that one busy tunnel does not starve others. */
enum kz_flow_what kz_flow_step(struct kz_flow *f, size_t quantum);
/* Give pipe and memory back; the descriptors stay open. */
void kz_flow_release(struct kz_flow *f);

#endif
