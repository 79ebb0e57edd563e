/* Taking the census. */
#include "worker/census.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "port/seal.h"
#include "worker/dirty.h"
#include "worker/gauge.h"
#include "worker/view.h"

#define MOST 1000000

static void put(struct kz_census *c, enum kz_surface s, int64_t now)
{
	c->at[s].now = now;
}

static int64_t sum(int64_t a, int64_t b)
{
	return a < 0 || b < 0 ? -1 : a + b;
}

/* two digests as one; none when one is missing, and the reading is none then */
static void put_digest(struct kz_census *c, enum kz_surface s, const char *a, const char *b)
{
	char both[130];

	if (!*a || !*b) {
		c->at[s].now = -1;
		return;
	}
	if (kz_str_format(both, sizeof both, NULL, "%s %s", a, b) == KZ_OK)
		kz_sha256_hex(both, strlen(both), c->at[s].digest);
}

void kz_census_empty(struct kz_census *c, const struct kz_boot *b)
{
	*c = (struct kz_census){ 0 };
	for (int i = 0; i < KZ_SURFACE_COUNT; i++)
		c->at[i].now = -1;
	put(c, KZ_SURFACE_CGROUP, sum(kz_gauge_pids(b), kz_gauge_processes(b)));
}

static int64_t count_processes(void)
{
	kz_auto_closedir DIR *d = opendir("/proc");
	struct dirent *e;
	int64_t n = 0;

	if (!d)
		return -1;
	for (errno = 0; (e = readdir(d)); errno = 0)
		n += isdigit((unsigned char)e->d_name[0]) != 0;
	return errno ? -1 : n - kz_dirty_processes();
}

static int64_t count_descriptors(int clients)
{
	kz_auto_closedir DIR *d = opendir("/proc/self/fd");
	int64_t n = 0;

	if (!d)
		return -1;
	for (errno = 0; readdir(d); errno = 0)
		n++;
	return errno ? -1 : n - 3 /* "." ".." and the listing itself */ - clients;
}

int64_t kz_census_keys(void)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(65536);
	int64_t n = 0;

	if (kz_file_read(AT_FDCWD, "/proc/key-users", &b, NULL) != KZ_OK)
		return -1;
	/* "  uid: usage nkeys/nikeys qnkeys/max qnbytes/max" */
	for (const char *l = kz_buf_str(&b); *l;) {
		const char *colon = strchr(l, ':'), *end = strchr(l, '\n');
		char *at;

		if (!colon || !end || colon > end)
			return -1;
		strtoll(colon + 1, &at, 10);
		n += strtoll(at, NULL, 10);
		l = end + 1;
	}
	return n;
}

/* A descriptor that was sent and never received lives in flight; the collector runs when a socket closes. */
static void collect_in_flight(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
}

static int64_t has_more(int64_t entries, int64_t own)
{
	return entries < 0 ? -1 : entries - own;
}

/* The bounds of a file system: those of the next tenant's have to be the same. */
static void put_sizes(struct kz_census *c, enum kz_surface s, const struct kz_space_use *u)
{
	char sizes[64];

	(void)kz_str_format(sizes, sizeof sizes, NULL, "%lld/%lld", (long long)u->bytes_total,
			    (long long)u->inodes_total);
	kz_sha256_hex(sizes, strlen(sizes), c->at[s].digest);
}

static void take_packages(struct kz_census *c, const struct kz_space *s)
{
	struct kz_space_use u;

	/* nothing is there: no name, and nothing without one that is held open */
	put(c, KZ_SURFACE_PACKAGES, kz_space_beyond_root(s->packages));
	if (kz_space_use(s->packages, &u, NULL) == KZ_OK)
		put_sizes(c, KZ_SURFACE_PACKAGES, &u);
}

static void take_space(struct kz_census *c, const struct kz_space *s)
{
	struct kz_space_use u;
	int64_t home = kz_space_entries(s, KZ_SPACE_HOME, MOST);
	int64_t code = kz_space_entries(s, KZ_SPACE_CODE, MOST);
	int64_t work = kz_space_entries(s, KZ_SPACE_WORK, MOST);
	int64_t tmp = sum(kz_space_entries(s, KZ_SPACE_TMP, MOST),
			  kz_space_entries(s, KZ_SPACE_VTMP, MOST));
	int64_t shm = kz_space_entries(s, KZ_SPACE_SHM, MOST);
	int64_t listed = sum(sum(work, tmp), shm);

	put(c, KZ_SURFACE_WORKSPACE, sum(home, code));
	put(c, KZ_SURFACE_TMP, tmp);
	put(c, KZ_SURFACE_SHM_FILES, shm);
	/* what lies in /work beside its own directories, and whatever the place of shared files holds */
	put(c, KZ_SURFACE_PROJECTION,
	    home < 0 || code < 0 ? -1 :
				   sum(has_more(work, KZ_SPACE_IN_WORK + home + code),
				       kz_space_beyond_root(s->shared)));
	if (listed < 0 || kz_space_use(s->dir, &u, NULL) != KZ_OK)
		return;
	/* used and shown by no listing: held open though its name is gone */
	put(c, KZ_SURFACE_DISK,
	    u.bytes_used + u.inodes_used - (KZ_SPACE_OWN_INODES - KZ_SPACE_IN_WORK) - listed);
	put_sizes(c, KZ_SURFACE_DISK, &u);
}

enum kz_rc kz_census_take(struct kz_census *c, const struct kz_boot *b, const struct kz_space *s,
			  struct kz_wall *w, int clients, struct kz_deadline until,
			  struct kz_err *err)
{
	struct kz_view in, out;
	enum kz_rc rc;

	(void)b;
	collect_in_flight();
	/* both sides of the wall measure at the same time */
	rc = kz_wall_view_ask(w, err);
	if (rc != KZ_OK)
		return rc;
	take_space(c, s);
	take_packages(c, s);
	put(c, KZ_SURFACE_PROCESSES, count_processes());
	put(c, KZ_SURFACE_DESCRIPTORS, count_descriptors(clients));
	put(c, KZ_SURFACE_KEYS, kz_census_keys());
	kz_view_take(&out, false);
	rc = kz_wall_view(w, until, &in, err);
	if (rc != KZ_OK)
		return rc;
	put(c, KZ_SURFACE_SYSV_SHM, sum(in.shm, out.shm));
	put(c, KZ_SURFACE_SYSV_MSG, sum(in.msg, out.msg));
	put(c, KZ_SURFACE_SYSV_SEM, sum(in.sem, out.sem));
	put(c, KZ_SURFACE_MQUEUE, sum(in.mqueue, out.mqueue));
	put(c, KZ_SURFACE_SOCKETS, sum(in.sockets, out.sockets));
	put(c, KZ_SURFACE_MOUNTS, sum(in.mounts, out.mounts));
	put(c, KZ_SURFACE_PROJECTION, sum(c->at[KZ_SURFACE_PROJECTION].now, in.projection));
	put(c, KZ_SURFACE_MODES, 0);
	put(c, KZ_SURFACE_LIMITS, 0);
	put_digest(c, KZ_SURFACE_MOUNTS, in.mounts_digest, out.mounts_digest);
	put_digest(c, KZ_SURFACE_MODES, in.modes_digest, out.modes_digest);
	memcpy(c->modes_in, in.modes, sizeof c->modes_in);
	memcpy(c->modes_out, out.modes, sizeof c->modes_out);
	put_digest(c, KZ_SURFACE_LIMITS, in.limits_digest, out.limits_digest);
	return KZ_OK;
}

bool kz_census_whole(const struct kz_census *c, int *missing)
{
	for (int i = 0; i < KZ_SURFACE_COUNT; i++)
		if (c->at[i].now < 0) {
			*missing = i;
			return false;
		}
	return true;
}
