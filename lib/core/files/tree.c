/* kz-archive at work: its pipes, its end and its reason. */
#include "core/files/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"
#include "base/where.h"
#include "rule/entry_reader.h"
#include "rule/reason.h"

#define PROGRAM "kz-archive"
#define CHUNK 65536
#define TOLD_MAX 1024

/* One kz-archive.  It never outlives what holds it. */
struct child {
	pid_t pid; /* 0: none, or reaped */
	int pidfd;
	int pipe; /* our end of the entries; -1 closed */
	int told; /* our end of its standard error; -1 closed */
	int cancel_fd;
	struct kz_deadline until;
	struct kz_buf text; /* what it told */
};

struct kz_tree_pack {
	struct child c;
	int tar_fd;
	struct kz_entry_reader r; /* what is no entry stream is refused before it is sent */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void child_release(struct child *c)
{
	int status;

	close_fd(&c->pipe);
	close_fd(&c->told);
	if (c->pid) {
		kill(c->pid, SIGKILL);
		(void)kz_proc_wait(c->pid, c->pidfd, KZ_NEVER, &status, NULL);
		c->pid = 0;
	}
	close_fd(&c->pidfd);
	kz_buf_release(&c->text);
}

static enum kz_rc make_pipes(int entries[2], int told[2], struct kz_err *err)
{
	if (pipe2(entries, O_CLOEXEC) < 0 || pipe2(told, O_CLOEXEC) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a pipe");
	return KZ_OK;
}

/* in: reads: it is to read entries and write the tar; else the other way */
static enum kz_rc spawn(struct child *c, bool reads, int tar_fd, int entries[2], int told[2],
			const char *const *argv, struct kz_err *err)
{
	static const char *const nothing[] = { NULL };
	const struct kz_spawn s = { .argv = argv,
				    .envp = nothing,
				    .stdin_fd = reads ? entries[0] : tar_fd,
				    .stdout_fd = reads ? tar_fd : entries[1],
				    .stderr_fd = told[1],
				    .parent_death_signal = SIGKILL };
	enum kz_rc rc = kz_proc_spawn(&s, &c->pid, &c->pidfd, err);

	close_fd(&entries[reads ? 0 : 1]);
	close_fd(&told[1]);
	c->pipe = kz_take_fd(&entries[reads ? 1 : 0]);
	c->told = kz_take_fd(&told[0]);
	if (rc == KZ_OK)
		rc = kz_fd_set_nonblock(c->pipe, err);
	if (rc == KZ_OK)
		rc = kz_fd_set_nonblock(c->told, err);
	return rc;
}

static enum kz_rc start(struct child *c, bool reads, int tar_fd, const struct kz_tree_bounds *b,
			struct kz_err *err)
{
	char path[4096], bytes[24], entries_text[24];
	const char *argv[] = { path,
			       reads ? "pack" : "unpack",
			       "--bytes",
			       bytes,
			       "--entries",
			       entries_text,
			       b->may_be_compressed && !reads ? "--compressed" : NULL,
			       NULL };
	int entries[2] = { -1, -1 }, told[2] = { -1, -1 };
	enum kz_rc rc = kz_where_program(PROGRAM, path, sizeof path, err);

	kz_buf_init(&c->text, TOLD_MAX);
	if (rc == KZ_OK)
		rc = kz_str_format(bytes, sizeof bytes, err, "%lld", (long long)b->bytes);
	if (rc == KZ_OK)
		rc = kz_str_format(entries_text, sizeof entries_text, err, "%lld",
				   (long long)b->entries);
	if (rc == KZ_OK)
		rc = make_pipes(entries, told, err);
	if (rc == KZ_OK)
		rc = spawn(c, reads, tar_fd, entries, told, argv, err);
	for (int i = 0; i < 2; i++) {
		close_fd(&entries[i]);
		close_fd(&told[i]);
	}
	if (rc == KZ_OK)
		return KZ_OK;
	child_release(c);
	return kz_err_reason(err, kz_reason_code(KZ_R_SYSTEM_FAILED));
}

/* Keep the start of what it tells, drop the rest. out: false when there will be no more */
static bool listen_to(struct child *c)
{
	char t[4096];
	ssize_t n = read(c->told, t, sizeof t);
	size_t room = c->text.max - c->text.len;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	(void)kz_buf_add(&c->text, t, (size_t)n < room ? (size_t)n : room, NULL);
	return n > 0;
}

/* Wait until the pipe is ready or closed by it; what it tells is taken meanwhile. */
static enum kz_rc await(struct child *c, short events, struct kz_err *err)
{
	for (;;) {
		struct pollfd p[] = { { c->pipe, events, 0 },
				      { c->told, POLLIN, 0 },
				      { c->cancel_fd, POLLIN, 0 } };

		if (poll(p, 3, kz_deadline_poll_ms(c->until)) < 0 && errno != EINTR)
			return kz_err_sys(err, KZ_E_OS, "poll failed");
		if (p[2].revents)
			return kz_refuse(err, KZ_R_CANCELLED, NULL);
		if (p[1].revents && !listen_to(c))
			close_fd(&c->told);
		if (p[0].revents)
			return KZ_OK;
		if (c->pipe < 0 && c->told < 0)
			return KZ_OK;
		if (kz_deadline_passed(c->until))
			return kz_refuse(err, KZ_R_SYSTEM_FAILED, "the archive took too long");
	}
}

/* "kz-archive VERB: REASON: text" */
static enum kz_rc fail_as_told(struct child *c, struct kz_err *err)
{
	char *save = NULL, *colon;
	const char *line = strtok_r((char *)(uintptr_t)kz_buf_str(&c->text), "\n", &save);
	const char *code = line ? strstr(line, ": ") : NULL;
	enum kz_reason r;
	char name[64];

	if (code && (colon = strstr(code + 2, ": ")) &&
	    kz_str_format(name, sizeof name, NULL, "%.*s", (int)(colon - code - 2), code + 2) ==
		    KZ_OK &&
	    kz_reason_find(name, &r))
		return kz_refuse(err, r, "%s", colon + 2);
	return kz_refuse(err, KZ_R_SYSTEM_FAILED, "%s ended without a reason", PROGRAM);
}

/* It has no more to do: its end, and whether that is a good one. */
static enum kz_rc finish(struct child *c, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;
	int status = -1;

	close_fd(&c->pipe);
	while (rc == KZ_OK && c->told >= 0)
		rc = await(c, 0, err);
	if (rc == KZ_OK)
		rc = kz_proc_wait(c->pid, c->pidfd, c->until, &status, err);
	if (rc != KZ_OK)
		return kz_err_reason(err, err->reason[0] ? err->reason :
							   kz_reason_code(KZ_R_SYSTEM_FAILED));
	c->pid = 0;
	return status == 0 ? KZ_OK : fail_as_told(c, err);
}

/* Both kinds of sink are the same two calls. */
static enum kz_rc read_all(struct child *c, struct kz_entry_reader *r,
			   const struct kz_entry_sink *to, struct kz_err *err)
{
	char chunk[CHUNK];

	for (;;) {
		enum kz_rc rc = await(c, POLLIN, err);
		ssize_t n;

		if (rc != KZ_OK)
			return rc;
		n = read(c->pipe, chunk, sizeof chunk);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return kz_err_sys(err, KZ_E_IO, "cannot read entries");
		if (n == 0)
			return finish(c, err);
		rc = kz_entry_feed(r, chunk, (size_t)n, to, err);
		if (rc != KZ_OK)
			return rc;
	}
}

enum kz_rc kz_tree_unpack(int tar_fd, const struct kz_tree_bounds *b, const struct kz_tree_sink *to,
			  struct kz_tree_sum *sum, int cancel_fd, struct kz_deadline until,
			  struct kz_err *err)
{
	const struct kz_entry_sink sink = { .arg = to->arg, .entry = to->entry, .data = to->data };
	kz_auto(child_release) struct child c = {
		.pidfd = -1, .pipe = -1, .told = -1, .cancel_fd = cancel_fd, .until = until
	};
	struct kz_entry_reader r;
	struct stat st;
	enum kz_rc rc;

	if (fstat(tar_fd, &st) < 0 || lseek(tar_fd, 0, SEEK_SET) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot rewind the archive");
	kz_entry_start(&r);
	rc = start(&c, false, tar_fd, b, err);
	if (rc == KZ_OK)
		rc = read_all(&c, &r, &sink, err);
	if (rc == KZ_OK && !kz_entry_is_whole(&r))
		rc = kz_refuse(err, KZ_R_SYSTEM_FAILED, "%s stopped halfway", PROGRAM);
	if (rc == KZ_OK)
		*sum = (struct kz_tree_sum){ .entries = r.count, .bytes = st.st_size };
	return rc;
}

enum kz_rc kz_tree_pack_begin(int tar_fd, const struct kz_tree_bounds *b, struct kz_deadline until,
			      struct kz_tree_pack **out, struct kz_err *err)
{
	struct kz_tree_pack *p = calloc(1, sizeof *p);
	enum kz_rc rc;

	if (!p)
		return kz_refuse(err, KZ_R_SYSTEM_FAILED, "out of memory");
	p->c = (struct child){
		.pidfd = -1, .pipe = -1, .told = -1, .cancel_fd = -1, .until = until
	};
	p->tar_fd = tar_fd;
	kz_entry_start(&p->r);
	rc = start(&p->c, true, tar_fd, b, err);
	if (rc != KZ_OK) {
		free(p);
		return rc;
	}
	*out = p;
	return KZ_OK;
}

void kz_tree_pack_abandon(struct kz_tree_pack *p)
{
	if (!p)
		return;
	child_release(&p->c);
	free(p);
}

static enum kz_rc no_entry(void *arg, const struct kz_entry *e, const char *name,
			   struct kz_err *err)
{
	(void)arg, (void)e, (void)name, (void)err;
	return KZ_OK;
}

static enum kz_rc no_data(void *arg, const void *p, size_t n, struct kz_err *err)
{
	(void)arg, (void)p, (void)n, (void)err;
	return KZ_OK;
}

enum kz_rc kz_tree_pack_add(struct kz_tree_pack *p, const void *bytes, size_t n, struct kz_err *err)
{
	static const struct kz_entry_sink nowhere = { .entry = no_entry, .data = no_data };
	const char *at = bytes;

	if (kz_entry_feed(&p->r, bytes, n, &nowhere, err) != KZ_OK)
		return kz_err_reason(err, kz_reason_code(KZ_R_ARCHIVE_REFUSED));
	while (n) {
		enum kz_rc rc = await(&p->c, POLLOUT, err);
		ssize_t done;

		if (rc != KZ_OK)
			return rc;
		done = write(p->c.pipe, at, n);
		if (done < 0 && errno == EPIPE) {
			/* it has seen enough, and tells why */
			rc = finish(&p->c, err);
			return rc ? rc : kz_refuse(err, KZ_R_SYSTEM_FAILED, "%s ended", PROGRAM);
		}
		if (done < 0 && errno != EINTR && errno != EAGAIN)
			return kz_err_sys(err, KZ_E_IO, "cannot write entries");
		if (done > 0) {
			at += done;
			n -= (size_t)done;
		}
	}
	return KZ_OK;
}

enum kz_rc kz_tree_pack_end(struct kz_tree_pack *p, struct kz_tree_sum *sum, struct kz_err *err)
{
	struct stat st;
	enum kz_rc rc = kz_entry_is_whole(&p->r) ?
				finish(&p->c, err) :
				kz_refuse(err, KZ_R_ARCHIVE_REFUSED, "the entries are cut");

	if (rc == KZ_OK && fstat(p->tar_fd, &st) < 0)
		rc = kz_err_sys(err, KZ_E_IO, "cannot measure the archive");
	if (rc == KZ_OK)
		*sum = (struct kz_tree_sum){ .entries = p->r.count,
					     .skipped = p->r.skipped,
					     .bytes = st.st_size };
	kz_tree_pack_abandon(p);
	return rc;
}
