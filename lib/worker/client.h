/*
 * One control connection: HTTP/1.1 requests one after the other, or frames while
 * a program runs.  A request is authenticated by its head before any byte of its
 * body is looked at [EXEC-1].
 */
#ifndef KZ_WORKER_CLIENT_H
#define KZ_WORKER_CLIENT_H

#include "port/seal.h"
#include "rule/httphead.h"
#include "worker/worker.h"

#define KZ_BODY_MAX (5 << 20) /* of a JSON body: vectors are up to 4 MiB */
#define KZ_PUT_HEAD_MAX 8192

enum kz_frame { /* docs/worker-boot.md */
		KZ_FRAME_OUT = 1,
		KZ_FRAME_ERR = 2,
		KZ_FRAME_RECORD = 3,
		KZ_FRAME_WINDOW = 4,
		KZ_FRAME_CHANNEL = 5,
		KZ_FRAME_CHANNEL_WINDOW = 6,
		KZ_FRAME_IN = 16,
		KZ_FRAME_IN_END = 17,
		KZ_FRAME_KILL = 18,
		KZ_FRAME_DONE = 19,
		KZ_FRAME_TO_CHANNEL = 20,
		KZ_FRAME_TO_CHANNEL_WINDOW = 21,
};

#define KZ_FRAME_HEAD 5
#define KZ_FRAME_MAX (1 << 20)

enum kz_client_state {
	KZ_CLIENT_HEAD,
	KZ_CLIENT_BODY, /* a JSON body is awaited */
	KZ_CLIENT_PUT,  /* a file streams in */
	KZ_CLIENT_GET,  /* a file streams out */
	KZ_CLIENT_FRAMES,
	KZ_CLIENT_WAITING, /* for the end of a reset */
	KZ_CLIENT_CLOSING,
};

struct kz_client;
struct kz_tree_out;

struct kz_route {
	const char *method, *path;
	/* o is NULL for a request without a body */
	void (*fn)(struct kz_client *c, const struct kz_json *o, struct kz_slice tail);
	bool is_stream; /* put: the body goes to the file as it comes */
	bool has_tail;  /* exec: four bytes of length, the JSON head, then raw bytes */
};

struct kz_client {
	struct kz_worker *w;
	struct kz_conn *conn;
	enum kz_client_state state;
	const struct kz_route *route;
	int64_t body_left;
	bool is_close;               /* the head asked for it */
	struct kz_deadline known_by; /* for the first head with the secret; KZ_NEVER once it came */
	bool record_sent;
	int file;          /* of put and get; -1 none */
	int64_t file_left; /* bytes of the file still to come or go */
	struct kz_err put_err;
	struct kz_tree_out *tree; /* the workspace on its way out */
	int shared_at;            /* which shared file the put is; -1: another file */
	uint64_t shared_round;
	struct kz_sha256 hash; /* of that file, as it is written */
};

/* Close connections that have not shown the secret in time; the worker's head_timer calls it. */
void kz_client_expire(void *worker);
/* Take an accepted connection. */
void kz_client_accept(void *worker, int fd);
/* Close one (its lease or run ends with it), from anywhere. */
void kz_client_close(struct kz_client *c);
/* Answer a request. o is taken. */
void kz_client_answer(struct kz_client *c, int status, struct kz_json *o);
/* Answer with the refusal or fault in err. */
void kz_client_refuse(struct kz_client *c, const struct kz_err *err);
void kz_client_frame(struct kz_client *c, enum kz_frame type, const void *p, size_t n);
/* Bytes as they are (a file's). */
void kz_client_send(struct kz_client *c, const void *p, size_t n);

/* frames.c: input while a program runs; false: the peer broke the protocol */
bool kz_client_frames(struct kz_client *c);
/* files.c: a put's bytes, and more of a get; false as above */
bool kz_client_put(struct kz_client *c);
void kz_client_get_more(struct kz_client *c);
void kz_client_get(struct kz_client *c, const struct kz_json *o, struct kz_slice tail);
/* tree_routes.c: the whole workspace out and in, its label */
void kz_client_label(struct kz_client *c, const struct kz_json *o, struct kz_slice tail);
void kz_client_tree_get(struct kz_client *c, const struct kz_json *o, struct kz_slice tail);
void kz_client_tree_more(struct kz_client *c);
void kz_client_tree_put(struct kz_client *c, const struct kz_json *o, struct kz_slice tail);
void kz_client_tree_add(struct kz_client *c, const struct kz_json *o, struct kz_slice tail);
void kz_client_tree_end(struct kz_client *c, const struct kz_json *o, struct kz_slice tail);
/* The connection goes: what it moved goes with it. */
void kz_client_tree_gone(struct kz_client *c);
/* Is a workspace on its way in or out? */
bool kz_client_tree_is_moving(const struct kz_worker *w);
/* Nothing is on its way any more (a reset wipes all). */
void kz_client_tree_stop(struct kz_worker *w);
/* shared.c: begin a set of read-only files (the last one goes); a put into it, and its end */
void kz_client_shared(struct kz_client *c, const struct kz_json *o, struct kz_slice tail);
enum kz_rc kz_client_shared_open(struct kz_client *c, const struct kz_json *o, struct kz_err *err);
void kz_client_shared_end(struct kz_client *c);
/* routes.c */
const struct kz_route *kz_route_find(const struct kz_httphead *h);

#endif
