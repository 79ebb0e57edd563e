/* One direction of a relay: copied at first, then spliced. */
#include "base/flow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIPE_BYTES (1 << 20)
#define PIPE_LEAST 65536 /* a shorter one is no better than copying */
#define PAUSE 256

/* What every copy goes through; untouched pages of it cost nothing. */
static _Thread_local char scratch[256 * 1024];

void kz_pipes_init(struct kz_pipes *p, size_t most)
{
	memset(p, 0, sizeof *p);
	p->most = most;
}

void kz_pipes_release(struct kz_pipes *p)
{
	while (p->free_count > 0) {
		p->free_count--;
		close(p->free_r[p->free_count]);
		close(p->free_w[p->free_count]);
	}
}

size_t kz_pipes_budget(void)
{
	unsigned long pages = 0;
	long page = sysconf(_SC_PAGESIZE);
	FILE *f = fopen("/proc/sys/fs/pipe-user-pages-soft", "re");
	size_t n;

	if (f) {
		if (fscanf(f, "%lu", &pages) != 1)
			pages = 1;
		fclose(f);
	}
	if (f && pages == 0) /* no limit */
		return KZ_PIPES_KEPT;
	n = (size_t)pages * (size_t)(page > 0 ? page : 4096) / PIPE_BYTES / 2;
	return n < KZ_PIPES_KEPT ? n : KZ_PIPES_KEPT;
}

static bool pipe_make(int fd[2])
{
	int size;

	if (pipe2(fd, O_NONBLOCK | O_CLOEXEC) != 0)
		return false;
	size = fcntl(fd[1], F_SETPIPE_SZ, PIPE_BYTES);
	if (size < 0)
		size = fcntl(fd[1], F_GETPIPE_SZ);
	if (size >= PIPE_LEAST)
		return true;
	close(fd[0]);
	close(fd[1]);
	return false;
}

static bool pipe_take(struct kz_flow *f)
{
	struct kz_pipes *p = f->pipes;
	int fd[2];

	if (p->free_count > 0) {
		p->free_count--;
		f->pipe_r = p->free_r[p->free_count];
		f->pipe_w = p->free_w[p->free_count];
		p->in_use++;
		return true;
	}
	if (p->in_use >= p->most)
		return false;
	if (p->pause > 0) {
		p->pause--;
		return false;
	}
	if (!pipe_make(fd)) {
		p->pause = PAUSE;
		return false;
	}
	f->pipe_r = fd[0];
	f->pipe_w = fd[1];
	p->in_use++;
	return true;
}

/* An empty pipe serves the next flow; one with bytes in it serves nobody. */
static void pipe_give(struct kz_flow *f)
{
	struct kz_pipes *p = f->pipes;

	if (f->pipe_r < 0)
		return;
	p->in_use--;
	if (f->piped == 0 && p->free_count < KZ_PIPES_KEPT) {
		p->free_r[p->free_count] = f->pipe_r;
		p->free_w[p->free_count++] = f->pipe_w;
	} else {
		close(f->pipe_r);
		close(f->pipe_w);
	}
	f->pipe_r = f->pipe_w = -1;
	f->piped = 0;
}

static bool hold(struct kz_flow *f, const char *p, size_t n)
{
	if (!(f->held = malloc(n)))
		return false;
	memcpy(f->held, p, n);
	f->held_at = 0;
	f->held_len = n;
	return true;
}

bool kz_flow_init(struct kz_flow *f, struct kz_pipes *pipes, int from, int to, const void *early,
		  size_t n)
{
	*f = (struct kz_flow){ .pipes = pipes, .from = from, .to = to, .pipe_r = -1, .pipe_w = -1 };
	f->is_copied = !pipes;
	return n == 0 || hold(f, early, n);
}

void kz_flow_release(struct kz_flow *f)
{
	if (f->pipes)
		pipe_give(f);
	free(f->held);
	f->held = NULL;
	f->held_len = f->held_at = 0;
}

/* What a call that moved nothing means. */
static enum kz_flow_what stopped(enum kz_flow_what want)
{
	return errno == EAGAIN || errno == EWOULDBLOCK ? want : KZ_FLOW_FAILED;
}

/* Write out what was read. out: KZ_FLOW_DONE when nothing is left */
static enum kz_flow_what drain(struct kz_flow *f)
{
	while (f->held_at < f->held_len || f->piped > 0) {
		ssize_t n;

		if (f->held_at < f->held_len)
			n = send(f->to, f->held + f->held_at, f->held_len - f->held_at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);
		else
			n = splice(f->pipe_r, NULL, f->to, NULL, f->piped,
				   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 ? KZ_FLOW_FAILED : stopped(KZ_FLOW_WANT_WRITE);
		f->passed += (size_t)n;
		if (f->held_at < f->held_len)
			f->held_at += (size_t)n;
		else
			f->piped -= (size_t)n;
	}
	free(f->held);
	f->held = NULL;
	f->held_at = f->held_len = 0;
	return KZ_FLOW_DONE;
}

/* Read into the thread's buffer and write at once; what the far side does not take is kept. */
static ssize_t copy(struct kz_flow *f)
{
	ssize_t n, sent;
	size_t size = f->passed < KZ_FLOW_COPIED ? KZ_FLOW_COPIED : sizeof scratch;

	do
		n = recv(f->from, scratch, size, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n;
	do
		sent = send(f->to, scratch, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
		return -1;
	if (sent < 0)
		sent = 0;
	f->passed += (size_t)sent;
	if (sent < n && !hold(f, scratch + sent, (size_t)(n - sent))) {
		errno = ENOMEM;
		return -1;
	}
	return n;
}

/* Splice into the pipe, which is empty: the end of input and "nothing there" are as for recv. */
static ssize_t fill(struct kz_flow *f)
{
	ssize_t n;

	do
		n = splice(f->from, NULL, f->pipe_w, NULL, PIPE_BYTES,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		f->piped = (size_t)n;
	if (n >= 0 || errno != EINVAL)
		return n;
	pipe_give(f);
	f->is_copied = true;
	return copy(f);
}

static ssize_t take(struct kz_flow *f)
{
	if (f->is_copied || f->passed < KZ_FLOW_COPIED || (f->pipe_r < 0 && !pipe_take(f)))
		return copy(f);
	return fill(f);
}

static enum kz_flow_what finish(struct kz_flow *f)
{
	kz_flow_release(f);
	if (!f->is_shut && shutdown(f->to, SHUT_WR) != 0 && errno != ENOTCONN)
		return KZ_FLOW_FAILED;
	f->is_shut = true;
	return KZ_FLOW_DONE;
}

enum kz_flow_what kz_flow_step(struct kz_flow *f, size_t quantum)
{
	uint64_t start = f->passed;

	for (;;) {
		enum kz_flow_what what = drain(f);
		ssize_t n;

		if (what != KZ_FLOW_DONE)
			return what;
		if (f->is_eof)
			return finish(f);
		if (f->passed - start >= quantum) {
			kz_flow_release(f);
			return KZ_FLOW_MORE;
		}
		n = take(f);
		if (n == 0)
			f->is_eof = true;
		if (n < 0) {
			what = stopped(KZ_FLOW_WANT_READ);
			kz_flow_release(f);
			return what;
		}
	}
}
