/*
 * One direction of a relay between two non-blocking stream sockets: the first 64 KiB
 * are copied, the rest is spliced through a pipe out of a budgeted pool, or copied on
 * where the budget is used up.  The far side is shut for writing only when every byte
 * has gone out, so that a half-close keeps to the byte.  No loop of its own: the owner
 * waits for readiness (either kind of trigger) and calls kz_flow_step.  A flow that
 * waits to read holds neither pipe nor memory.  The owner ignores SIGPIPE: splice(2)
 * cannot ask for none.  Layer 0.
 * src: PROXY-19; notes of the design: the far side is shut after the pipe is empty
 */
#ifndef KZ_BASE_FLOW_H
#define KZ_BASE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KZ_FLOW_COPIED 65536 /* bytes of a direction before it is spliced */
#define KZ_PIPES_KEPT 64

/* Pipes that one thread may hold; not shared between threads. */
struct kz_pipes {
	int free_r[KZ_PIPES_KEPT], free_w[KZ_PIPES_KEPT]; /* empty, for the next */
	size_t free_count, in_use, most;
	unsigned pause; /* so many flows are copied before a pipe is asked for again */
};
/* in: most: pipes at once, 0: copy everything; kz_pipes_budget says what the user's limits bear. wait: never */
void kz_pipes_init(struct kz_pipes *p, size_t most);
/* Close the kept pipes; flows give theirs back first. */
void kz_pipes_release(struct kz_pipes *p);
/* Pipes of 1 MiB that this user may hold in all (fs.pipe-user-pages-soft, half of it left to others), at most KZ_PIPES_KEPT. wait: never */
size_t kz_pipes_budget(void);

enum kz_flow_what {
	KZ_FLOW_DONE = 0,       /* end of input passed on: the far side is shut for writing */
	KZ_FLOW_WANT_READ = 1,  /* call again when from is readable */
	KZ_FLOW_WANT_WRITE = 2, /* call again when to is writable */
	KZ_FLOW_FAILED = 3, /* a reset or another error: the other direction may still hold bytes */
	KZ_FLOW_MORE =
		4, /* the quantum is used up: call again in turn, without waiting (from is still readable) */
};

struct kz_flow {
	struct kz_pipes *pipes; /* borrowed, NULL: copy everything */
	int from, to;           /* borrowed */
	int pipe_r, pipe_w;     /* -1 for none */
	size_t piped;           /* bytes in the pipe */
	char *held;             /* bytes read and not yet written, when there is no pipe */
	size_t held_at, held_len;
	uint64_t passed; /* bytes written to the far side */
	bool is_eof, is_shut;
	bool is_copied; /* one of the two cannot be spliced */
};

/*
 * Start a direction.
 * in: from, to: non-blocking stream sockets; early[0..n) goes first (copied); n may be 0.
 * out: false when memory is out, f is then as after kz_flow_release.
 */
bool kz_flow_init(struct kz_flow *f, struct kz_pipes *pipes, int from, int to, const void *early,
		  size_t n);
/* Move what can be moved now, about quantum bytes at most, so that one busy tunnel does not starve others. wait: never */
enum kz_flow_what kz_flow_step(struct kz_flow *f, size_t quantum);
/* Give pipe and memory back; the descriptors stay open. May be called again. */
void kz_flow_release(struct kz_flow *f);

#endif
