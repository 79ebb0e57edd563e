/* One connection to Valkey over hiredis, non-blocking below, bounded above. */
#include "port/vk.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "port/vk_reply.h"
#include "port/vk_url.h"

struct kz_vk {
	redisContext *c; /* NULL after a failure */
	struct kz_vk_url url;
	char pending[256]; /* key of a BLPOP that was sent and not answered yet, or "" */
	struct kz_deadline pending_until;
};

struct kz_vk_arg kz_vk_text(const char *s)
{
	return (struct kz_vk_arg){ s, strlen(s) };
}

struct kz_vk_arg kz_vk_num(char buf[24], int64_t n)
{
	int len = snprintf(buf, 24, "%lld", (long long)n);

	return (struct kz_vk_arg){ buf, (size_t)len };
}

/* The connection is of no use any more. */
static enum kz_rc broken(struct kz_vk *v, struct kz_err *err, const char *what)
{
	const char *detail = v->c && v->c->err ? v->c->errstr : "";

	kz_err_set(err, KZ_E_UNAVAILABLE, "valkey: %s%s%s; see: kz status, kz logs", what,
		   *detail ? ": " : "", detail);
	kz_err_reason(err, "coordination_unavailable");
	if (v->c)
		redisFree(v->c);
	v->c = NULL;
	v->pending[0] = 0;
	return KZ_E_UNAVAILABLE;
}

static enum kz_rc wait_socket(struct kz_vk *v, short events, struct kz_deadline until,
			      struct kz_err *err)
{
	struct pollfd p = { .fd = v->c->fd, .events = events };
	int n;

	do {
		n = poll(&p, 1, kz_deadline_poll_ms(until));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return broken(v, err, "poll failed");
	return n == 0 ? broken(v, err, "no answer in time") : KZ_OK;
}

static enum kz_rc flush(struct kz_vk *v, struct kz_deadline until, struct kz_err *err)
{
	int done = 0;

	for (;;) {
		enum kz_rc rc;

		if (redisBufferWrite(v->c, &done) != REDIS_OK)
			return broken(v, err, "connection lost");
		if (done)
			return KZ_OK;
		rc = wait_socket(v, POLLOUT, until, err);
		if (rc)
			return rc;
	}
}

/* Take a reply that is there already; NULL when there is none yet. */
static enum kz_rc take_reply(struct kz_vk *v, redisReply **reply, struct kz_err *err)
{
	void *r = NULL;

	if (redisGetReplyFromReader(v->c, &r) != REDIS_OK)
		return broken(v, err, "malformed answer");
	*reply = r;
	return KZ_OK;
}

static enum kz_rc await_reply(struct kz_vk *v, struct kz_deadline until, redisReply **reply,
			      struct kz_err *err)
{
	*reply = NULL;
	for (;;) {
		enum kz_rc rc = take_reply(v, reply, err);

		if (rc || *reply)
			return rc;
		rc = wait_socket(v, POLLIN, until, err);
		if (rc)
			return rc;
		if (redisBufferRead(v->c) != REDIS_OK)
			return broken(v, err, "connection lost");
	}
}

static enum kz_rc append(struct kz_vk *v, const struct kz_vk_arg *args, size_t count,
			 struct kz_err *err)
{
	const char *small_p[64];
	size_t small_n[64];
	kz_auto_free const char **big_p = NULL;
	kz_auto_free size_t *big_n = NULL;
	const char **p = small_p;
	size_t *n = small_n;

	if (count > 64) {
		p = big_p = calloc(count, sizeof(*p));
		n = big_n = calloc(count, sizeof(*n));
		if (!p || !n)
			return kz_err_set(err, KZ_E_OS, "out of memory");
	}
	for (size_t i = 0; i < count; i++) {
		p[i] = args[i].p;
		n[i] = args[i].n;
	}
	if (redisAppendCommandArgv(v->c, (int)count, p, n) != REDIS_OK)
		return broken(v, err, "cannot send");
	return KZ_OK;
}

/* Send and wait, on a connection that is open. */
static enum kz_rc exchange(struct kz_vk *v, const struct kz_vk_arg *args, size_t count,
			   struct kz_deadline until, struct kz_vk_reply **reply, struct kz_err *err)
{
	redisReply *r = NULL;
	enum kz_rc rc = append(v, args, count, err);

	if (!rc)
		rc = flush(v, until, err);
	if (!rc)
		rc = await_reply(v, until, &r, err);
	if (rc)
		return rc;
	if (r->type == REDIS_REPLY_ERROR)
		rc = kz_vk_map_error(r->str, err);
	if (rc || !reply)
		freeReplyObject(r);
	else
		*reply = (struct kz_vk_reply *)(void *)r;
	return rc;
}

static enum kz_rc greet(struct kz_vk *v, struct kz_deadline until, struct kz_err *err)
{
	const struct kz_vk_url *u = &v->url;
	enum kz_rc rc = KZ_OK;
	char number[24];

	if (u->password[0] && u->user[0])
		rc = exchange(v,
			      (struct kz_vk_arg[]){ kz_vk_text("AUTH"), kz_vk_text(u->user),
						    kz_vk_text(u->password) },
			      3, until, NULL, err);
	else if (u->password[0])
		rc = exchange(v,
			      (struct kz_vk_arg[]){ kz_vk_text("AUTH"), kz_vk_text(u->password) },
			      2, until, NULL, err);
	if (!rc && u->db)
		rc = exchange(
			v, (struct kz_vk_arg[]){ kz_vk_text("SELECT"), kz_vk_num(number, u->db) },
			2, until, NULL, err);
	if (!rc)
		return KZ_OK;
	if (v->c)
		redisFree(v->c);
	v->c = NULL;
	if (rc == KZ_E_SOFTWARE) { /* a password where none is set, a database that is not there */
		kz_err_set(err, KZ_E_UNAVAILABLE,
			   "valkey: the server refused the login or database of KZ_VALKEY_URL");
		kz_err_reason(err, "coordination_unavailable");
		rc = KZ_E_UNAVAILABLE;
	}
	return rc;
}

static enum kz_rc connect_now(struct kz_vk *v, struct kz_deadline until, struct kz_err *err)
{
	int failure = 0;
	socklen_t size = sizeof(failure);
	enum kz_rc rc;

	v->pending[0] = 0;
	v->c = v->url.path[0] ? redisConnectUnixNonBlock(v->url.path) :
				redisConnectNonBlock(v->url.host, v->url.port);
	if (!v->c)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	if (v->c->err)
		return broken(v, err, "cannot connect");
	rc = kz_fd_set_cloexec(v->c->fd, true, err);
	if (rc)
		return broken(v, err, "cannot connect");
	rc = wait_socket(v, POLLOUT, until, err);
	if (rc)
		return rc;
	if (getsockopt(v->c->fd, SOL_SOCKET, SO_ERROR, &failure, &size) || failure) {
		errno = failure;
		return broken(v, err,
			      failure == ECONNREFUSED ? "connection refused" : "cannot connect");
	}
	return greet(v, until, err);
}

enum kz_rc kz_vk_open(struct kz_vk **out, const char *url, struct kz_deadline until,
		      struct kz_err *err)
{
	kz_auto_vk struct kz_vk *v = calloc(1, sizeof(*v));
	enum kz_rc rc;

	if (!v)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	rc = kz_vk_url_parse(url, &v->url, err);
	if (!rc)
		rc = connect_now(v, until, err);
	if (!rc)
		*out = kz_take(v);
	return rc;
}

void kz_vk_close(struct kz_vk *v)
{
	if (!v)
		return;
	if (v->c)
		redisFree(v->c);
	memset(v->url.password, 0, sizeof(v->url.password));
	free(v);
}

int kz_vk_db(const struct kz_vk *v)
{
	return v->url.db;
}

enum kz_rc kz_vk_call(struct kz_vk *v, const struct kz_vk_arg *args, size_t count,
		      struct kz_deadline until, struct kz_vk_reply **reply, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	if (kz_sys_before(KZ_SYS_VK_CALL))
		return broken(v, err, "call failed");
	if (v->c && v->pending[0]) /* an unanswered BLPOP is in the way */
		redisFree(kz_take(v->c));
	if (!v->c)
		rc = connect_now(v, until, err);
	if (!rc)
		rc = exchange(v, args, count, until, reply, err);
	kz_sys_after(KZ_SYS_VK_CALL);
	return rc;
}

static enum kz_rc send_pop(struct kz_vk *v, const char *key, struct kz_ms slice,
			   struct kz_deadline until, struct kz_err *err)
{
	char seconds[32];
	enum kz_rc rc = KZ_OK;

	if (v->c && v->pending[0])
		redisFree(kz_take(v->c));
	if (!v->c)
		rc = connect_now(v, until, err);
	if (rc)
		return rc;
	rc = kz_str_copy(v->pending, sizeof(v->pending), key, err);
	if (rc)
		return rc;
	/* 0 would wait for ever. */
	snprintf(seconds, sizeof(seconds), "%.3f", (double)(slice.ms > 0 ? slice.ms : 1) / 1000);
	v->pending_until = kz_deadline_in(KZ_MS(slice.ms + 2000));
	rc = append(
		v,
		(struct kz_vk_arg[]){ kz_vk_text("BLPOP"), kz_vk_text(key), kz_vk_text(seconds) },
		3, err);
	return rc ? rc : flush(v, until, err);
}

static enum kz_rc answer_of_pop(struct kz_vk *v, redisReply *r, bool *taken, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	v->pending[0] = 0;
	if (r->type == REDIS_REPLY_ERROR)
		rc = kz_vk_map_error(r->str, err);
	*taken = r->type == REDIS_REPLY_ARRAY;
	freeReplyObject(r);
	return rc;
}

/* Wait for the answer of a pop or the other descriptor; done: the wait is over for now. */
static enum kz_rc await_pop(struct kz_vk *v, int other_fd, struct kz_deadline until, bool *done,
			    bool *other, struct kz_err *err)
{
	struct pollfd p[2] = { { .fd = v->c->fd, .events = POLLIN },
			       { .fd = other_fd, .events = POLLIN } };
	int n = poll(p, 2, kz_deadline_poll_ms(kz_deadline_min(until, v->pending_until)));

	if (n < 0 && errno == EINTR)
		return KZ_OK;
	if (n < 0)
		return broken(v, err, "poll failed");
	if (n == 0 && kz_deadline_passed(v->pending_until))
		return broken(v, err, "no answer in time");
	if (p[0].revents && redisBufferRead(v->c) != REDIS_OK)
		return broken(v, err, "connection lost");
	*other = p[1].revents != 0;
	*done = !p[0].revents && (*other || n == 0);
	return KZ_OK;
}

enum kz_rc kz_vk_pop(struct kz_vk *v, const char *key, struct kz_ms slice, int other_fd,
		     struct kz_deadline until, bool *taken, bool *other, struct kz_err *err)
{
	redisReply *r = NULL;
	bool done = false;
	enum kz_rc rc = KZ_OK;

	*taken = *other = false;
	if (!v->c || !kz_str_eq(v->pending, key))
		rc = send_pop(v, key, slice, kz_deadline_min(until, kz_deadline_in(KZ_SECONDS(5))),
			      err);
	while (!rc && !done) {
		rc = take_reply(v, &r, err);
		if (r)
			return answer_of_pop(v, r, taken, err);
		if (!rc)
			rc = await_pop(v, other_fd, until, &done, other, err);
	}
	return rc;
}
