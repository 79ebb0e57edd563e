/* What the control API answers. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"
#include "worker/client.h"
#include "worker/forward.h"
#include "worker/launch.h"

static struct kz_deadline now(void)
{
	return kz_deadline_in(KZ_MS(0));
}

/* What it is, for the audit of what it is about to run. */
static void put_identity(struct kz_json *o, const struct kz_worker *w)
{
	kz_json_set_str(o, "image", w->boot.image);
	kz_json_set(o, "posture", kz_json_ref(w->posture));
	kz_json_set(o, "limits", kz_boot_limits(&w->boot));
	kz_json_set_bool(o, "single_use", w->boot.single_use);
}

static void answer_clock(struct kz_client *c, bool with_identity)
{
	struct kz_json *o = kz_json_object();

	kz_json_set_int(o, "clock_ms", kz_time_boot_ms());
	if (with_identity) {
		put_identity(o, c->w);
		kz_json_set_str(o, "label", c->w->tenure.label);
	}
	kz_client_answer(c, 200, o);
}

static void health(struct kz_client *c, const struct kz_json *in, struct kz_slice tail)
{
	const struct kz_worker *w = c->w;
	struct kz_json *o = kz_json_object(), *b = kz_json_null();

	(void)in;
	(void)tail;
	if (w->tenure.lease[0]) {
		b = kz_json_object();
		kz_json_set_str(b, "lease", w->tenure.lease);
		kz_json_set_int(b, "fence", w->tenure.fence);
	}
	kz_json_set_str(o, "state", kz_tenure_name(w->tenure.state));
	kz_json_set_str(o, "worker", w->boot.worker);
	kz_json_set_str(o, "instance", w->boot.instance);
	put_identity(o, w);
	kz_json_set(o, "bound", b);
	kz_json_set_int(o, "fence", w->tenure.fence);
	kz_json_set_str(o, "label", w->tenure.label);
	kz_json_set_bool(o, "private", w->tenure.is_private);
	kz_json_set_int(o, "clock_ms", kz_time_boot_ms());
	kz_client_answer(c, 200, o);
}

static void bind_lease(struct kz_client *c, const struct kz_json *in, struct kz_slice tail)
{
	struct kz_worker *w = c->w;
	struct kz_err err = KZ_ERR_INIT;
	bool is_again = false;

	(void)tail;
	if (kz_tenure_bind(&w->tenure, kz_json_str(in, "lease", NULL), kz_json_num(in, "fence", 0),
			   KZ_MS(kz_json_num(in, "ttl_ms", 0)), now(), &is_again, &err) != KZ_OK ||
	    (!is_again && kz_timer_at(w->lease_timer, w->tenure.until, &err) != KZ_OK)) {
		kz_client_refuse(c, &err);
		return;
	}
	/* a lease that stays has no connection to live by, only its deadline */
	if (!is_again && !kz_json_flag(in, "stays", false))
		w->holder = c;
	answer_clock(c, true);
}

static void extend(struct kz_client *c, const struct kz_json *in, struct kz_slice tail)
{
	struct kz_worker *w = c->w;
	struct kz_err err = KZ_ERR_INIT;

	(void)tail;
	if (kz_tenure_extend(&w->tenure, kz_json_str(in, "lease", NULL),
			     kz_json_num(in, "clock_ms", -1), KZ_MS(kz_json_num(in, "ttl_ms", 0)),
			     now(), &err) != KZ_OK ||
	    kz_timer_at(w->lease_timer, w->tenure.until, &err) != KZ_OK) {
		kz_client_refuse(c, &err);
		return;
	}
	answer_clock(c, false);
}

/* The tail of an exec: argc strings, then envc, each with its 0.  Bytes, not JSON: they need not be UTF-8. */
static enum kz_rc make_vectors(const struct kz_json *in, struct kz_slice tail, struct kz_buf *b,
			       struct kz_err *err)
{
	int64_t argc = kz_json_num(in, "argc", 0), envc = kz_json_num(in, "envc", -1), strings = 0;
	struct kz_vectors head = { .argc = (uint32_t)argc, .envc = (uint32_t)envc };

	if (argc > KZ_VECTOR_ITEMS || envc > KZ_VECTOR_ITEMS ||
	    tail.n + sizeof head > KZ_VECTORS_MAX)
		return kz_refuse(err, KZ_R_CANNOT_EXECUTE,
				 "arguments and environment are too large");
	for (size_t i = 0; i < tail.n; i++)
		strings += tail.p[i] == 0;
	if (argc < 1 || envc < 0 || strings != argc + envc || tail.p[tail.n - 1] != 0)
		return kz_refuse(err, KZ_R_MALFORMED_INPUT,
				 "arguments and environment are malformed");
	if (tail.p[0] != '/')
		return kz_refuse(err, KZ_R_MALFORMED_INPUT, "the program is not an absolute path");
	if (kz_buf_add(b, &head, sizeof head, err) != KZ_OK)
		return KZ_E_OS;
	return kz_buf_add(b, tail.p, tail.n, err);
}

static void on_output(void *arg, int stream, const void *p, size_t n)
{
	kz_client_frame(arg, stream == 1 ? KZ_FRAME_OUT : KZ_FRAME_ERR, p, n);
}

static void on_window(struct kz_client *c, enum kz_frame type, size_t n)
{
	unsigned char b[4] = { (unsigned char)(n >> 24), (unsigned char)(n >> 16),
			       (unsigned char)(n >> 8), (unsigned char)n };

	kz_client_frame(c, type, b, sizeof b);
}

static void on_end(void *arg, const struct kz_json *record, bool is_dead)
{
	struct kz_worker *w = arg;
	struct kz_client *c = w->runner;
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(65536);

	w->runner = NULL;
	if (!is_dead)
		w->tenure.state = KZ_TENURE_BROKEN;
	if (c && kz_json_write(record, &b, NULL) == KZ_OK) {
		c->record_sent = true;
		kz_client_frame(c, KZ_FRAME_RECORD, b.data, b.len);
	} else if (c) {
		kz_client_close(c); /* no record is an unknown outcome */
	}
	if (w->tenure.state == KZ_TENURE_RESETTING)
		kz_worker_reset(w);
}

/* the runner's callbacks go to its connection, the end to the worker, which outlives it */
static void worker_output(void *arg, int stream, const void *p, size_t n)
{
	struct kz_worker *w = arg;

	if (w->runner)
		on_output(w->runner, stream, p, n);
}

static void worker_window(void *arg, size_t n)
{
	struct kz_worker *w = arg;

	if (w->runner)
		on_window(w->runner, KZ_FRAME_WINDOW, n);
}

static void worker_channel(void *arg, const void *p, size_t n)
{
	struct kz_worker *w = arg;

	if (w->runner)
		kz_client_frame(w->runner, KZ_FRAME_CHANNEL, p, n);
}

static void worker_channel_window(void *arg, size_t n)
{
	struct kz_worker *w = arg;

	if (w->runner)
		on_window(w->runner, KZ_FRAME_CHANNEL_WINDOW, n);
}

/* One program has one way out at most: what installs packages reaches the gateway, what was approved the proxy. */
static enum kz_rc check_way(const struct kz_worker *w, const struct kz_json *in,
			    struct kz_run_ask *ask, struct kz_err *err)
{
	const struct kz_json *egress = kz_json_get(in, "egress");
	const struct kz_json *gateway = kz_json_get(in, "gateway");

	if (!egress && !gateway)
		return KZ_OK;
	ask->way = gateway ? KZ_WAY_GATEWAY : KZ_WAY_PROXY;
	ask->execution =
		gateway ? kz_json_str_value(gateway) : kz_json_str(egress, "execution", NULL);
	if ((egress && gateway) || !kz_forward_is_execution(ask->execution))
		return kz_refuse(err, KZ_R_MALFORMED_INPUT, "the execution is malformed");
	if (w->boot.fds.way_dirs[ask->way] >= 0)
		return KZ_OK;
	if (gateway)
		return kz_refuse(err, KZ_R_GATEWAY_UNAVAILABLE, NULL);
	return kz_refuse(err, KZ_R_WORKER_REFUSED, "this worker has no way to the proxy");
}

static enum kz_rc check_exec(struct kz_worker *w, const struct kz_json *in, struct kz_run_ask *ask,
			     struct kz_err *err)
{
	*ask = (struct kz_run_ask){ .wall = KZ_MS(kz_json_num(in, "wall_ms", 0)),
				    .output_bytes = kz_json_num(in, "output_bytes", 0),
				    .open_files = kz_json_num(in, "open_files", 0),
				    .stdin_open = kz_json_flag(in, "stdin", false),
				    .has_channel = kz_json_flag(in, "channel", false) };
	if (check_way(w, in, ask, err) != KZ_OK)
		return KZ_E_DATA;
	if (kz_tenure_check(&w->tenure, kz_json_str(in, "lease", NULL), now(), err) != KZ_OK)
		return KZ_E_TEMPFAIL;
	if (kz_run_is_busy(w->run))
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "a program is running already");
	if (kz_client_tree_is_moving(w))
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "the workspace is on its way");
	if (ask->wall.ms < 1 || ask->wall.ms > KZ_TENURE_TTL_MOST || ask->output_bytes < 1 ||
	    ask->output_bytes > w->boot.output_bytes || ask->open_files < 4 ||
	    ask->open_files > w->boot.open_files)
		return kz_refuse(err, KZ_R_WORKER_REFUSED,
				 "a bound is missing or over the worker's");
	return KZ_OK;
}

static void exec(struct kz_client *c, const struct kz_json *in, struct kz_slice tail)
{
	static const char switching[] =
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: kz-frames\r\n\r\n";
	static const struct kz_run_calls calls = { worker_output, worker_window, worker_channel,
						   worker_channel_window, on_end };
	struct kz_worker *w = c->w;
	kz_auto_buf struct kz_buf v = KZ_BUF_INIT(KZ_VECTORS_MAX);
	struct kz_run_ask ask;
	struct kz_err err = KZ_ERR_INIT;
	enum kz_rc rc = check_exec(w, in, &ask, &err);

	if (rc == KZ_OK)
		rc = make_vectors(in, tail, &v, &err);
	if (rc == KZ_OK)
		rc = kz_shared_check(&w->shared, w->space.shared, kz_json_get(in, "shared"), tail,
				     kz_json_num(in, "argc", 0), &err);
	if (rc == KZ_OK)
		rc = kz_worker_ready_wall(w, &err);
	ask.vectors = v.data;
	ask.vectors_n = v.len;
	if (rc == KZ_OK)
		rc = kz_run_start(w->run, &ask, &calls, w, &err);
	if (rc != KZ_OK) {
		kz_client_refuse(c, &err);
		return;
	}
	w->tenure.label[0] = 0;    /* whatever it was, the program may change it */
	w->shared.is_open = false; /* what a program has begun to read stays as it is */
	w->runner = c;
	c->record_sent = false;
	c->state = KZ_CLIENT_FRAMES;
	kz_client_send(c, switching, sizeof switching - 1);
	if (ask.stdin_open)
		on_window(c, KZ_FRAME_WINDOW, 65536);
	/* the program starts meanwhile; two processors do both at once */
	kz_worker_prepare(w);
}

static void reset(struct kz_client *c, const struct kz_json *in, struct kz_slice tail)
{
	struct kz_worker *w = c->w;
	struct kz_err err = KZ_ERR_INIT;
	const char *token = kz_json_str(in, "token", "");

	(void)tail;
	if (w->boot.single_use) {
		kz_refuse(&err, KZ_R_WORKER_REFUSED, "this worker serves one lease only");
		kz_client_refuse(c, &err);
		return;
	}
	if (kz_str_copy(w->reset_token, sizeof w->reset_token, token, NULL) != KZ_OK || !*token) {
		kz_refuse(&err, KZ_R_MALFORMED_INPUT, "a reset needs its token");
		kz_client_refuse(c, &err);
		return;
	}
	if (kz_tenure_reset(&w->tenure, kz_json_str(in, "lease", NULL), &err) != KZ_OK) {
		kz_client_refuse(c, &err);
		return;
	}
#ifdef KZ_FAULT_BUILD
	(void)kz_str_copy(w->reset_dirty, sizeof w->reset_dirty, kz_json_str(in, "dirty", ""),
			  NULL);
#endif
	c->state = KZ_CLIENT_WAITING;
	w->resetter = c;
	/* the lease is over: neither its deadline nor its connection ends anything from here */
	w->holder = NULL;
	kz_timer_at(w->lease_timer, KZ_NEVER, NULL);
	kz_worker_reset(w);
}

static const struct kz_route routes[] = {
	{ .method = "GET", .path = "/v1/health", .fn = health },
	{ .method = "POST", .path = "/v1/bind", .fn = bind_lease },
	{ .method = "POST", .path = "/v1/extend", .fn = extend },
	{ .method = "POST", .path = "/v1/put", .is_stream = true },
	{ .method = "POST", .path = "/v1/get", .fn = kz_client_get },
	{ .method = "POST", .path = "/v1/tree/get", .fn = kz_client_tree_get },
	{ .method = "POST", .path = "/v1/tree/put", .fn = kz_client_tree_put },
	{ .method = "POST", .path = "/v1/tree/add", .fn = kz_client_tree_add, .has_tail = true },
	{ .method = "POST", .path = "/v1/tree/end", .fn = kz_client_tree_end },
	{ .method = "POST", .path = "/v1/label", .fn = kz_client_label },
	{ .method = "POST", .path = "/v1/shared", .fn = kz_client_shared },
	{ .method = "POST", .path = "/v1/exec", .fn = exec, .has_tail = true },
	{ .method = "POST", .path = "/v1/reset", .fn = reset },
};

const struct kz_route *kz_route_find(const struct kz_httphead *h)
{
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
		if (kz_slice_is(h->method, routes[i].method) &&
		    kz_slice_is(h->target, routes[i].path))
			return &routes[i];
	return NULL;
}
