/* What a stack leaves behind when it is killed: processes, workers, mounts. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/where.h"
#include "core/driver/driver.h"
#include "core/front/parts.h"
#include "port/json.h"

/* Is KZ_STACK=id one of the NUL-ended texts of the process' environment? */
static bool is_marked(const char *pid, const char *id)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1 << 20);
	char path[300], want[64];
	const char *p, *end;

	snprintf(path, sizeof path, "/proc/%s/environ", pid);
	snprintf(want, sizeof want, "KZ_STACK=%s", id);
	if (kz_file_read(AT_FDCWD, path, &b, NULL) || b.len == 0)
		return false;
	for (p = b.data, end = b.data + b.len; p < end; p += strnlen(p, (size_t)(end - p)) + 1)
		if (strncmp(p, want, (size_t)(end - p)) == 0)
			return true;
	return false;
}

/* A process in another mount namespace that shows the same mark is another machine's container, not ours. */
static bool is_here(const char *pid)
{
	char path[300], ours[64], theirs[64];
	ssize_t a, b;

	snprintf(path, sizeof path, "/proc/%s/ns/mnt", pid);
	a = readlink("/proc/self/ns/mnt", ours, sizeof ours);
	b = readlink(path, theirs, sizeof theirs);
	return a > 0 && a == b && memcmp(ours, theirs, (size_t)a) == 0;
}

/* kz-proxy lives in a mount namespace of its own; it is ours when it holds the lock of our own proxy. */
static bool is_proxy(const struct kz_front *f, const char *pid)
{
	kz_auto_closedir DIR *d = NULL;
	char path[KZ_FRONT_PATH];
	struct stat lock, st;
	struct dirent *e;

	if (kz_front_path(f, "run/kz-proxy.lock", path, sizeof path, NULL) ||
	    stat(path, &lock) != 0)
		return false;
	snprintf(path, sizeof path, "/proc/%s/fd", pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && fstatat(dirfd(d), e->d_name, &st, 0) == 0 &&
		    st.st_dev == lock.st_dev && st.st_ino == lock.st_ino)
			return true;
	return false;
}

static bool is_alive(const char *pid)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4096);
	char path[300];
	const char *p;

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	if (kz_file_read(AT_FDCWD, path, &b, NULL))
		return false;
	p = strrchr(kz_buf_str(&b), ')');
	return p && p[1] == ' ' && p[2] != 'Z' && p[2] != 'X';
}

static bool is_program(const char *pid, const char *program)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(64);
	char path[300];

	snprintf(path, sizeof path, "/proc/%s/comm", pid);
	if (kz_file_read(AT_FDCWD, path, &b, NULL))
		return false;
	return strncmp(kz_buf_str(&b), program, strlen(program)) == 0 &&
	       kz_buf_str(&b)[strlen(program)] == '\n';
}

enum kz_rc kz_front_sweep(const struct kz_front *f, const char *program, int signal_number,
			  size_t *count, struct kz_err *err)
{
	kz_auto_closedir DIR *d = opendir("/proc");
	struct dirent *e;
	char id[40];
	int64_t pid;

	*count = 0;
	kz_front_stack_id(f, id);
	if (!id[0])
		return KZ_OK;
	if (!d)
		return kz_err_sys(err, KZ_E_OS, "cannot read /proc");
	while ((e = readdir(d))) {
		kz_auto_close int fd = -1;

		if (kz_str_int(e->d_name, 1, INT32_MAX, &pid, NULL) || pid == getpid())
			continue;
		/* the pidfd comes first, so that what was judged is what is signalled */
		fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (fd < 0 || !is_marked(e->d_name, id) ||
		    (!is_here(e->d_name) && !is_proxy(f, e->d_name)) || !is_alive(e->d_name) ||
		    (program && !is_program(e->d_name, program)))
			continue;
		++*count;
		if (signal_number)
			syscall(SYS_pidfd_send_signal, fd, signal_number, NULL, 0);
	}
	return KZ_OK;
}

/* One verb of the driver. out: reply, new */
static enum kz_rc call(const struct kz_front *f, const struct kz_conf *c, struct kz_json *request,
		       enum kz_answer *answer, struct kz_json **reply, struct kz_err *err)
{
	char program[KZ_FRONT_PATH];
	enum kz_rc rc = kz_where_program(c->set.kz_driver, program, sizeof program, err);

	kz_json_set_int(request, "v", 1);
	return rc ? rc :
		    kz_driver_call(program, f->state, request,
				   kz_deadline_in(KZ_SECONDS(c->set.kz_delete_timeout_seconds)),
				   reply, answer, err);
}

static enum kz_rc delete_one(const struct kz_front *f, const struct kz_conf *c, const char *worker,
			     const char *instance, struct kz_err *err)
{
	kz_auto_json struct kz_json *request = kz_json_object(), *reply = NULL;
	enum kz_answer answer = KZ_ANSWER_UNKNOWN;
	enum kz_rc rc;

	kz_json_set_str(request, "verb", "delete");
	kz_json_set_str(request, "worker", worker);
	kz_json_set_str(request, "instance", instance);
	if ((rc = call(f, c, request, &answer, &reply, err)))
		return rc;
	if (answer == KZ_ANSWER_ABSENT)
		return KZ_OK;
	return kz_err_set(err, KZ_E_UNAVAILABLE, "worker %s could not be deleted: %s", worker,
			  kz_json_str(reply, "text", "no reason given"));
}

enum kz_rc kz_front_workers_delete(const struct kz_front *f, const struct kz_conf *c, size_t *count,
				   struct kz_err *err)
{
	kz_auto_json struct kz_json *request = kz_json_object(), *reply = NULL;
	enum kz_answer answer = KZ_ANSWER_UNKNOWN;
	const struct kz_json *workers;
	enum kz_rc rc, first = KZ_OK;

	*count = 0;
	kz_json_set_str(request, "verb", "list");
	if ((rc = call(f, c, request, &answer, &reply, err)))
		return rc;
	if (answer != KZ_ANSWER_PRESENT)
		return kz_err_set(err, KZ_E_UNAVAILABLE, "the driver cannot list the workers: %s",
				  kz_json_str(reply, "text", "no reason given"));
	workers = kz_json_get(reply, "workers");
	*count = kz_json_count(workers);
	for (size_t i = 0; i < *count; i++) {
		const struct kz_json *w = kz_json_at(workers, i);

		/* the others go all the same; the first failure is told */
		rc = delete_one(f, c, kz_json_str(w, "worker", ""), kz_json_str(w, "instance", ""),
				first ? NULL : err);
		first = first ? first : rc;
	}
	return first;
}

/* Field 5 of a mountinfo line, with its octal escapes undone. */
static bool mount_point(const char *line, char *out, size_t size)
{
	size_t n = 0;

	for (int field = 0; field < 4; field++) {
		line = strchr(line, ' ');
		if (!line++)
			return false;
	}
	while (*line && *line != ' ' && n + 1 < size) {
		if (line[0] == '\\' && line[1] && line[2] && line[3]) {
			out[n++] = (char)((line[1] - '0') * 64 + (line[2] - '0') * 8 +
					  (line[3] - '0'));
			line += 4;
		} else {
			out[n++] = *line++;
		}
	}
	out[n] = 0;
	return n > 0;
}

enum kz_rc kz_front_mounts(const struct kz_front *f, bool detach, size_t *count, struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(16 << 20);
	char prefix[300], point[4096], *save = NULL;
	enum kz_rc rc = kz_file_read(AT_FDCWD, "/proc/self/mountinfo", &b, err);

	*count = 0;
	if (rc || b.len == 0)
		return rc;
	snprintf(prefix, sizeof prefix, "%s/", f->state);
	for (char *line = strtok_r(b.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!mount_point(line, point, sizeof point) || !kz_str_has_prefix(point, prefix))
			continue;
		++*count;
		/* one below another goes with it; then this fails, and the next look counts what is left */
		if (detach && umount2(point, MNT_DETACH | UMOUNT_NOFOLLOW) != 0 &&
		    errno != EINVAL && errno != ENOENT)
			return kz_err_sys(err, KZ_E_OS, "cannot unmount %s", point);
	}
	return KZ_OK;
}
