/*
 * The inside of the forwarder, shared by forward.c (listener, life) and forward_link.c
 * (one connection), included by nobody else.
 */
#ifndef KZ_WORKER_FORWARD_PARTS_H
#define KZ_WORKER_FORWARD_PARTS_H

#include <stdbool.h>

#include "base/flow.h"
#include "worker/forward.h"

struct kz_link; /* one connection of the program and its other half */

struct kz_forward {
	struct kz_serve *serve; /* borrowed */
	int dirs[KZ_WAYS];      /* borrowed */
	enum kz_way way;        /* where it leads now */
	int listener;
	char preamble[64];
	struct kz_watch *accepting;
	struct kz_timer *retry;
	struct kz_pipes pipes;
	struct kz_link *links[KZ_FORWARD_MOST];
	int count;
	bool was_used;
};

/* Take a connection of the program, and a place. in: tcp is taken, also on failure. out: NULL when memory is out */
struct kz_link *kz_link_new(struct kz_forward *f, int tcp);
/* Connect its other half. out: false: the proxy's queue is full, try again; else it is served or gone. wait: never */
bool kz_link_try(struct kz_link *l);
/* Does it wait for its other half? */
bool kz_link_is_waiting(const struct kz_link *l);
/* Close it and give its place back. in: is_reset: the program's side learns it as a reset, and nothing of the connection outlives this call */
void kz_link_drop(struct kz_link *l, bool is_reset);
/* Bound a buffer of the kernel. in: what: SO_RCVBUF or SO_SNDBUF */
void kz_link_size(int fd, int what, int bytes);

#endif
