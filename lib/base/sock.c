/* Unix stream sockets by path, also where the path is longer than sun_path. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

/* A socket's place: an open directory and an address that leads through it. */
struct place {
	int dir;
	const char *base;
	struct sockaddr_un addr;
};

static void place_release(struct place *p)
{
	if (p->dir >= 0)
		close(p->dir);
}
#define auto_place kz_auto(place_release)

static enum kz_rc place_open(struct place *p, const char *path, struct kz_err *err)
{
	const char *slash = strrchr(path, '/');
	char dir[4096] = ".";

	p->base = slash ? slash + 1 : path;
	memset(&p->addr, 0, sizeof(p->addr));
	p->addr.sun_family = AF_UNIX;
	if (slash && kz_str_format(dir, sizeof(dir), err, "%.*s", (int)(slash - path + 1), path))
		return KZ_E_UNAVAILABLE;
	p->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0)
		return kz_err_sys(err, KZ_E_UNAVAILABLE, "cannot open directory %s", dir);
	if (!*p->base || kz_str_format(p->addr.sun_path, sizeof(p->addr.sun_path), NULL,
				       "/proc/self/fd/%d/%s", p->dir, p->base))
		return kz_err_set(err, KZ_E_UNAVAILABLE, "no socket name: %s", path);
	return KZ_OK;
}

static enum kz_rc sock_new(int *fd, struct kz_err *err)
{
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a socket");
	return KZ_OK;
}

enum kz_rc kz_unix_connect(const char *path, struct kz_deadline until, int *fd, struct kz_err *err)
{
	auto_place struct place p = { .dir = -1 };
	kz_auto_close int s = -1;
	enum kz_rc rc = place_open(&p, path, err);

	if (rc)
		return rc;
	rc = sock_new(&s, err);
	if (rc)
		return rc;
	while (connect(s, (const struct sockaddr *)&p.addr, sizeof(p.addr)) < 0) {
		/* EAGAIN: the listener's queue is full, and poll cannot wait for it. */
		if (errno != EAGAIN && errno != EINTR)
			return kz_err_sys(err, KZ_E_UNAVAILABLE, "cannot connect to %s", path);
		if (kz_deadline_passed(until))
			return kz_err_set(err, KZ_E_UNAVAILABLE, "%s is too busy to answer", path);
		kz_time_sleep(KZ_MS(5), until);
	}
	*fd = kz_take_fd(&s);
	return KZ_OK;
}

/* Remove a socket that nobody listens on; anything else of that name is left alone. */
static enum kz_rc place_free(const struct place *p, const char *path, struct kz_err *err)
{
	kz_auto_close int s = -1;
	struct stat st;
	enum kz_rc rc;

	if (fstatat(p->dir, p->base, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? KZ_OK : kz_err_sys(err, KZ_E_CANTCREAT, "%s", path);
	if (!S_ISSOCK(st.st_mode))
		return kz_err_set(err, KZ_E_CANTCREAT, "%s is not a socket", path);
	rc = sock_new(&s, err);
	if (rc)
		return rc;
	if (connect(s, (const struct sockaddr *)&p->addr, sizeof(p->addr)) == 0 ||
	    errno != ECONNREFUSED)
		return kz_err_set(err, KZ_E_CANTCREAT, "%s is in use", path);
	if (unlinkat(p->dir, p->base, 0) < 0 && errno != ENOENT)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot remove %s", path);
	return KZ_OK;
}

enum kz_rc kz_unix_listen(const char *path, mode_t mode, gid_t gid, int backlog, int *fd,
			  struct kz_err *err)
{
	auto_place struct place p = { .dir = -1 };
	kz_auto_close int s = -1;
	enum kz_rc rc = place_open(&p, path, err);

	if (!rc)
		rc = place_free(&p, path, err);
	if (!rc)
		rc = sock_new(&s, err);
	if (rc)
		return rc;
	if (bind(s, (const struct sockaddr *)&p.addr, sizeof(p.addr)) < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot bind %s", path);
	/* Nobody can connect before listen, so group and mode are set in time. */
	if ((gid != (gid_t)-1 &&
	     fchownat(p.dir, p.base, (uid_t)-1, gid, AT_SYMLINK_NOFOLLOW) < 0) ||
	    fchmodat(p.dir, p.base, mode, 0) < 0 || listen(s, backlog) < 0) {
		kz_err_sys(err, KZ_E_CANTCREAT, "cannot listen on %s", path);
		unlinkat(p.dir, p.base, 0);
		return KZ_E_CANTCREAT;
	}
	*fd = kz_take_fd(&s);
	return KZ_OK;
}
