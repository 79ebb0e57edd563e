/*
 * What a loop of the proxy and its connections consist of.  A connection is a small
 * machine; its steps are in the files that proxy_loop.h names.  For the files of the
 * proxy only.  Layer 3.
 */
#ifndef KZ_CORE_EGRESS_PROXY_CONN_H
#define KZ_CORE_EGRESS_PROXY_CONN_H

#include <sys/types.h>

#include "base/flow.h"
#include "core/egress/proxy_audit.h"
#include "core/egress/proxy_book.h"
#include "core/egress/proxy_plain.h"
#include "core/egress/proxy_world.h"

#define KZ_PX_SLOTS 1024  /* of the timer wheel */
#define KZ_PX_TICK_MS 128 /* one slot */
#define KZ_PX_IN (KZ_HEAD_MAX + 64)
#define KZ_PX_REREAD_MS 1000 /* between two readings of the keys for an unknown one */
#define KZ_PX_HEADS_PEER 64  /* heads that one peer may have under way in one loop */

enum kz_px_state {
	KZ_PX_HEAD,    /* its head has not come whole */
	KZ_PX_PARKED,  /* its grant names an unknown key: the keys are read again */
	KZ_PX_RESOLVE, /* its name is asked for */
	KZ_PX_CONNECT, /* a judged address is dialled */
	KZ_PX_TUNNEL,  /* bytes go both ways */
	KZ_PX_PLAIN,   /* one plain request goes up, its answer comes down */
	KZ_PX_ANSWER,  /* an answer of ours goes out */
	KZ_PX_LINGER,  /* all was said; what still comes is thrown away */
	KZ_PX_DEAD,    /* closed; freed after this turn */
};

struct kz_px_conn;
struct kz_px_loop;

/* What epoll hands back. */
struct kz_px_end {
	int fd;       /* -1: none */
	bool is_deaf; /* bytes that come are not told */
	struct kz_px_conn *conn;
};

struct kz_px_link {
	struct kz_px_conn *prev, *next;
};

struct kz_px_conn {
	struct kz_px_end client, server;
	struct kz_px_loop *loop;
	enum kz_px_state state;
	bool is_tcp, has_preamble, is_retried, is_ready, is_tunnel;
	bool is_own;                                /* its grant was shown by whom it is for */
	bool is_client_gone, is_server_lost;        /* nothing can be sent to it any more */
	uid_t uid;                                  /* of the peer; Unix sockets */
	char execution[KZ_ID_HEX];                  /* of the preamble */
	struct kz_px_link all, heads, timer, ready; /* heads: of the list of its state */
	int slot;                                   /* of the wheel, -1: none */
	int64_t due_ms;                             /* when the wheel looks at it, boot time */
	int64_t since_ms, active_ms, limit_ms; /* of the state; of the last byte; of this dial */
	char *in;                              /* head, and what came with it */
	size_t in_len, in_cap, in_used;        /* in_used: preamble and head */
	size_t head_at;                        /* of the head: looked at */
	struct kz_px_request request;
	struct kz_px_known *grant;
	struct kz_dns_query *query;
	struct kz_addr *answers; /* judged */
	size_t answer_count, answer_at;
	struct kz_flow up, down;
	enum kz_flow_what up_what, down_what;
	struct kz_px_plain *plain;
	const char *say;
	size_t say_len;
};

/* What all loops share; made before the first of them. */
struct kz_px_shared {
	struct kz_px_book book;
	struct kz_px_audit audit;
	pthread_mutex_t lock; /* of world */
	struct kz_px_world *world;
	atomic_ullong number;    /* of world */
	atomic_bool is_draining; /* nobody new */
	atomic_bool is_over;     /* end at once */
	_Atomic int64_t read_ms; /* when the keys were read, boot time */
	int wake;                /* eventfd of the main thread */
	atomic_bool is_unknown;  /* a key was not known: read them again */
	int listen_unix;         /* one for all loops */
	int listen_tcp;          /* the same; -1: none */
};

struct kz_px_loop {
	struct kz_px_shared *shared;
	pthread_t thread;
	int epoll, wake;
	bool is_closing;
	struct kz_px_world *world;
	struct kz_dns *dns, *dns_old; /* old: until its questions are answered */
	int64_t dns_ms;               /* when one was made, or was to be */
	struct kz_pipes pipes;
	int64_t now_ms;                            /* boot time of this turn */
	int64_t tick;                              /* of the wheel: all before it were looked at */
	struct kz_px_conn *slots[KZ_PX_SLOTS + 1]; /* the last: those being looked at */
	struct kz_px_conn *all, *heads, *heads_last, *ready, *dead;
	struct kz_px_conn *said, *said_last; /* those to whom all was said, or is being said */
	size_t count, head_count, head_most;
	size_t timer_count;
	int spare; /* a descriptor that is given up to refuse one connection */
};

#endif
