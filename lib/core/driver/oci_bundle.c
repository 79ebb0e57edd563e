#include "core/driver/oci_part.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/driver/seccomp.h"
#include "port/json.h"
#include "rule/reason.h"

#define CONFIG_MAX (256 << 10)
#define WORKER_PIDS 32
#define WORKER_OOM_ADJ                                                                             \
	500 /* when the machine is out of memory, a worker goes before the host's own programs */
#define WORKER_FILES 224 /* descriptors of process 1 beyond what a tenant may have */

static struct kz_json *list(const char *first, ...) __attribute__((sentinel));
static struct kz_json *list(const char *first, ...)
{
	struct kz_json *a = kz_json_array();
	va_list ap;

	va_start(ap, first);
	for (const char *s = first; s; s = va_arg(ap, const char *))
		kz_json_append(a, kz_json_string(s));
	va_end(ap);
	return a;
}

static struct kz_json *capabilities(void)
{
	static const char *const sets[] = { "bounding", "effective", "permitted" };
	struct kz_json *o = kz_json_object();

	for (size_t i = 0; i < 3; i++)
		kz_json_set(o, sets[i],
			    list(
#define X(name, number, what) "CAP_" #name,
#include "rule/worker_caps.tbl"
#undef X
				    NULL));
	kz_json_set(o, "inheritable", kz_json_array());
	kz_json_set(o, "ambient", kz_json_array());
	return o;
}

static void add_rlimit(struct kz_json *limits, const char *type, int64_t n)
{
	struct kz_json *l = kz_json_object();

	kz_json_set_str(l, "type", type);
	kz_json_set_int(l, "soft", n);
	kz_json_set_int(l, "hard", n);
	kz_json_append(limits, l);
}

/*
 * Always told, as it is also the least that a tenant can set for itself, and a
 * supervisor may have protected us; never lower than ours, which takes a privilege.
 */
static int64_t oom_adj(void)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(64);
	int64_t ours = 0;

	if (kz_file_read(AT_FDCWD, "/proc/self/oom_score_adj", &b, NULL) == KZ_OK)
		ours = strtoll(kz_buf_str(&b), NULL, 10);
	return ours > WORKER_OOM_ADJ ? ours : WORKER_OOM_ADJ;
}

static struct kz_json *process(const struct kz_oci *o)
{
	struct kz_json *p = kz_json_object();
	struct kz_json *user = kz_json_object();
	struct kz_json *limits = kz_json_array();

	kz_json_set_int(user, "uid", 0);
	kz_json_set_int(user, "gid", 0);
	/* 1, not 0: the kernel's value for "no pipe", so that no core handler of the host runs. */
	add_rlimit(limits, "RLIMIT_CORE", 1);
	add_rlimit(limits, "RLIMIT_NOFILE", o->conf.set.kz_run_open_files + WORKER_FILES);
	kz_json_set_bool(p, "terminal", false);
	kz_json_set(p, "user", user);
	kz_json_set(p, "args", list("/.kz/kz-worker", NULL));
	kz_json_set(p, "env", kz_json_array());
	kz_json_set_str(p, "cwd", "/");
	kz_json_set(p, "capabilities", capabilities());
	kz_json_set(p, "rlimits", limits);
	kz_json_set_int(p, "oomScoreAdj", oom_adj());
	kz_json_set_bool(p, "noNewPrivileges", true);
	return p;
}

static void add_mount(struct kz_json *mounts, const char *place, const char *type,
		      const char *source, struct kz_json *options)
{
	struct kz_json *m = kz_json_object();

	kz_json_set_str(m, "destination", place);
	kz_json_set_str(m, "type", type);
	kz_json_set_str(m, "source", source ? source : type);
	kz_json_set(m, "options", options);
	kz_json_append(mounts, m);
}

/* Nothing covers a part of /proc: the kernel allows a fresh one inside only where the outer one is whole. */
static struct kz_json *mounts(const char *control)
{
	struct kz_json *a = kz_json_array();

	add_mount(a, "/proc", "proc", NULL, list("nosuid", "noexec", "nodev", NULL));
	add_mount(a, "/dev", "tmpfs", NULL,
		  list("nosuid", "strictatime", "mode=755", "size=65536k", NULL));
	if (control)
		add_mount(a, KZ_OCI_CONTROL, "bind", control,
			  list("bind", "rw", "nosuid", "noexec", "nodev", NULL));
	else
		add_mount(a, "/dev/mqueue", "mqueue", NULL,
			  list("nosuid", "noexec", "nodev", NULL));
	return a;
}

static struct kz_json *id_map(uint32_t base)
{
	static const int64_t inside[KZ_OCI_MAPPED] = { 0, KZ_OCI_TENANT, KZ_OCI_NOBODY };
	struct kz_json *a = kz_json_array();

	for (int i = 0; i < KZ_OCI_MAPPED; i++) {
		struct kz_json *m = kz_json_object();

		kz_json_set_int(m, "containerID", inside[i]);
		kz_json_set_int(m, "hostID", (int64_t)base + i);
		kz_json_set_int(m, "size", 1);
		kz_json_append(a, m);
	}
	return a;
}

static struct kz_json *namespaces(void)
{
	static const char *const types[] = { "user",  "pid",     "ipc",   "uts",
					     "mount", "network", "cgroup" };
	struct kz_json *a = kz_json_array();

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		struct kz_json *n = kz_json_object();

		kz_json_set_str(n, "type", types[i]);
		kz_json_append(a, n);
	}
	return a;
}

static struct kz_json *resources(const struct kz_oci *o)
{
	struct kz_json *r = kz_json_object();
	struct kz_json *devices = kz_json_array();
	struct kz_json *none = kz_json_object();
	struct kz_json *memory = kz_json_object();
	struct kz_json *pids = kz_json_object();

	kz_json_set_bool(none, "allow", false);
	kz_json_set_str(none, "access", "rwm");
	kz_json_append(devices, none);
	/* files that are put in, and output that waits for a slow reader, are charged to process 1 */
	kz_json_set_int(memory, "limit", kz_oci_worker_memory(&o->conf.set));
	kz_json_set_int(pids, "limit", WORKER_PIDS);
	kz_json_set(r, "devices", devices);
	kz_json_set(r, "memory", memory);
	kz_json_set(r, "pids", pids);
	return r;
}

#ifdef KZ_FAULT_BUILD
static struct kz_json *allow_key(void)
{
	struct kz_json *o = kz_json_object();

	kz_json_set(o, "names", list("add_key", NULL));
	kz_json_set_str(o, "action", "SCMP_ACT_ALLOW");
	return o;
}
#endif

/* The profile without what only people read. */
static struct kz_json *seccomp(struct kz_err *err)
{
	kz_auto_json struct kz_json *file = NULL;
	struct kz_json *out;
	struct kz_json *calls;
	static const char *const keys[] = { "names", "action", "args" };

	if (kz_json_parse(kz_seccomp_worker(), kz_seccomp_worker_size(), &file, err))
		return NULL;
	out = kz_json_object();
	calls = kz_json_array();
	kz_json_set_str(out, "defaultAction",
			kz_json_str(file, "defaultAction", "SCMP_ACT_KILL_PROCESS"));
	kz_json_set_int(out, "defaultErrnoRet", kz_json_num(file, "defaultErrnoRet", 38));
	for (size_t i = 0; i < kz_json_count(kz_json_get(file, "syscalls")); i++) {
		struct kz_json *from = kz_json_at(kz_json_get(file, "syscalls"), i);
		struct kz_json *to = kz_json_object();

		for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
			if (kz_json_get(from, keys[k]))
				kz_json_set(to, keys[k], kz_json_ref(kz_json_get(from, keys[k])));
		kz_json_append(calls, to);
	}
#ifdef KZ_FAULT_BUILD
	/* so that a test can leave a key behind and see the reset refused for it */
	kz_json_append(calls, allow_key());
#endif
	kz_json_set(out, "syscalls", calls);
	return out;
}

static enum kz_rc linux_part(const struct kz_oci *o, const struct kz_oci_record *r,
			     struct kz_json **out, struct kz_err *err)
{
	struct kz_json *filter = seccomp(err);
	struct kz_json *l;
	char path[400];

	if (!filter)
		return kz_err_wrap(err, "policy/seccomp/worker.json");
	l = kz_json_object();
	kz_json_set(l, "uidMappings", id_map(r->uid_base));
	kz_json_set(l, "gidMappings", id_map(r->uid_base));
	kz_json_set(l, "namespaces", namespaces());
	kz_json_set(l, "maskedPaths", kz_json_array());
	kz_json_set(l, "readonlyPaths", kz_json_array());
	kz_json_set_str(l, "rootfsPropagation", "rprivate");
	kz_json_set(l, "seccomp", filter);
	if (r->rt.flavor != KZ_OCI_RUNSC)
		kz_json_set(l, "resources", resources(o));
	*out = l;
	/* Version 1: relative to the place that the starting process has in each hierarchy.  Version 2: from the top. */
	if (kz_cg_container_path(&r->cg, path, sizeof path, err))
		return KZ_E_DATA;
	kz_json_set_str(l, "cgroupsPath", path);
	return KZ_OK;
}

/* A limit that this process cannot give is found here, with its setting's name, not by the runtime. */
static enum kz_rc check_files(const struct kz_oci *o, struct kz_err *err)
{
	int64_t wanted = o->conf.set.kz_run_open_files + WORKER_FILES;
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot read the descriptor limit");
	if (l.rlim_max != RLIM_INFINITY && (int64_t)l.rlim_max < wanted) {
		l.rlim_max = (rlim_t)wanted;
		if (setrlimit(RLIMIT_NOFILE, &l) != 0)
			return kz_refuse(
				err, KZ_R_SETTING_INVALID,
				"KZ_RUN_OPEN_FILES needs a descriptor limit of %lld, here is less",
				(long long)wanted);
	}
	return KZ_OK;
}

enum kz_rc kz_oci_bundle_write(const struct kz_oci *o, const struct kz_oci_record *r,
			       const char *bundle, const char *root, const char *control,
			       struct kz_err *err)
{
	kz_auto_json struct kz_json *c = kz_json_object();
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(CONFIG_MAX);
	kz_auto_close int fd = -1;
	struct kz_json *place = kz_json_object();
	struct kz_json *l = NULL;
	char path[KZ_OCI_PATH];
	enum kz_rc rc;

	kz_json_set_str(place, "path", root);
	kz_json_set_bool(place, "readonly", true);
	kz_json_set_str(c, "ociVersion", "1.0.2");
	kz_json_set(c, "process", process(o));
	kz_json_set(c, "root", place);
	kz_json_set_str(c, "hostname", "kz");
	kz_json_set(c, "mounts", mounts(r->rt.single_use ? control : NULL));
	rc = check_files(o, err);
	if (!rc)
		rc = linux_part(o, r, &l, err);
	if (l)
		kz_json_set(c, "linux", l);
	if (rc)
		return rc;
	if (kz_json_write(c, &text, err) ||
	    kz_str_format(path, sizeof path, err, "%s/config.json", bundle))
		return err ? err->rc : KZ_E_OS;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot make %s", path);
	return kz_fd_write_all(fd, text.data, text.len, err);
}
