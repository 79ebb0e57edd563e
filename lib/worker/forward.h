/*
 * The ways out of the worker (rule/way.h): one program's connections to a port of its
 * own loopback are passed on to the Unix socket behind it, each after a line that names
 * the execution the program was started for.  Nothing is read out of them.
 *
 * Invariant: there is a listener only while a program runs that was started with an
 * execution; how many connections there are, and what they hold, is bounded; after
 * kz_forward_end no descriptor is left beyond those of kz_forward_new.
 */
#ifndef KZ_WORKER_FORWARD_H
#define KZ_WORKER_FORWARD_H

#include <stdint.h>

#include "base/err.h"
#include "port/serve.h"
#include "rule/way.h"

#define KZ_FORWARD_MOST 64 /* connections at once; more wait in the queue of the listener */
/* What all of them may hold in the kernel and in process 1; the driver adds it to the worker's memory bound. */
#define KZ_FORWARD_BYTES (48 << 20)
/* Descriptors of all of them: two each, pipes, the listener. */
#define KZ_FORWARD_FILES 160
#define KZ_EXECUTION_HEX 32

struct kz_forward;

/* Make the (one) forwarder of a worker. in: dirs hold the socket of each way, borrowed; -1: there is none. out: NULL when memory is out */
struct kz_forward *kz_forward_new(struct kz_serve *s, const int dirs[KZ_WAYS]);
void kz_forward_free(struct kz_forward *f);
/* Is text the name of an execution, 32 lower-case hex digits? */
bool kz_forward_is_execution(const char *text);
/* Open the listener in the network namespace of the caller, which is the tenant's first process. out: descriptor, or -1 and errno */
int kz_forward_listen(enum kz_way way);
/* Pass on what comes to the listener (taken, also on failure) until kz_forward_end. err: KZ_E_OS */
enum kz_rc kz_forward_start(struct kz_forward *f, enum kz_way way, int listener,
			    const char *execution, struct kz_err *err);
/* Was anything passed on since the last call of this? */
bool kz_forward_was_used(struct kz_forward *f);
/* Reset every connection and close the listener; again is fine. wait: never */
void kz_forward_end(struct kz_forward *f);

#endif
