#include "core/driver/oci_part.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/driver/oci_rootless.h"
#include "port/json.h"
#include "rule/reason.h"

#define KEPT_MAX (256 << 10)
#define CANDIDATES 3

static const char *const known[CANDIDATES] = { "runc", "crun", "runsc" };

/* The i-th runtime to try: the chosen one alone, or all that are known. */
static const char *candidate(const struct kz_oci *o, size_t i)
{
	if (o->conf.set.kz_runtime[0])
		return i == 0 ? o->conf.set.kz_runtime : NULL;
	return i < CANDIDATES ? known[i] : NULL;
}

static void add_stamp(struct kz_buf *b, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0)
		kz_buf_printf(b, NULL, "%s %llu %lld %lld.%09ld\n", path,
			      (unsigned long long)st.st_ino, (long long)st.st_size,
			      (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* Everything on which the outcome rests: as long as it is the same, trying again tells nothing new. */
static enum kz_rc key_of(const struct kz_oci *o, char out[KZ_SHA256_HEX], struct kz_err *err)
{
	static const char *const places[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					      "/usr/bin",        "/sbin",          "/bin" };
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(16 << 10);
	const struct kz_settings *s = &o->conf.set;
	struct utsname u;
	const char *name;

	if (uname(&u) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot ask for the kernel");
	if (kz_buf_printf(&b, err, "1 %s %s %s %s %lld %lld %lld %lld\n", u.release, u.version,
			  s->kz_runtime, s->kz_image, (long long)s->kz_run_memory_bytes,
			  (long long)s->kz_run_pids, (long long)s->kz_run_open_files,
			  (long long)s->kz_uid_base))
		return KZ_E_OS;
	for (size_t i = 0; (name = candidate(o, i)) != NULL; i++) {
		if (name[0] == '/')
			add_stamp(&b, name);
		for (size_t k = 0; name[0] != '/' && k < sizeof places / sizeof places[0]; k++) {
			char path[512];

			if (!kz_str_format(path, sizeof path, NULL, "%s/%s", places[k], name))
				add_stamp(&b, path);
		}
	}
	add_stamp(&b, o->worker);
	kz_sha256_hex(b.data, b.len, out);
	return KZ_OK;
}

/* One whole worker under this runtime: made, checked by itself, removed. out: posture (new) */
static enum kz_rc try_one(struct kz_oci *o, const char *name, struct kz_json **posture,
			  struct kz_err *err)
{
	char worker[64];
	char instance[KZ_ID_HEX];
	bool is_certain;
	enum kz_rc rc;

	*posture = NULL;
	rc = kz_oci_runtime_find(name, &o->rt, err);
	if (!rc && o->is_rootless && o->rt.flavor != KZ_OCI_RUNC && o->rt.flavor != KZ_OCI_CRUN)
		rc = kz_refuse(err, KZ_R_RUNTIME_UNAVAILABLE,
			       "%s is used by root only; other users have runc and crun", name);
	if (!rc)
		rc = kz_oci_image(o, err);
	if (rc)
		return rc;
	kz_random_id(instance);
	rc = kz_str_format(worker, sizeof worker, err, "probe-%.12s", instance);
	if (!rc)
		rc = kz_oci_create(o, worker, instance, true, posture, &is_certain, err);
	if (!rc)
		rc = kz_oci_delete(o, worker, instance, err);
	return rc;
}

/* What was found about one runtime, as a line of the report (new). */
static struct kz_json *finding(const struct kz_oci *o, const char *name, enum kz_rc rc,
			       struct kz_json *posture, const struct kz_err *err)
{
	struct kz_json *f = kz_json_object();

	kz_json_set_str(f, "name", name);
	kz_json_set_bool(f, "ok", rc == KZ_OK);
	kz_json_set_str(f, "runtime", o->rt.path);
	kz_json_set_str(f, "version", o->rt.version);
	kz_json_set_int(f, "flavor", o->rt.flavor);
	kz_json_set_bool(f, "single_use", o->rt.single_use);
	if (rc) {
		kz_json_set_str(f, "reason",
				err->reason[0] ? err->reason :
						 kz_reason_code(KZ_R_RUNTIME_UNAVAILABLE));
		kz_json_set_str(f, "text", err->text);
	}
	kz_json_set(f, "posture", posture ? posture : kz_json_null());
	return f;
}

static enum kz_rc take(struct kz_oci *o, const struct kz_json *f, struct kz_err *err)
{
	o->rt.flavor = (enum kz_oci_flavor)kz_json_num(f, "flavor", KZ_OCI_OTHER);
	o->rt.single_use = kz_json_flag(f, "single_use", true);
	if (kz_str_copy(o->rt.path, sizeof o->rt.path, kz_json_str(f, "runtime", ""), err) ||
	    kz_str_copy(o->rt.version, sizeof o->rt.version, kz_json_str(f, "version", ""), err))
		return KZ_E_DATA;
	return KZ_OK;
}

/* The first that works, borrowed from the report; NULL when none does. */
static struct kz_json *first_ok(const struct kz_json *report)
{
	struct kz_json *list = kz_json_get(report, "candidates");

	for (size_t i = 0; i < kz_json_count(list); i++)
		if (kz_json_flag(kz_json_at(list, i), "ok", false))
			return kz_json_at(list, i);
	return NULL;
}

static enum kz_rc refuse(const struct kz_oci *o, const struct kz_json *report, struct kz_err *err)
{
	struct kz_json *list = kz_json_get(report, "candidates");
	struct kz_json *f = kz_json_at(list, 0);

	/* A chosen runtime is never replaced by another [RT-6]; of several the first one's trouble is told. */
	return kz_refuse(err, KZ_R_RUNTIME_UNAVAILABLE, "%s%s: %s",
			 o->conf.set.kz_runtime[0] ? "KZ_RUNTIME " : "no runtime works; ",
			 kz_json_str(f, "name", "none"), kz_json_str(f, "text", "no text"));
}

static enum kz_rc keep(const struct kz_json *report, const char *path, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KEPT_MAX);

	if (kz_json_write(report, &text, err))
		return KZ_E_OS;
	return kz_file_replace(AT_FDCWD, path, text.data, text.len, 0640, (gid_t)-1, err);
}

static struct kz_json *try_them(struct kz_oci *o, const char *key, enum kz_oci_effort effort)
{
	struct kz_json *report = kz_json_object();
	struct kz_json *list = kz_json_array();
	const char *name;

	for (size_t i = 0; (name = candidate(o, i)) != NULL; i++) {
		struct kz_err err = KZ_ERR_INIT;
		struct kz_json *posture = NULL;
		enum kz_rc rc;

		memset(&o->rt, 0, sizeof o->rt);
		rc = try_one(o, name, &posture, &err);
		kz_json_append(list, finding(o, name, rc, posture, &err));
		if (!rc && effort != KZ_OCI_EACH)
			break;
	}
	kz_json_set_str(report, "key", key);
	kz_json_set(report, "candidates", list);
	return report;
}

enum kz_rc kz_oci_probe(struct kz_oci *o, enum kz_oci_effort effort, struct kz_json **report,
			struct kz_err *err)
{
	kz_auto_json struct kz_json *found = NULL;
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KEPT_MAX);
	char path[KZ_OCI_PATH];
	char key[KZ_SHA256_HEX];
	struct kz_json *ok;

	if (kz_oci_path(o, path, err, "run/oci/probe.json") || key_of(o, key, err))
		return KZ_E_DATA;
	if (effort == KZ_OCI_KEPT && !kz_file_read(AT_FDCWD, path, &text, NULL) &&
	    !kz_json_parse(kz_buf_str(&text), text.len, &found, NULL) &&
	    kz_str_eq(kz_json_str(found, "key", ""), key) && (ok = first_ok(found)) != NULL)
		return take(o, ok, err);
	if (o->is_rootless && kz_rootless_cgroup_check(err))
		return err ? err->rc : KZ_E_UNAVAILABLE;
	kz_json_free(found);
	found = try_them(o, key, effort);
	ok = first_ok(found);
	/* Only what worked is kept: trouble may pass. */
	if (ok && keep(found, path, err))
		return err ? err->rc : KZ_E_IO;
	if (report)
		*report = kz_json_ref(found);
	return ok ? take(o, ok, err) : refuse(o, found, err);
}
