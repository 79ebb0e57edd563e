/* Measuring the namespaces of the calling process. */
#include "worker/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "port/seal.h"
#include "worker/space.h"

#define TEXT_MAX (1 << 20)
#define CENSUS_MOST 1000000

static int64_t count_shm(void)
{
	struct shm_info i;

	return shmctl(0, SHM_INFO, (struct shmid_ds *)&i) < 0 ? -1 : i.used_ids;
}

static int64_t count_msg(void)
{
	struct msginfo i;

	/* msgctl(2): with MSG_INFO msgpool is the number of queues */
	return msgctl(0, MSG_INFO, (struct msqid_ds *)&i) < 0 ? -1 : i.msgpool;
}

static int64_t count_sem(void)
{
	union {
		int val;
		struct semid_ds *buf;
		unsigned short *array;
		struct seminfo *info;
	} u;
	struct seminfo i;

	u.info = &i;
	/* semctl(2): with SEM_INFO semusz is the number of sets */
	return semctl(0, 0, SEM_INFO, u) < 0 ? -1 : i.semusz;
}

static int64_t count_lines(const char *path)
{
	kz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char t[4096];
	int64_t n = 0;
	ssize_t got;

	if (fd < 0)
		return -1;
	while ((got = read(fd, t, sizeof t)) > 0)
		for (ssize_t i = 0; i < got; i++)
			n += t[i] == '\n';
	return got < 0 ? -1 : n;
}

static int64_t count_dir(const char *path)
{
	kz_auto_closedir DIR *d = opendir(path);
	int64_t n = 0;

	if (!d)
		return -1;
	for (errno = 0; readdir(d); errno = 0)
		n++;
	return errno ? -1 : n - 2;
}

/* every number that follows the word in the text, summed */
static int64_t sum_after(const char *text, const char *word)
{
	int64_t n = 0;
	size_t len = strlen(word);

	for (const char *s = text; (s = strstr(s, word)); s += len)
		n += strtoll(s + len, NULL, 10);
	return n;
}

/* a table that lists one socket a line; a kernel without the family lacks it */
static int64_t count_table(const char *path)
{
	int64_t n = count_lines(path);

	return n < 0 && errno == ENOENT ? 0 : n;
}

/*
 * Sockets of this network namespace, and connections that outlive theirs.  Of the
 * internet families counters, because a listing of TCP walks the tables of the whole
 * host, some milliseconds each; and not "sockets: used", which still counts for a
 * while what was closed.
 */
int64_t kz_view_sockets(void)
{
	static const char *const counters[] = { "/proc/self/net/sockstat",
						"/proc/self/net/sockstat6" };
	static const char *const tables[] = { "/proc/self/net/unix", "/proc/self/net/netlink",
					      "/proc/self/net/packet" };
	int64_t all = 0;

	for (size_t i = 0; i < 2; i++) {
		kz_auto_buf struct kz_buf b = KZ_BUF_INIT(65536);
		enum kz_rc rc = kz_file_read(AT_FDCWD, counters[i], &b, NULL);

		/* without IPv6 the second is missing, without the first nothing is known */
		if (rc != KZ_OK && (i == 0 || rc != KZ_E_NOINPUT))
			return -1;
		all += sum_after(kz_buf_str(&b), " inuse ") + sum_after(kz_buf_str(&b), " tw ");
	}
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		int64_t n = count_table(tables[i]);

		if (n < 0)
			return -1;
		all += n;
	}
	return all;
}

/* the nth (0-based) field of a line that was cut at blanks */
static char *next_field(char **line)
{
	char *s = *line;

	while (**line && **line != ' ')
		(*line)++;
	if (**line)
		*(*line)++ = 0;
	return s;
}

/*
 * One mount without what differs from one tenant to the next by nature (ids,
 * device numbers, peer groups, source): place in its file system, place here, options, type.
 */
static bool mount_line(char *line, struct kz_sha256 *h, int64_t *projection)
{
	char *root, *at, *options, *f;

	next_field(&line);
	next_field(&line);
	next_field(&line);
	root = next_field(&line);
	at = next_field(&line);
	options = next_field(&line);
	do
		f = next_field(&line);
	while (*f && !kz_str_eq(f, "-"));
	if (!*f)
		return false;
	if (kz_str_has_prefix(at, "/work/"))
		(*projection)++;
	f = next_field(&line);
	next_field(&line);
	for (const char *const *p = (const char *const[]){ root, at, options, f, line, NULL }; *p;
	     p++) {
		size_t n = 0;

		while ((*p)[n])
			n++;
		kz_sha256_add(h, *p, n + 1);
	}
	return true;
}

static void take_mounts(struct kz_view *v)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(TEXT_MAX);
	struct kz_sha256 h;
	char *line, *end;

	v->mounts = -1;
	if (kz_file_read(AT_FDCWD, "/proc/self/mountinfo", &b, NULL) != KZ_OK || !b.len)
		return;
	kz_sha256_start(&h);
	for (line = b.data, v->mounts = 0; *line; line = end + 1) {
		for (end = line; *end && *end != '\n'; end++)
			;
		if (*end != '\n') {
			v->mounts = -1;
			return;
		}
		*end = 0;
		if (!mount_line(line, &h, &v->projection)) {
			v->mounts = -1;
			return;
		}
		v->mounts++;
	}
	kz_sha256_end(&h, v->mounts_digest);
}

static void add_file(struct kz_buf *b, const char *path)
{
	kz_auto_buf struct kz_buf one = KZ_BUF_INIT(65536);

	if (kz_file_read(AT_FDCWD, path, &one, NULL) != KZ_OK)
		kz_buf_printf(b, NULL, "%s=-\n", path);
	else
		kz_buf_printf(b, NULL, "%s=%s\n", path, kz_buf_str(&one));
}

static void take_limits(struct kz_view *v)
{
	static const char *const files[] = {
		"/proc/sys/kernel/hostname",
		"/proc/sys/kernel/domainname",
		"/proc/sys/kernel/msgmax",
		"/proc/sys/kernel/msgmnb",
		"/proc/sys/kernel/msgmni",
		"/proc/sys/kernel/shmmax",
		"/proc/sys/kernel/shmall",
		"/proc/sys/kernel/shmmni",
		"/proc/sys/kernel/sem",
		"/proc/sys/fs/mqueue/queues_max",
		"/proc/sys/fs/mqueue/msg_max",
		"/proc/sys/fs/mqueue/msgsize_max",
		"/proc/sys/net/core/somaxconn",
		"/proc/sys/net/unix/max_dgram_qlen",
		"/proc/sys/net/ipv4/ip_local_port_range",
		"/proc/sys/net/ipv4/ip_unprivileged_port_start",
		"/proc/sys/net/ipv4/ping_group_range",
		"/proc/sys/net/ipv4/tcp_max_tw_buckets",
		"/proc/sys/net/ipv4/ip_forward",
		"/proc/sys/user/max_inotify_instances",
		"/proc/sys/user/max_fanotify_groups",
		"/proc/sys/user/max_user_namespaces",
		"/proc/self/net/route",
		"/proc/self/net/if_inet6",
	};
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(TEXT_MAX);
	mode_t mask = umask(0);

	umask(mask);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		add_file(&b, files[i]);
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit r;

		if (getrlimit((__rlimit_resource_t)i, &r) < 0)
			return;
		kz_buf_printf(&b, NULL, "%d %llu %llu\n", i, (unsigned long long)r.rlim_cur,
			      (unsigned long long)r.rlim_max);
	}
	errno = 0;
	if (kz_buf_printf(&b, NULL, "umask %o nice %d links %lld\n", (unsigned)mask,
			  getpriority(PRIO_PROCESS, 0),
			  (long long)count_lines("/proc/self/net/dev")) == KZ_OK)
		kz_sha256_hex(b.data, b.len, v->limits_digest);
}

static const char *const places_in[KZ_VIEW_PLACES] = {
	"/",
	"/work",
	"/work/space",
	"/work/code",
	"/tmp",
	"/var/tmp",
	"/dev",
	"/dev/shm",
	"/dev/mqueue",
	"/dev/null",
	"/dev/zero",
	"/dev/full",
	"/dev/random",
	"/dev/urandom",
	"/work/shared",
	"/work/packages",
	"/work/node_modules",
};
static const char *const places_out[KZ_VIEW_PLACES] = { "/",           KZ_SPACE_AT, "/dev",
							"/dev/mqueue", "/dev/null", "/tmp",
							"/var/tmp" };

static void take_modes(struct kz_view *v, bool inside)
{
	const char *const *places = inside ? places_in : places_out;
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(TEXT_MAX);

	for (int i = 0; i < KZ_VIEW_PLACES && places[i]; i++) {
		struct stat st;

		if (lstat(places[i], &st) < 0) {
			kz_buf_printf(&b, NULL, "%s -\n", places[i]);
			continue;
		}
		v->modes[i] = (struct kz_view_mode){ st.st_mode, st.st_uid, st.st_gid,
						     (uint32_t)st.st_rdev };
		if (kz_buf_printf(&b, NULL, "%s %o %u %u %u\n", places[i], st.st_mode, st.st_uid,
				  st.st_gid, (unsigned)st.st_rdev) != KZ_OK)
			return;
	}
	kz_sha256_hex(b.data, b.len, v->modes_digest);
}

void kz_view_changed(const struct kz_view_mode now[KZ_VIEW_PLACES],
		     const struct kz_view_mode base[KZ_VIEW_PLACES], bool inside, char *out,
		     size_t size)
{
	const char *const *places = inside ? places_in : places_out;

	*out = '\0';
	for (int i = 0; i < KZ_VIEW_PLACES && places[i]; i++)
		if (memcmp(&now[i], &base[i], sizeof(now[i])) != 0) {
			(void)kz_str_format(out, size, NULL, "%s was %o %u:%u, is %o %u:%u",
					    places[i], base[i].mode & 07777u, base[i].uid,
					    base[i].gid, now[i].mode & 07777u, now[i].uid,
					    now[i].gid);
			return;
		}
}

void kz_view_take(struct kz_view *v, bool inside)
{
	*v = (struct kz_view){ .shm = count_shm(), .msg = count_msg(), .sem = count_sem() };
	v->mqueue = count_dir("/dev/mqueue");
	v->sockets = kz_view_sockets();
	take_mounts(v);
	take_limits(v);
	take_modes(v, inside);
}
