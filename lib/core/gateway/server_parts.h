/*
 * What the server's files share.  Layer 3, for lib/core/gateway/server*.c only.
 */
#ifndef KZ_CORE_GATEWAY_SERVER_PARTS_H
#define KZ_CORE_GATEWAY_SERVER_PARTS_H

#include "core/gateway/server.h"
#include "rule/ask.h"

#define KZ_GW_ROUTES 24
#define KZ_GW_LISTENERS 4

enum kz_gw_state {
	KZ_GW_READ,   /* a head is waited for */
	KZ_GW_ANSWER, /* a handler has the request */
	KZ_GW_LAST,   /* the last answer goes out */
	KZ_GW_LINGER, /* our half is shut; what still comes is thrown away */
	KZ_GW_DEAD,
};

struct kz_gw_conn {
	struct kz_gw_request r; /* first, so that one is the other */
	struct kz_gw *g;
	struct kz_gw_conn *prev, *next;
	struct kz_conn *conn;
	enum kz_gw_state state;
	bool has_line;             /* the execution line was read, or none is due */
	bool has_asked;            /* at least one request came */
	bool is_busy;              /* its requests are being read: it is freed after that */
	bool is_close;             /* after this answer */
	bool is_begun, is_chunked; /* of the answer in hand */
	int64_t length, written;   /* of its body; length -1: not known */
	int64_t since_ms;          /* of the state, or of the last byte that moved */
	size_t unsent;             /* as the last look saw it */
	size_t head_at;            /* of the head: looked at */
	size_t thrown;             /* bytes, while it lingers */
	char *head_text;           /* of the request in hand */
	struct kz_httphead head;
	const char *route; /* the label of its counters */
	char execution[KZ_EXECUTION_HEX];
};

struct kz_gw_listener {
	struct kz_gw *g;
	struct kz_watch *watch; /* NULL: this place is free */
	int fd;
	enum kz_gw_from from;
	bool is_tcp;
};

struct kz_gw {
	struct kz_serve *serve; /* borrowed */
	struct kz_counts *counts;
	struct kz_gw_limits limits;
	struct kz_timer *tick; /* runs while there are connections */
	struct kz_gw_conn *conns;
	size_t count;
	struct kz_gw_listener listeners[KZ_GW_LISTENERS];
	struct kz_gw_route routes[KZ_GW_ROUTES];
	size_t route_count;
	const char *names, *listen; /* good Hosts */
	uint64_t *taken, *turned_away, *late;
};

/* -- server.c -- */

/* Close at once and free (later, when its requests are being read). */
void kz_gw_close(struct kz_gw_conn *c);

/* -- server_conn.c -- */

extern const struct kz_conn_calls kz_gw_conn_calls;
/* Read what is there: lines, heads, one after the other. */
void kz_gw_advance(struct kz_gw_conn *c);
/* A look at its times. */
void kz_gw_look(struct kz_gw_conn *c, int64_t now_ms);

/* -- server_answer.c -- */

/* The request in hand is answered, or nobody's any more. */
void kz_gw_over(struct kz_gw_conn *c);

#endif
