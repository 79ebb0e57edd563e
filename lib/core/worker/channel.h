/*
 * The relay of a program's descriptor 3 between the frames of its run and a socket of
 * the caller's: bounded in both directions by leave given and taken (docs/worker-boot.md).
 * For core/worker only.  Layer 3.
 */
#ifndef KZ_CORE_WORKER_CHANNEL_H
#define KZ_CORE_WORKER_CHANNEL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/time.h"

#define KZ_WK_CHANNEL_CHUNK 16384

struct kz_wk_channel {
	int fd;           /* the caller's socket; -1: there is no channel */
	struct kz_buf in; /* from the program, not yet taken by the caller */
	int64_t window;   /* bytes that the worker takes */
};

/* in: fd -1: the run has none */
void kz_wk_channel_start(struct kz_wk_channel *c, int fd);
/* Take a frame of it. out: false when it breaks the protocol */
bool kz_wk_channel_take(struct kz_wk_channel *c, int type, const void *p, size_t n);
/* What to wait for. in: may_read, there is room for what the caller says */
struct pollfd kz_wk_channel_poll(const struct kz_wk_channel *c, bool may_read);
/* Give the caller what it takes now. out: how many bytes went */
int64_t kz_wk_channel_flush(struct kz_wk_channel *c);
/* What the caller says, as much as the worker takes. out: its length in t[0..KZ_WK_CHANNEL_CHUNK) */
size_t kz_wk_channel_read(struct kz_wk_channel *c, char *t);
/* The run is over: give the rest and shut the socket. wait: until the deadline, 1 s at most */
void kz_wk_channel_end(struct kz_wk_channel *c, struct kz_deadline until);

#endif
