/*
 * An event loop for servers: watched descriptors, deadlines on CLOCK_BOOTTIME,
 * listeners, and buffered connections whose memory is bounded by the caller
 * (nothing is parsed here).  The only user of libevent.  Layer 1.
 */
#ifndef KZ_PORT_SERVE_H
#define KZ_PORT_SERVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/time.h"

struct kz_serve; /* the loop; single-threaded */
struct kz_watch; /* one watched descriptor */
struct kz_timer; /* one deadline */
struct kz_conn;  /* one buffered stream connection */

enum kz_serve_what { KZ_SERVE_READ = 1, KZ_SERVE_WRITE = 2 };
typedef void (*kz_serve_fn)(void *arg);

/* Make a loop. err: KZ_E_OS */
enum kz_rc kz_serve_new(struct kz_serve **out, struct kz_err *err);
void kz_serve_free(struct kz_serve *s);
/* Run until kz_serve_stop. err: KZ_E_OS. wait: for ever */
enum kz_rc kz_serve_run(struct kz_serve *s, struct kz_err *err);
void kz_serve_stop(struct kz_serve *s);

/* Watch fd (borrowed, non-blocking) level-triggered; fn is called each time it is ready. out: NULL when memory is out */
struct kz_watch *kz_watch_new(struct kz_serve *s, int fd, enum kz_serve_what what, kz_serve_fn fn,
			      void *arg);
/* Stop or go on calling fn. */
void kz_watch_enable(struct kz_watch *w, bool on);
/* Forget it; NULL is fine; the descriptor stays open. */
void kz_watch_free(struct kz_watch *w);

/* Make a timer (a timerfd on CLOCK_BOOTTIME, so that a suspended machine does not stretch a bound). out: NULL on failure */
struct kz_timer *kz_timer_new(struct kz_serve *s, kz_serve_fn fn, void *arg);
/* Call fn once at the deadline (again replaces); KZ_NEVER stops it. err: KZ_E_OS */
enum kz_rc kz_timer_at(struct kz_timer *t, struct kz_deadline at, struct kz_err *err);
/* Call fn each period; 0 stops it. */
enum kz_rc kz_timer_every(struct kz_timer *t, struct kz_ms period, struct kz_err *err);
void kz_timer_free(struct kz_timer *t);

/* Accept on a listening descriptor (borrowed, non-blocking): fn gets each connection, close-on-exec and non-blocking, and owns it. */
typedef void (*kz_accept_fn)(void *arg, int fd);
struct kz_watch *kz_serve_listen(struct kz_serve *s, int fd, kz_accept_fn fn, void *arg);

struct kz_conn_calls {
	kz_serve_fn on_data;    /* input arrived; take it with kz_conn_peek and kz_conn_drop */
	kz_serve_fn on_drained; /* everything written has gone out, or NULL */
	kz_serve_fn on_closed;  /* the other side ended or failed; free it now or later */
};
/*
 * Take a connected stream. in: fd is taken, also on failure; input beyond max bytes
 * is left in the socket until some was dropped.  out: NULL when memory is out
 */
struct kz_conn *kz_conn_new(struct kz_serve *s, int fd, size_t max,
			    const struct kz_conn_calls *calls, void *arg);
/* Close, before it returns, and free; unsent output is lost. NULL is fine; safe inside its own callbacks. */
void kz_conn_free(struct kz_conn *c);
/* Bytes of input there are; and the first n of them in one piece, borrowed until the next call (NULL when fewer). */
size_t kz_conn_ready(const struct kz_conn *c);
const void *kz_conn_peek(struct kz_conn *c, size_t n);
void kz_conn_drop(struct kz_conn *c, size_t n);
/* Queue output. err: KZ_E_OS */
enum kz_rc kz_conn_write(struct kz_conn *c, const void *p, size_t n, struct kz_err *err);
/* Output not yet taken by the kernel. */
size_t kz_conn_unsent(const struct kz_conn *c);
/* Close once everything is sent; input is ignored from now. on_closed is called then. */
void kz_conn_finish(struct kz_conn *c);
/* Shut our half: the other side reads its end, and may still send. To be called when nothing is unsent. */
void kz_conn_shut(struct kz_conn *c);
/* In on_closed: did it fail, so that nothing more can be sent? Else the other side ended its half alone. */
bool kz_conn_is_broken(const struct kz_conn *c);

#endif
