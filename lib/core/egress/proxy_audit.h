/*
 * Refusals on their way to the operator's audit and log.  The event loops put them into
 * a bounded table; a thread of its own writes them, so that no loop waits for a disk.
 * The same refusal within a second is one row with a count.  Who tries beyond KZ_PX_EACH
 * destinations in that time, or KZ_PX_ROWS in all, is told by reason and count, one row a
 * minute: so that none can crowd out another's, or fill the store.  Host and port are all
 * that a row says of a destination.  Layer 3.
 * src: AUD-6, PROXY-13, PROXY-14
 */
#ifndef KZ_CORE_EGRESS_PROXY_AUDIT_H
#define KZ_CORE_EGRESS_PROXY_AUDIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/egress/grant.h"
#include "rule/host.h"
#include "rule/reason.h"

#define KZ_PX_DENIALS 4096 /* different ones that may wait */
#define KZ_PX_TOGETHER 128 /* rows of one transaction */
#define KZ_PX_EACH 240  /* different ones of one execution that may wait with their destination */
#define KZ_PX_REST 16   /* and by their reason alone */
#define KZ_PX_ROWS 1000 /* rows of one grant; of a peer without one, within an hour */
#define KZ_PX_SPENDERS 2048   /* of whom that is known at once */
#define KZ_PX_WHO (KZ_ID_HEX) /* an execution, or what is known of a peer */

struct kz_px_denial {
	int64_t due_ms; /* boot time at which it is written; 0: a free place */
	int64_t count;
	char who[KZ_PX_WHO]; /* refused, whatever it says of itself */
	enum kz_reason reason;
	uint16_t port;                                               /* 0: not known */
	char host[KZ_HOST_MAX + 1];                                  /* "": not known */
	char execution[KZ_ID_HEX], run[KZ_ID_HEX], actor[KZ_ID_HEX]; /* "": not known */
	char revision[KZ_REVISION_TEXT];
};

/* What somebody has had written. */
struct kz_px_spender {
	char who[KZ_PX_WHO];
	int64_t since_ms, last_ms; /* boot time; last_ms 0: a free place */
	unsigned rows;
};

/* Who was refused. */
struct kz_px_refused {
	const struct kz_grant *grant; /* that was shown, and verified; NULL: none */
	bool is_own;                  /* it was shown by whom it is for */
	bool is_tcp;
	uint32_t uid;          /* of the peer at the Unix socket */
	const char *execution; /* that the peer names; "": none */
};

struct kz_px_audit {
	pthread_mutex_t lock;
	pthread_cond_t due;
	pthread_t thread;
	atomic_bool is_ending;
	char path[300];
	struct kz_px_denial *table;     /* KZ_PX_DENIALS places */
	size_t used;                    /* places that are not free */
	struct kz_px_spender *spenders; /* KZ_PX_SPENDERS places */
	atomic_ullong written,
		lost;           /* rows; refusals that found no place or could not be written */
	atomic_bool is_failing; /* the newest write failed */
};

/* Start the writer. in: path of the audit store. err: KZ_E_OS */
enum kz_rc kz_px_audit_start(struct kz_px_audit *a, const char *path, struct kz_err *err);
/* Write what is left and end the writer. wait: for the disk */
void kz_px_audit_stop(struct kz_px_audit *a);
/* Take a refusal. in: t NULL: the destination is not known. wait: never */
void kz_px_audit_put(struct kz_px_audit *a, enum kz_reason reason, const struct kz_target *t,
		     const struct kz_px_refused *r);

#endif
