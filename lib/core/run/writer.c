/* A thread that writes what a run printed. */
#include "core/run/writer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/time.h"

struct kz_writer {
	int fd, failed_fd, idle_fd, stop_fd;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct kz_buf in; /* added, not yet taken by the thread */
	bool has_thread; /* from the first bytes on: most runs print nothing to one of their streams */
	bool is_stopping, is_stopped, is_busy;
	int error;
};

static void ring(int fd)
{
	uint64_t one = 1;

	/* Cannot fail: the counter is far from full. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

/* Write one piece; waits for room with poll so that a stop is seen at once. */
static int write_some(struct kz_writer *w, const char *p, size_t n, size_t *done)
{
	struct pollfd fds[2] = { { w->fd, POLLOUT, 0 }, { w->stop_fd, POLLIN, 0 } };
	ssize_t got;

	if (poll(fds, 2, -1) < 0)
		return errno == EINTR ? 0 : errno;
	if (fds[1].revents)
		return ECANCELED;
	/* A pipe that polls writable takes PIPE_BUF bytes without blocking. */
	got = write(w->fd, p, n < 4096 ? n : 4096);
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : errno;
	*done += (size_t)got;
	return 0;
}

static int write_piece(struct kz_writer *w, const struct kz_buf *b)
{
	size_t done = 0;
	int e = 0;

	while (!e && done < b->len)
		e = write_some(w, b->data + done, b->len - done, &done);
	return e;
}

static void *run(void *arg)
{
	struct kz_writer *w = arg;
	struct kz_buf mine;

	kz_buf_init(&mine, w->in.max);
	pthread_mutex_lock(&w->lock);
	while (!w->is_stopping) {
		struct kz_buf swap = mine;
		int e;

		if (!w->in.len) {
			w->is_busy = false;
			ring(w->idle_fd);
			pthread_cond_wait(&w->more, &w->lock);
			continue;
		}
		mine = w->in;
		w->in = swap;
		pthread_mutex_unlock(&w->lock);
		e = write_piece(w, &mine);
		kz_buf_clear(&mine);
		pthread_mutex_lock(&w->lock);
		if (e && !w->error) {
			w->error = e;
			ring(w->failed_fd);
		}
		if (e)
			kz_buf_clear(&w->in);
	}
	w->is_stopped = true;
	ring(w->idle_fd);
	pthread_mutex_unlock(&w->lock);
	kz_buf_release(&mine);
	return NULL;
}

static void close_all(struct kz_writer *w)
{
	kz_auto_close_(&w->failed_fd);
	kz_auto_close_(&w->idle_fd);
	kz_auto_close_(&w->stop_fd);
	kz_buf_release(&w->in);
	free(w);
}

/* The thread must take no signal: the main thread reads them from a descriptor. */
static int start_thread(struct kz_writer *w)
{
	sigset_t all, old;
	int e;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	e = pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return e;
}

enum kz_rc kz_writer_start(struct kz_writer **out, int fd, size_t max, struct kz_err *err)
{
	struct kz_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	w->fd = fd;
	w->failed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->idle_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	kz_buf_init(&w->in, max);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	if (w->failed_fd < 0 || w->idle_fd < 0 || w->stop_fd < 0) {
		kz_err_sys(err, KZ_E_OS, "cannot start the output thread");
		close_all(w);
		return KZ_E_OS;
	}
	*out = w;
	return KZ_OK;
}

enum kz_rc kz_writer_add(struct kz_writer *w, const void *p, size_t n, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	pthread_mutex_lock(&w->lock);
	if (!w->has_thread && (errno = start_thread(w)))
		rc = kz_err_sys(err, KZ_E_OS, "cannot start the output thread");
	else
		w->has_thread = true;
	if (rc == KZ_OK && !w->error) {
		rc = kz_buf_add(&w->in, p, n, err);
		w->is_busy = true;
		pthread_cond_signal(&w->more);
	}
	pthread_mutex_unlock(&w->lock);
	return rc;
}

int kz_writer_failed_fd(const struct kz_writer *w)
{
	return w->failed_fd;
}

int kz_writer_errno(struct kz_writer *w)
{
	int e;

	pthread_mutex_lock(&w->lock);
	e = w->error;
	pthread_mutex_unlock(&w->lock);
	return e;
}

enum kz_rc kz_writer_drain(struct kz_writer *w, int cancel_fd, struct kz_err *err)
{
	for (;;) {
		struct pollfd fds[2] = { { w->idle_fd, POLLIN, 0 }, { cancel_fd, POLLIN, 0 } };
		bool is_busy;
		uint64_t n;
		int e;

		pthread_mutex_lock(&w->lock);
		is_busy = w->is_busy;
		e = w->error;
		pthread_mutex_unlock(&w->lock);
		if (e) {
			errno = e;
			return kz_err_sys(err, KZ_E_IO, "cannot write the output");
		}
		if (!is_busy)
			return KZ_OK;
		if (poll(fds, 2, -1) > 0 && fds[1].revents)
			return kz_err_set(err, KZ_E_TEMPFAIL,
					  "interrupted while writing the output");
		if (fds[0].revents && read(w->idle_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
			return kz_err_sys(err, KZ_E_OS, "cannot wait for the output thread");
	}
}

/* Somebody else filling the same pipe can hold the thread in write(2): leave it to the exit then. */
static bool join_soon(struct kz_writer *w)
{
	struct kz_deadline until = kz_deadline_in(KZ_SECONDS(1));
	bool is_stopped = false;
	uint64_t n;

	while (!is_stopped) {
		if (kz_fd_wait(w->idle_fd, POLLIN, until, NULL) != KZ_OK)
			return false;
		if (read(w->idle_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
			return false;
		pthread_mutex_lock(&w->lock);
		is_stopped = w->is_stopped;
		pthread_mutex_unlock(&w->lock);
	}
	return pthread_join(w->thread, NULL) == 0;
}

void kz_writer_free(struct kz_writer *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->is_stopping = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
	ring(w->stop_fd);
	if (w->has_thread && !join_soon(w))
		return;
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->lock);
	close_all(w);
}
