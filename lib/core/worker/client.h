/*
 * The trusted side of a worker's control API (design: HTTP/1.1 heads and JSON on
 * a Unix socket; one kept-alive connection a holder).  The address of a worker
 * never enters an error text [EXEC-15].  Layer 3.
 */
#ifndef KZ_CORE_WORKER_CLIENT_H
#define KZ_CORE_WORKER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/auto.h"
#include "base/err.h"
#include "base/time.h"

struct kz_wk; /* one connection */
struct kz_json;

/* Connect and authenticate. in: STATE/workers/NAME/ctl/control.sock is the place; secret from kz_worker_secret. err: worker_unreachable */
enum kz_rc kz_wk_open(struct kz_wk **out, const char *socket_path, const char *secret,
		      struct kz_deadline until, struct kz_err *err);
void kz_wk_close(struct kz_wk *w);
KZ_AUTO(kz_auto_wk_, struct kz_wk *, kz_wk_close)
#define kz_auto_wk kz_auto(kz_auto_wk_)

/* Health: {"state","image","instance","posture":{...},"limits":{...},"single_use":bool,"bound":null|{"lease","fence"},"fence":N,"clock_ms":N}. out: new. err: worker_unreachable, worker_unauthorized */
enum kz_rc kz_wk_health(struct kz_wk *w, struct kz_deadline until, struct kz_json **out,
			struct kz_err *err);
/* One of many workers that are asked for their health. */
struct kz_wk_ask {
	char socket_path[512];
	char secret[65];
	bool is_asked;          /* there was time to ask it */
	struct kz_json *health; /* new; NULL: no proper answer */
};
/* Ask all of them, many at once, each at most that long and all together until the deadline. err: KZ_E_OS */
enum kz_rc kz_wk_health_all(struct kz_wk_ask *asks, size_t count, struct kz_ms each,
			    struct kz_deadline until, struct kz_err *err);
/* Bind a lease (again with the same lease and fence: no effect, KZ_OK); the worker ends the tenant by its own clock ttl after it answered health/bind. err: worker_refused_bind (not clean, or a fence that is not higher) [FENCE-12]. out: answer (new, NULL: not wanted): {"clock_ms","image","posture","limits","single_use"} */
enum kz_rc kz_wk_bind(struct kz_wk *w, const char *lease, int64_t fence, struct kz_ms ttl,
		      struct kz_deadline until, struct kz_json **answer, struct kz_err *err);
/*
 * As kz_wk_bind for a lease whose holder keeps no connection (kz-lease acquire): the
 * tenant does not end with this connection, only with the lease's deadline or reset.
 */
enum kz_rc kz_wk_bind_staying(struct kz_wk *w, const char *lease, int64_t fence, struct kz_ms ttl,
			      struct kz_deadline until, struct kz_err *err);
/* Extend the worker-side deadline: clock_ms is the worker's clock read before Valkey was asked. err: worker_refused */
enum kz_rc kz_wk_extend(struct kz_wk *w, const char *lease, int64_t clock_ms, struct kz_ms ttl,
			struct kz_deadline until, struct kz_err *err);

/*
 * Where a file goes: the workspace (/work/space, owned by the tenant), or /work/code,
 * which the tenant can read and not write, so that a run's workspace starts empty
 * although its program is a file.  Or /work/shared, which it sees on a read-only mount:
 * only after kz_wk_shared_begin, never while a program runs, never over another file.
 * All are wiped by a reset.
 */
enum kz_wk_place { KZ_WK_SPACE, KZ_WK_CODE, KZ_WK_SHARED };
/*
 * Begin a set of read-only files; the last one goes.
 * in: manifest_sha256 of the text that the program will read; NULL: there shall be none.
 *   is_private: the next program is shown some of a private selection, or may find a copy;
 *   health tells it as "private" until the reset.
 * err: worker_refused, projection_failed
 */
enum kz_rc kz_wk_shared_begin(struct kz_wk *w, const char *lease, const char *manifest_sha256,
			      const char *audience_version, bool is_private,
			      struct kz_deadline until, struct kz_err *err);
/* Put one file from fd (regular, size bytes). in: name is a validated relative name. out: sha256 of what was sent, 65 bytes (NULL: not wanted). err: worker_refused, io */
enum kz_rc kz_wk_put(struct kz_wk *w, const char *lease, enum kz_wk_place place, const char *name,
		     int fd, int64_t size, mode_t mode, struct kz_deadline until, char *sha256,
		     struct kz_err *err);
/* Get one file of the workspace: calls sink with its bytes. out: size. err: output_missing, output_not_regular, output_too_large (over max) */
typedef enum kz_rc (*kz_wk_sink)(void *arg, const void *p, size_t n, struct kz_err *err);
enum kz_rc kz_wk_get(struct kz_wk *w, const char *lease, const char *name, int64_t max,
		     kz_wk_sink sink, void *arg, int64_t *size, struct kz_deadline until,
		     struct kz_err *err);

struct kz_wk_exec {
	const char *lease;
	const char *const *argv; /* absolute program, NULL-terminated */
	const char *const *envp; /* the whole environment, NULL-terminated [EXEC-13] */
	struct kz_ms wall;
	int64_t output_bytes; /* bound of stdout and stderr together */
	int64_t open_files;
	bool stdin_open;       /* stream standard input; else it is empty */
	bool has_channel;      /* give the program descriptor 3 */
	const char *execution; /* open the way to the proxy for it; NULL: shut */
	const char *gateway;   /* the same to the gateway, and then not to the proxy; NULL: shut */
	struct kz_json *
		shared; /* the read-only files that must be there (docs/worker-boot.md); NULL: none */
};
/* What a running program tells; return non-zero from a callback to end the run. */
struct kz_wk_events {
	void *arg;
	int (*out)(void *arg, int stream /* 1 stdout, 2 stderr */, const void *p, size_t n);
	void (*in)(void *arg, const void *p, size_t n); /* standard input as sent; NULL: unwanted */
	int stdin_fd;  /* read and forwarded when exec.stdin_open; -1 none */
	int cancel_fd; /* readable: kill the tenant, keep reading to the record; -1 none */
	int channel_fd; /* with has_channel: a non-blocking socket (borrowed), shut when all has been told */
	void (*channel_end)(void *arg); /* called before that, when the program has ended */
};
/*
 * Run to the end. out: the worker's terminal record (new): {"cause","exit","signal",
 * "wall_ms","cpu_ms","peak_bytes","limits_hit":[],"stdout":{...},"stderr":{...},
 * "killed_count","started":bool,"reason"}.
 * err: transport_lost when the stream ended without a record (the outcome is unknown).
 */
enum kz_rc kz_wk_run(struct kz_wk *w, const struct kz_wk_exec *x, const struct kz_wk_events *ev,
		     struct kz_deadline until, struct kz_json **record, struct kz_err *err);
/* Have something done while the worker is at the next call: once, when that was sent and before its answer is waited for. Not done when it cannot be sent */
void kz_wk_meanwhile(struct kz_wk *w, void (*what)(void *arg), void *arg);
/* End the tenant, make the next one's namespaces, measure. out: readings (new), judged by rule/evidence. err: worker_unreachable, reset_timeout */
enum kz_rc kz_wk_reset(struct kz_wk *w, const char *lease, const char *token,
		       struct kz_deadline until, struct kz_json **readings, struct kz_err *err);

#endif
