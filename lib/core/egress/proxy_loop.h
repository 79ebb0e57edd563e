/*
 * One event loop of the proxy, and the steps of its connections.  A loop belongs to one
 * thread and waits in one place, epoll; no step waits.  For the files of the proxy
 * only.  Layer 3.
 * src: PROXY-1 to PROXY-5, PROXY-17 to PROXY-20, INV-27
 */
#ifndef KZ_CORE_EGRESS_PROXY_LOOP_H
#define KZ_CORE_EGRESS_PROXY_LOOP_H

#include "core/egress/proxy_conn.h"

/* -- proxy_loop.c -- */

/* Make a loop; its thread is started by who calls. err: KZ_E_OS */
enum kz_rc kz_px_loop_new(struct kz_px_loop **out, struct kz_px_shared *s, size_t pipes,
			  struct kz_err *err);
void *kz_px_loop_run(void *loop);
void kz_px_loop_free(struct kz_px_loop *l);
/* See that a new set or the end is noticed. safe: any thread */
void kz_px_loop_wake(struct kz_px_loop *l);
/* out: false: there is none, nor could one be made now */
bool kz_px_resolver(struct kz_px_loop *l);
/* Watch a descriptor of a connection, for every edge. out: false when memory is out */
bool kz_px_watch_end(struct kz_px_loop *l, struct kz_px_end *e);
/* Tell of bytes that come at an end, or not: while they cannot be passed on, each of them would wake the loop for nothing. */
void kz_px_hear(struct kz_px_loop *l, struct kz_px_end *e, bool is_heard);
/* Come back to it in this turn or the next without an event. */
void kz_px_ready(struct kz_px_conn *c);

/* -- proxy_timer.c -- */

/* The state or what it waits for changed: look at its deadline anew. */
void kz_px_timer(struct kz_px_conn *c);
void kz_px_timer_forget(struct kz_px_conn *c);
/* End what is late. */
void kz_px_timers(struct kz_px_loop *l);
/* How long nothing is late: a poll(2) timeout. */
int kz_px_timers_wait(const struct kz_px_loop *l);

/* -- proxy_conn.c -- */

/* Take what waits at a listener. */
void kz_px_accept(struct kz_px_loop *l, int listener, bool is_tcp);
/* An event at one of its ends. in: epoll's bits */
void kz_px_event(struct kz_px_conn *c, bool is_server, uint32_t events);
/* Tell the client what the reason comes to, tell the operator the reason, and close. */
void kz_px_refuse(struct kz_px_conn *c, enum kz_reason why);
/* Close at once; is_reset: both sides are told that it was no orderly end. */
void kz_px_close(struct kz_px_conn *c, bool is_reset);
/* Give the server up; the client goes on. */
void kz_px_drop_server(struct kz_px_conn *c, bool is_reset);
/* Everything was written: shut our side and throw away what still comes. */
void kz_px_linger(struct kz_px_conn *c);
void kz_px_state(struct kz_px_conn *c, enum kz_px_state state);

/* -- proxy_head.c -- */

/* The client sent something, and its head is not whole. */
void kz_px_head_read(struct kz_px_conn *c);

/* -- proxy_judge.c -- */

/* The head is whole and sound: who shows which grant, and for what? in: h: slices of c->in */
void kz_px_judge(struct kz_px_conn *c, const struct kz_httphead *h);
/* The same of one that was parked. */
void kz_px_judge_again(struct kz_px_conn *c);
/* May its grant still stand, by the set now in force? out: KZ_R_NONE, or why not */
enum kz_reason kz_px_standing(const struct kz_px_conn *c);
/* Refuse what took too long: its grant's end is the reason where that came first. */
void kz_px_refuse_late(struct kz_px_conn *c, enum kz_reason otherwise);

/* -- proxy_dial.c -- */

/* The target may be asked for. */
void kz_px_resolve(struct kz_px_conn *c);
/* Dial the next judged address. */
void kz_px_dial(struct kz_px_conn *c);
/* The one that was dialled answered, or not. in: epoll's bits */
void kz_px_dialled(struct kz_px_conn *c, uint32_t events);
/* It did not answer in time. */
void kz_px_dial_late(struct kz_px_conn *c);

/* -- proxy_tunnel.c, proxy_plain.c -- */

/* The server is there. */
void kz_px_tunnel_start(struct kz_px_conn *c);
void kz_px_plain_begin(struct kz_px_conn *c);
/* Move what can be moved. in: where something happened, and epoll's bits */
void kz_px_tunnel_run(struct kz_px_conn *c, bool is_server, uint32_t events);
void kz_px_plain_run(struct kz_px_conn *c, bool is_server, uint32_t events);

#endif
