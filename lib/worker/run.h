/*
 * One run of one program in the tenant's wall: pipes, bounds, causes, record.
 *
 * Invariant: a run that was started ends, and its record is made after the last
 * process of the tenant is dead and everything it wrote was counted.
 */
#ifndef KZ_WORKER_RUN_H
#define KZ_WORKER_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "port/serve.h"
#include "rule/way.h"
#include "worker/boot.h"
#include "worker/space.h"
#include "worker/wall.h"

struct kz_json;
struct kz_run;

struct kz_run_ask {
	const void *vectors; /* struct kz_vectors */
	size_t vectors_n;
	struct kz_ms wall;
	int64_t output_bytes, open_files;
	bool stdin_open;
	const char *execution; /* what the way out is opened for; NULL: it stays shut */
	enum kz_way way;
	bool has_channel; /* the program gets descriptor 3 */
};

struct kz_run_calls {
	/* Kept output of stream 1 or 2. */
	void (*on_output)(void *arg, int stream, const void *p, size_t n);
	/* n more bytes of standard input may be given. */
	void (*on_window)(void *arg, size_t n);
	/* Bytes of its descriptor 3; and that n more may be given to it. */
	void (*on_channel)(void *arg, const void *p, size_t n);
	void (*on_channel_window)(void *arg, size_t n);
	/* The end: record is borrowed; is_dead false when the tenant could not be killed. The run is free for the next afterwards. */
	void (*on_end)(void *arg, const struct kz_json *record, bool is_dead);
};

/* Make the (one) runner of a worker. out: NULL when memory or descriptors are out */
struct kz_run *kz_run_new(struct kz_serve *s, const struct kz_boot *b, struct kz_wall *w,
			  struct kz_space *space);
void kz_run_free(struct kz_run *r);
bool kz_run_is_busy(const struct kz_run *r);
/* Start. in: the wall stands and was not used. err: KZ_E_OS; nothing runs then */
enum kz_rc kz_run_start(struct kz_run *r, const struct kz_run_ask *ask,
			const struct kz_run_calls *calls, void *arg, struct kz_err *err);
/* Give standard input (at most the window granted), or its end. out: false when more than the window was given */
bool kz_run_input(struct kz_run *r, const void *p, size_t n);
void kz_run_input_end(struct kz_run *r);
/* Give bytes to its descriptor 3 (at most the window granted), or let it send n more. out: false when that is more than may be */
bool kz_run_channel(struct kz_run *r, const void *p, size_t n);
bool kz_run_channel_grant(struct kz_run *r, size_t n);
/* Did a program reach the proxy since the last call of this? */
bool kz_run_was_outside(struct kz_run *r);
/* End it for this cause ("lease_lost", "signal"), unless it has ended. */
void kz_run_cancel(struct kz_run *r, const char *cause);

#endif
