/*
 * The HTTP/1.1 server of kz-gateway: two kinds of listener, routes by prefix, whole
 * and streamed answers.  Single-threaded, on port/serve; heads are parsed by
 * rule/httphead alone.  GET and HEAD only, without bodies.  A request is answered
 * exactly once; the next of its connection is read after that.  Memory, connections
 * and times are bounded here, so that a handler need not.  Layer 3.
 * src: DEP-5, BRK-5
 */
#ifndef KZ_CORE_GATEWAY_SERVER_H
#define KZ_CORE_GATEWAY_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "port/serve.h"
#include "rule/httphead.h"
#include "rule/reason.h"

#define KZ_GW_UNSENT (1 << 20) /* bytes of an answer that may wait for a slow reader */

struct kz_gw;
struct kz_counts;

/* Who comes in where; also bits for a route. */
enum kz_gw_from {
	KZ_GW_WORKER = 1,   /* Unix socket; each connection begins with its execution line */
	KZ_GW_OPERATOR = 2, /* Unix socket or TCP; over TCP the Host must be one of ours */
};

/* One request. It lives from the handler's call until it is answered, cut, or gone. */
struct kz_gw_request {
	enum kz_gw_from from;
	bool is_tcp;           /* nobody vouches for uid */
	bool is_head;          /* HEAD: what is written is counted and not sent */
	uid_t uid;             /* of the peer; (uid_t)-1 over TCP */
	const char *execution; /* of a worker's connection, 32 hex digits; "" of others */
	const struct kz_httphead *head;
	struct kz_slice path,
		query; /* of the target, still encoded; path begins with '/', query is after the '?' */

	/* The handler's, to be set before it returns when it answers later. */
	void *arg;
	void (*on_drained)(
		struct kz_gw_request *r); /* all that was written has gone out; or NULL */
	void (*on_gone)(
		struct kz_gw_request *
			r); /* the peer went, or was too slow: drop what belongs to it, the request is over; or NULL */
};

struct kz_gw_route {
	const char *
		prefix; /* "/npm/": it and everything below; without the last '/': this path alone. Static, and the label of its counters */
	unsigned from;  /* bits of kz_gw_from; to others it does not exist */
	void (*answer)(void *arg, struct kz_gw_request *r); /* now, or keep r and answer later */
	void *arg;
};

struct kz_gw_limits {
	size_t connections; /* in all; the longest idle one goes, then new ones are told no */
	size_t of_a_peer;   /* of one worker's uid; of all operators together */
	struct kz_ms
		head; /* from the first byte of a head (from the beginning, for the first) to its end */
	struct kz_ms idle; /* between two requests; without a byte taken of an answer that waits */
};
extern const struct kz_gw_limits kz_gw_limits_default;

/* in: s borrowed. out: new. err: KZ_E_OS */
enum kz_rc kz_gw_new(struct kz_gw **out, struct kz_serve *s, const struct kz_gw_limits *limits,
		     struct kz_err *err);
/* Drop every connection (each request in hand is told that it is gone), routes and listeners. NULL is fine. */
void kz_gw_free(struct kz_gw *g);
/* Its counters, for more of them. borrowed */
struct kz_counts *kz_gw_counts(struct kz_gw *g);
/* Connections there are now. */
size_t kz_gw_connections(const struct kz_gw *g);
/* Add a route; the longest prefix that fits is asked. err: KZ_E_SOFTWARE when there are too many */
enum kz_rc kz_gw_add(struct kz_gw *g, const struct kz_gw_route *route, struct kz_err *err);
/* Take connections at a listening, non-blocking descriptor. own: fd is taken, also on failure. err: KZ_E_OS */
enum kz_rc kz_gw_listen(struct kz_gw *g, int fd, enum kz_gw_from from, bool is_tcp,
			struct kz_err *err);
/* Take no more connections over TCP; those there are go on. */
void kz_gw_unlisten(struct kz_gw *g);
/* Names that the Host of a TCP request may have beside the loopback's, "HOST,HOST"; and the address that is listened on, ADDRESS:PORT. "" for none. own: borrowed */
void kz_gw_hosts(struct kz_gw *g, const char *names, const char *listen);

/*
 * Answer whole.  in: status of HTTP; type of the content; p[0..n) is copied; fields: more
 * header lines, "Name: value\r\n" each, or NULL.  The request is over.
 */
void kz_gw_answer(struct kz_gw_request *r, int status, const char *type, const void *p, size_t n,
		  const char *fields);
/* Answer {"v":1,"type":"error","reason":CODE,"text":TEXT}: the code and its fixed text, nothing else. in: as kz_gw_answer */
void kz_gw_refuse(struct kz_gw_request *r, int status, enum kz_reason why, const char *fields);

/*
 * Begin a streamed answer.  in: length in bytes, -1: not known (chunked)
 * err: KZ_E_PROTOCOL: the peer speaks HTTP/1.0 and there is no length: it was refused, the request is over
 */
enum kz_rc kz_gw_begin(struct kz_gw_request *r, int status, const char *type, int64_t length,
		       const char *fields, struct kz_err *err);
/*
 * Write some of it. Stop when kz_gw_unsent is over what the handler likes (64 KiB are enough), go on in on_drained.
 * err: KZ_E_DATA (over KZ_GW_UNSENT unsent, or more than the length), KZ_E_OS: it was cut, the request is over
 */
enum kz_rc kz_gw_write(struct kz_gw_request *r, const void *p, size_t n, struct kz_err *err);
size_t kz_gw_unsent(const struct kz_gw_request *r);
/* It is whole: the request is over. With fewer bytes than the length it is cut. */
void kz_gw_end(struct kz_gw_request *r);
/* It cannot be made whole: close without a proper end, so that the peer does not take it for one. The request is over; also before kz_gw_begin. */
void kz_gw_cut(struct kz_gw_request *r);
/* The same of one whose reader is too slow; it is counted. */
void kz_gw_cut_late(struct kz_gw_request *r);

#endif
