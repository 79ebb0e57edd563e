/* A file on its way to its place: nameless until it is whole, judged and on disk. */
#include "core/run/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/sys.h"
#include "rule/path.h"
#include "rule/reason.h"

static enum kz_rc uncreatable(struct kz_err *err)
{
	kz_err_sys(err, KZ_E_CANTCREAT, "it cannot be put in its place");
	return kz_err_reason(err, kz_reason_code(KZ_R_OUTPUT_UNCREATABLE));
}

/* Some file systems cannot, and say so. */
static int flush_dir(int dir)
{
	return fsync(dir) && errno != EINVAL ? -1 : 0;
}

/* Open the directory that a name lies in, making what is missing; no symbolic link is followed. */
static int open_parent(int dir, const char *name)
{
	kz_auto_close int at = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	const char *slash;

	for (; at >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
		char part[KZ_PATH_COMPONENT_MAX + 1];
		int next;

		memcpy(part, name, (size_t)(slash - name));
		part[slash - name] = 0;
		if (mkdirat(at, part, 0755) == 0) {
			fchmodat(at, part, 0755, 0); /* whatever the umask says; it is ours */
			if (flush_dir(at))
				return -1;
		} else if (errno != EEXIST) {
			return -1;
		}
		next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = next;
	}
	return kz_take_fd(&at);
}

void kz_publish_release(struct kz_publish *c)
{
	if (c->temp[0])
		unlinkat(c->dir, c->temp, 0);
	kz_auto_close_(&c->fd);
}

enum kz_rc kz_publish_open(struct kz_publish *c, int dir, struct kz_err *err)
{
	char id[KZ_ID_HEX];

	*c = (struct kz_publish){ .dir = dir, .fd = -1 };
	kz_sha256_start(&c->hash);
	kz_random_id(id);
	snprintf(c->temp, sizeof(c->temp), ".kz-%s", id);
	c->fd = openat(c->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (c->fd >= 0) {
		c->temp[0] = 0;
		return KZ_OK;
	}
	c->fd = openat(c->dir, c->temp, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
	if (c->fd < 0) {
		c->temp[0] = 0;
		return uncreatable(err);
	}
	return KZ_OK;
}

enum kz_rc kz_publish_add(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct kz_publish *c = arg;
	size_t room = sizeof(c->head) - c->head_len;

	memcpy(c->head + c->head_len, p, n < room ? n : room);
	c->head_len += n < room ? n : room;
	kz_sha256_add(&c->hash, p, n);
	c->bytes += (int64_t)n;
	return kz_fd_write_all(c->fd, p, n, err);
}

/* A nameless file gets a name beside the final one. */
static int give_name(struct kz_publish *c)
{
	char proc[40], id[KZ_ID_HEX];

	if (c->temp[0])
		return 0;
	kz_random_id(id);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", c->fd);
	snprintf(c->temp, sizeof(c->temp), ".kz-%s", id);
	if (linkat(AT_FDCWD, proc, c->dir, c->temp, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	c->temp[0] = 0;
	return -1;
}

enum kz_rc kz_publish_name(struct kz_publish *c, const char *name, struct kz_err *err)
{
	kz_auto_close int parent = -1;

	if (kz_sys_before(KZ_SYS_OUT_COPY)) {
		errno = EIO;
		return uncreatable(err);
	}
	if (fchmod(c->fd, 0644) || fsync(c->fd))
		return uncreatable(err);
	parent = open_parent(c->dir, name);
	if (parent < 0 || give_name(c) || renameat(c->dir, c->temp, parent, kz_path_base(name)))
		return uncreatable(err);
	c->temp[0] = 0;
	/* There, but a crash of the machine could take the name back: no success then [INV-45]. */
	if (flush_dir(parent)) {
		uncreatable(err);
		unlinkat(parent, kz_path_base(name), 0);
		return err->rc;
	}
	kz_sys_after(KZ_SYS_OUT_COPY);
	return KZ_OK;
}
