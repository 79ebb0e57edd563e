/* The pipes of a run: output that is always read, input that is granted. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "worker/runpriv.h"

#define READ_SIZE 65536
#define READS_A_TURN 16 /* then the loop sees to timers and other connections */

void kz_run_close_pipe(struct kz_run *r, int i)
{
	kz_watch_free(r->watch[i]);
	r->watch[i] = NULL;
	if (r->pipe[i] >= 0)
		close(r->pipe[i]);
	r->pipe[i] = -1;
}

/* out: false when the pipe is empty or at its end */
bool kz_run_read_once(struct kz_run *r, int i)
{
	char t[READ_SIZE];
	ssize_t n = read(r->pipe[i], t, sizeof t);
	size_t now;

	if (n < 0 && errno == EINTR)
		return true;
	if (n == 0)
		kz_run_close_pipe(r, i);
	if (n <= 0)
		return false;
	now = kz_keep_add(&r->keep, i == 1 ? KZ_KEEP_OUT : KZ_KEEP_ERR, t, (size_t)n);
	if (now && r->calls.on_output)
		r->calls.on_output(r->arg, i, t, now);
	return true;
}

static void read_turn(struct kz_run *r, int i)
{
	for (int n = 0; n < READS_A_TURN && r->pipe[i] >= 0; n++)
		if (!kz_run_read_once(r, i))
			return;
}

void kz_run_out_ready(void *arg)
{
	read_turn(arg, 1);
}

void kz_run_err_ready(void *arg)
{
	read_turn(arg, 2);
}

void kz_run_write_input(void *arg)
{
	struct kz_run *r = arg;
	ssize_t n = 0;

	if (r->input.len)
		n = write(r->pipe[0], r->input.data, r->input.len);
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		/* the program closed it: what comes is dropped, and still granted, so that the sender ends */
		n = (ssize_t)r->input.len;
		kz_run_close_pipe(r, 0);
	}
	if (n > 0) {
		kz_buf_drop(&r->input, (size_t)n);
		r->window += (size_t)n;
		if (r->calls.on_window)
			r->calls.on_window(r->arg, (size_t)n);
	}
	if (!r->input.len && r->input_ended)
		kz_run_close_pipe(r, 0);
	else if (!r->input.len && r->watch[0])
		kz_watch_enable(r->watch[0], false);
}

bool kz_run_input(struct kz_run *r, const void *p, size_t n)
{
	if (n > r->window || r->input_ended)
		return false;
	r->window -= n;
	if (r->state != KZ_RUN_GOING || r->pipe[0] < 0) {
		r->window += n;
		if (r->calls.on_window)
			r->calls.on_window(r->arg, n);
		return true;
	}
	if (kz_buf_add(&r->input, p, n, NULL) != KZ_OK)
		return false;
	kz_watch_enable(r->watch[0], true);
	return true;
}

void kz_run_input_end(struct kz_run *r)
{
	r->input_ended = true;
	if (r->pipe[0] >= 0 && !r->input.len)
		kz_run_close_pipe(r, 0);
}

enum kz_rc kz_run_make_pipes(struct kz_run *r, int theirs[3], struct kz_err *err)
{
	for (int i = 0; i < 3; i++) {
		int p[2], ours = i == 0 ? 1 : 0;

		if (pipe2(p, O_CLOEXEC) < 0)
			return kz_err_sys(err, KZ_E_OS, "cannot make a pipe");
		r->pipe[i] = p[ours];
		theirs[i] = p[!ours];
		/* so that /dev/stdout can be opened again by the tenant */
		if (fchown(theirs[i], r->boot->tenant_uid, r->boot->tenant_gid) < 0)
			return kz_err_sys(err, KZ_E_OS, "cannot hand a pipe over");
		if (kz_fd_set_nonblock(r->pipe[i], err) != KZ_OK)
			return KZ_E_OS;
	}
	return KZ_OK;
}
