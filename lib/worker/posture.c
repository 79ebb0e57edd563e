/* Posture of process 1, read from /proc. */
#include "worker/posture.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"
#include "worker/forward.h"
#include "worker/guest.h"

#define OUTSIDE_LEAST 65536               /* below are the host's own users */
#define OWN_FILES (64 + KZ_FORWARD_FILES) /* descriptors that process 1 itself needs */

static enum kz_rc off(struct kz_err *err, const char *what)
{
	return kz_refuse(err, KZ_R_POSTURE_FAILED, "self-check: %s", what);
}

static enum kz_rc slurp(const char *path, struct kz_buf *b, struct kz_err *err)
{
	kz_buf_clear(b);
	if (kz_file_read(AT_FDCWD, path, b, NULL) != KZ_OK)
		return off(err, path);
	return KZ_OK;
}

/* all lines "inside outside count"; out: lowest outside id and the number of ids */
static enum kz_rc check_map(const char *path, int64_t count, int64_t *base, struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4096);
	int64_t all = 0;
	bool has_root = false;
	char *at;

	if (slurp(path, &b, err) != KZ_OK)
		return KZ_E_NOPERM;
	*base = INT64_MAX;
	for (at = b.data; at && *at; at += *at == '\n') {
		long long in = strtoll(at, &at, 10);
		long long out = strtoll(at, &at, 10);
		long long n = strtoll(at, &at, 10);

		if (n < 1 || out < OUTSIDE_LEAST || (*at && *at != '\n'))
			return off(err, "an id of the host is mapped");
		has_root |= in == 0;
		all += n;
		if (out < *base)
			*base = out;
	}
	if (!has_root || all != count)
		return off(err, "the user namespace maps other ids than told");
	return KZ_OK;
}

static const char *status_field(const struct kz_buf *b, const char *key)
{
	size_t n = strlen(key);

	for (const char *l = kz_buf_str(b); l && *l;
	     l = strchr(l, '\n') ? strchr(l, '\n') + 1 : NULL)
		if (strncmp(l, key, n) == 0 && l[n] == ':') {
			for (l += n + 1; *l == '\t' || *l == ' '; l++)
				;
			return l;
		}
	return "";
}

static enum kz_rc check_status(const struct kz_boot *b, struct kz_err *err)
{
	kz_auto_buf struct kz_buf s = KZ_BUF_INIT(65536);
	static const char *const exact[] = { "CapEff", "CapPrm", "CapBnd" };
	static const char *const none[] = { "CapInh", "CapAmb" };

	if (slurp("/proc/self/status", &s, err) != KZ_OK)
		return KZ_E_NOPERM;
	for (size_t i = 0; i < 3; i++)
		if (strtoull(status_field(&s, exact[i]), NULL, 16) != b->capabilities)
			return off(err, "capabilities are not exactly those told");
	for (size_t i = 0; i < 2; i++)
		if (strtoull(status_field(&s, none[i]), NULL, 16) != 0)
			return off(err, "capabilities are inheritable or ambient");
	/* asked of the kernel: gVisor does not list it */
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return off(err, "no_new_privs is not set");
	/* gVisor answers system calls itself and shows no filter */
	if (!b->single_use && *status_field(&s, "Seccomp") != '2')
		return off(err, "no system call filter is on");
	if (isdigit((unsigned char)*status_field(&s, "Groups")))
		return off(err, "supplementary groups are set");
	if (getpid() != 1 || getuid() != 0 || getgid() != 0)
		return off(err, "not process 1 and root of its namespaces");
	return KZ_OK;
}

struct mount {
	char *at, *options, *type;
};

/* cut one line of mountinfo; out: false when it is malformed */
static bool cut_mount(char *line, struct mount *m)
{
	char *save = NULL, *f = strtok_r(line, " ", &save);

	for (int i = 0; f && i < 4; i++)
		f = strtok_r(NULL, " ", &save);
	m->at = f;
	m->options = f ? strtok_r(NULL, " ", &save) : NULL;
	do
		f = m->options ? strtok_r(NULL, " ", &save) : NULL;
	while (f && !kz_str_eq(f, "-"));
	m->type = f ? strtok_r(NULL, " ", &save) : NULL;
	return m->type != NULL;
}

static bool has_option(const char *options, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = options; (s = strstr(s, word)); s += n)
		if ((s == options || s[-1] == ',') && (s[n] == 0 || s[n] == ','))
			return true;
	return false;
}

static bool is_below(const char *at, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(at, dir, n) == 0 && (at[n] == 0 || at[n] == '/');
}

static const char *judge_mount(const struct mount *m)
{
	static const char *const never[] = { "cgroup",     "cgroup2",  "sysfs",
					     "securityfs", "debugfs",  "tracefs",
					     "bpf",        "efivarfs", "devtmpfs" };
	bool is_device = is_below(m->at, "/dev") && !kz_str_eq(m->at, "/dev") &&
			 !kz_str_eq(m->at, "/dev/mqueue");

	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		if (kz_str_eq(m->type, never[i]) && !is_device && !is_below(m->at, "/proc"))
			return "a host file system is mounted";
	if (kz_str_eq(m->at, "/") && !has_option(m->options, "ro"))
		return "the root is writable";
	if (has_option(m->options, "ro") || is_device)
		return NULL;
	if (!is_below(m->at, "/proc") && !is_below(m->at, "/dev"))
		return "something writable is mounted";
	if (!has_option(m->options, "nosuid"))
		return "a writable mount lacks nosuid";
	if (is_below(m->at, "/proc") &&
	    (!has_option(m->options, "nodev") && !kz_str_eq(m->type, "tmpfs") &&
	     !kz_str_eq(m->type, "devtmpfs")))
		return "/proc lacks nodev";
	return NULL;
}

/*
 * Under a kernel of its own: what comes from the host is read-only but for the
 * directory of the control socket; all else is that kernel's and ends with it.
 */
static const char *judge_guest_mount(const struct mount *m, const char *control)
{
	static const char *const its_own[] = { "proc", "sysfs", "tmpfs", "devpts", "mqueue" };
	size_t n = strlen(m->at);

	if (has_option(m->options, "ro"))
		return NULL;
	if (kz_str_eq(m->at, "/"))
		return "the root is writable";
	for (size_t i = 0; i < sizeof its_own / sizeof *its_own; i++)
		if (kz_str_eq(m->type, its_own[i]))
			return NULL;
	/* the control path is this directory and one name in it */
	if (strncmp(control, m->at, n) == 0 && control[n] == '/' && !strchr(control + n + 1, '/'))
		return NULL;
	return "something writable of the host is mounted";
}

static enum kz_rc check_mounts(const struct kz_boot *b, struct kz_err *err)
{
	kz_auto_buf struct kz_buf table = KZ_BUF_INIT(1 << 20);
	char *line, *save = NULL;
	bool has_root = false;

	if (slurp("/proc/self/mountinfo", &table, err) != KZ_OK)
		return KZ_E_NOPERM;
	for (line = strtok_r(table.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct mount m;
		const char *bad = "mountinfo is malformed";

		if (cut_mount(line, &m))
			bad = b->single_use ? judge_guest_mount(&m, b->control_path) :
					      judge_mount(&m);

		if (bad)
			return off(err, bad);
		has_root |= kz_str_eq(m.at, "/");
	}
	if (!has_root || faccessat(AT_FDCWD, "/", W_OK, AT_EACCESS) == 0)
		return off(err, "the root is writable");
	return KZ_OK;
}

static int count_lines(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static enum kz_rc check_network(struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(65536);

	/* two lines of heading, one of lo */
	if (slurp("/proc/self/net/dev", &b, err) != KZ_OK)
		return KZ_E_NOPERM;
	if (count_lines(kz_buf_str(&b)) > 3 ||
	    (count_lines(kz_buf_str(&b)) == 3 && !strstr(b.data, " lo:")))
		return off(err, "there is another network interface than loopback");
	if (slurp("/proc/self/net/route", &b, err) != KZ_OK)
		return KZ_E_NOPERM;
	if (count_lines(kz_buf_str(&b)) > 1)
		return off(err, "there is a network route");
	return KZ_OK;
}

static enum kz_rc check_descriptors(const struct kz_boot *b, struct kz_err *err)
{
	kz_auto_closedir DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	struct rlimit r;

	if (!d)
		return off(err, "/proc/self/fd");
	while ((e = readdir(d))) {
		int64_t n;

		if (kz_str_int(e->d_name, 0, 1 << 20, &n, NULL) != KZ_OK)
			continue;
		if (n > 2 && n != dirfd(d) && !kz_boot_owns_fd(b, (int)n))
			return off(err, "a descriptor is open that nobody named");
	}
	if (getrlimit(RLIMIT_NOFILE, &r) < 0 ||
	    (r.rlim_max != RLIM_INFINITY && (int64_t)r.rlim_max < b->open_files + OWN_FILES))
		return off(err, "the hard limit of open files is too low");
	if (getrlimit(RLIMIT_CORE, &r) < 0 || r.rlim_max < 1)
		return off(err, "the hard limit of core files is 0");
	return KZ_OK;
}

/*
 * A directory of the host that process 1 holds must be a mount of its own:
 * read-only, and its top has no parent, so that there is no way up from it.
 */
static enum kz_rc check_way(const struct kz_boot *b, enum kz_way way, struct kz_err *err)
{
	const unsigned long wanted = ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC;
	kz_auto_close int up = -1;
	struct statvfs v;
	struct stat here, above;
	int dir = b->fds.way_dirs[way];

	if (dir < 0)
		return KZ_OK;
	if (fstatvfs(dir, &v) < 0 || (v.f_flag & wanted) != wanted)
		return off(err, "the directory of a way out is not read-only");
	up = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (up < 0 || fstat(dir, &here) < 0 || fstat(up, &above) < 0 || !S_ISDIR(here.st_mode) ||
	    here.st_dev != above.st_dev || here.st_ino != above.st_ino)
		return off(err, "the directory of a way out leads out of itself");
	return KZ_OK;
}

static struct kz_json *capability_names(uint64_t mask)
{
	struct kz_json *a = kz_json_array();
	static const struct {
		const char *name;
		int bit;
	} all[] = {
#define X(name, number, why) { #name, number },
#include "rule/worker_caps.tbl"
#undef X
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (mask & (1ULL << all[i].bit))
			kz_json_append(a, kz_json_string(all[i].name));
	return a;
}

enum kz_rc kz_posture_check(const struct kz_boot *b, struct kz_json **posture, struct kz_err *err)
{
	int64_t uid = 0, gid = 0;
	struct kz_json *o;
	enum kz_rc rc = KZ_OK;

	/* a kernel of its own has users of its own: its map tells nothing of the host */
	if (!b->single_use)
		rc = check_map("/proc/self/uid_map", b->uid_count, &uid, err);
	if (rc == KZ_OK && !b->single_use)
		rc = check_map("/proc/self/gid_map", b->uid_count, &gid, err);
	if (rc == KZ_OK)
		rc = check_status(b, err);
	if (rc == KZ_OK)
		rc = check_mounts(b, err);
	if (rc == KZ_OK)
		rc = check_network(err);
	if (rc == KZ_OK)
		rc = check_descriptors(b, err);
	for (int i = 0; i < KZ_WAYS && rc == KZ_OK; i++)
		rc = check_way(b, (enum kz_way)i, err);
	if (rc != KZ_OK)
		return rc;
	o = kz_json_object();
	if (!b->single_use) {
		kz_json_set_int(o, "uid_base", uid);
		kz_json_set_int(o, "gid_base", gid);
	}
	kz_json_set_str(o, "kernel", b->single_use ? kz_guest_kernel() : "shared");
	kz_json_set_int(o, "uid_count", b->uid_count);
	kz_json_set(o, "capabilities", capability_names(b->capabilities));
	kz_json_set_bool(o, "no_new_privs", true);
	kz_json_set_int(o, "seccomp", prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
	kz_json_set_bool(o, "root_readonly", true);
	kz_json_set_str(o, "network", "loopback");
	kz_json_set_bool(o, "single_use", b->single_use);
	*posture = o;
	return KZ_OK;
}
