/*
 * The inside of the worker client: one request and its answer.  What a worker
 * sends is bounded and parsed like any stranger's bytes; where the connection
 * broke, it stays broken.  Layer 3, for core/worker only.
 */
#ifndef KZ_CORE_WORKER_WIRE_H
#define KZ_CORE_WORKER_WIRE_H

#include <stdbool.h>

#include "base/buf.h"
#include "core/worker/client.h"
#include "port/json.h"

#define KZ_WIRE_ANSWER_MAX (1 << 20)
#define KZ_WIRE_IN_MAX (2 << 20)
/* A piece of a workspace in one request; the worker takes bodies of 5 MiB. */
#define KZ_WIRE_TREE_MAX (512 << 10)

struct kz_wk {
	int fd;
	bool is_broken;
	char secret[65];
	struct kz_buf in; /* received, not yet used */
	struct kz_buf
		head; /* of a request, to go out with what follows it: a write less, and one wake less of the worker */
	struct kz_buf tree;  /* of a workspace on its way in, not yet sent */
	char tree_lease[65]; /* whose it is */
	void (*meanwhile)(void *arg);
	void *meanwhile_arg;
};

/* Frames of a run (docs/worker-boot.md). */
enum {
	KZ_WIRE_OUT = 1,
	KZ_WIRE_ERR,
	KZ_WIRE_RECORD,
	KZ_WIRE_WINDOW,
	KZ_WIRE_CHANNEL,
	KZ_WIRE_CHANNEL_WINDOW
};
enum {
	KZ_WIRE_IN = 16,
	KZ_WIRE_IN_END,
	KZ_WIRE_KILL,
	KZ_WIRE_DONE,
	KZ_WIRE_TO_CHANNEL,
	KZ_WIRE_TO_CHANNEL_WINDOW
};
#define KZ_WIRE_FRAME_HEAD 5

/* Mark the connection broken; returns the failure (worker_unreachable unless err has a reason). */
enum kz_rc kz_wire_break(struct kz_wk *w, struct kz_err *err);
/* The head of a request whose body of that many bytes follows; goes out with the first of it. in: method and path are fixed texts */
enum kz_rc kz_wire_head(struct kz_wk *w, const char *method, const char *path, int64_t body,
			struct kz_deadline until, struct kz_err *err);
enum kz_rc kz_wire_send(struct kz_wk *w, const void *p, size_t n, struct kz_deadline until,
			struct kz_err *err);
/* Receive at least one more byte into w->in. */
enum kz_rc kz_wire_more(struct kz_wk *w, struct kz_deadline until, struct kz_err *err);
/* The head of an answer. out: status 100..599, length of its body (0 when none was told) */
enum kz_rc kz_wire_answer(struct kz_wk *w, struct kz_deadline until, int *status, int64_t *length,
			  struct kz_err *err);
/* The JSON body of an answer, n bytes. out: new */
enum kz_rc kz_wire_json(struct kz_wk *w, int64_t n, struct kz_deadline until, struct kz_json **out,
			struct kz_err *err);
/* The refusal or fault that an answer other than 200 and 101 carries. */
enum kz_rc kz_wire_refusal(struct kz_wk *w, int status, int64_t n, struct kz_deadline until,
			   struct kz_err *err);
/* Request with a JSON body (NULL: none). out: the length of the answer's body, which is to be read; err: the refusal that the answer carries, if any */
enum kz_rc kz_wire_ask(struct kz_wk *w, const char *method, const char *path,
		       const struct kz_json *o, struct kz_deadline until, int64_t *length,
		       struct kz_err *err);
/* The body of an answer, n bytes, to the sink; a sink that refuses ends the connection's use. */
enum kz_rc kz_wire_drain(struct kz_wk *w, int64_t n, kz_wk_sink sink, void *arg,
			 struct kz_deadline until, struct kz_err *err);
/* What every request of a lease begins with. out: new */
struct kz_json *kz_wire_of_lease(const char *lease);
/* The JSON head of a framed body, behind its length in 4 bytes, to an empty out. */
enum kz_rc kz_wire_prefixed(const struct kz_json *o, struct kz_buf *out, struct kz_err *err);
/* Request with a JSON body (o is taken; NULL: none) and JSON answer. out: new, or left alone when out is NULL */
enum kz_rc kz_wire_call(struct kz_wk *w, const char *method, const char *path, struct kz_json *o,
			struct kz_deadline until, struct kz_json **out, struct kz_err *err);

#endif
