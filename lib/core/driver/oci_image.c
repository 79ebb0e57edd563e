#include "core/driver/oci_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/driver/seccomp.h"
#include "rule/reason.h"

#define FILE_MAX (256 << 20)
#define PACKAGES "/var/lib/dpkg/status"

static enum kz_rc unavailable(struct kz_err *err)
{
	return kz_err_reason(err, kz_reason_code(KZ_R_IMAGE_UNAVAILABLE));
}

/* What a file is as long as nobody touched it. */
static enum kz_rc stamp_of(const char *path, char *out, size_t size, struct kz_err *err)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return kz_err_sys(err, KZ_E_NOINPUT, "cannot look at %s", path);
	return kz_str_format(out, size, err, "%llu:%llu:%lld:%lld.%09ld:%lld.%09ld",
			     (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
			     (long long)st.st_size, (long long)st.st_mtim.tv_sec,
			     st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

enum kz_rc kz_oci_hash(int fd, char out[KZ_SHA256_HEX], struct kz_err *err)
{
	struct kz_sha256 h;
	char block[64 << 10];
	ssize_t n;

	kz_sha256_start(&h);
	while ((n = read(fd, block, sizeof block)) > 0)
		kz_sha256_add(&h, block, (size_t)n);
	if (n < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot read it");
	kz_sha256_end(&h, out);
	return KZ_OK;
}

static enum kz_rc hash_file(const char *path, char out[KZ_SHA256_HEX], struct kz_err *err)
{
	kz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return kz_err_sys(err, KZ_E_NOINPUT, "cannot open %s", path);
	return kz_oci_hash(fd, out, err) ? kz_err_wrap(err, "%s", path) : KZ_OK;
}

/* The digest of a file, remembered beside its stamp so that a create need not read megabytes. */
static enum kz_rc digest_of(const struct kz_oci *o, const char *path, char out[KZ_SHA256_HEX],
			    struct kz_err *err)
{
	kz_auto_buf struct kz_buf kept = KZ_BUF_INIT(512);
	char name[KZ_SHA256_HEX];
	char place[KZ_OCI_PATH];
	char stamp[160];
	char line[256];

	kz_sha256_hex(path, strlen(path), name);
	if (stamp_of(path, stamp, sizeof stamp, err) ||
	    kz_oci_path(o, place, err, "run/oci/digest-%.16s", name))
		return err ? err->rc : KZ_E_DATA;
	if (!kz_file_read(AT_FDCWD, place, &kept, NULL) &&
	    kept.len == strlen(stamp) + 1 + KZ_SHA256_HEX - 1 &&
	    kz_str_has_prefix(kz_buf_str(&kept), stamp))
		return kz_str_copy(out, KZ_SHA256_HEX, kz_buf_str(&kept) + strlen(stamp) + 1, err);
	if (hash_file(path, out, err) || kz_str_format(line, sizeof line, err, "%s %s", stamp, out))
		return err ? err->rc : KZ_E_IO;
	return kz_file_replace(AT_FDCWD, place, line, strlen(line), 0640, (gid_t)-1, err);
}

/* One line of a description: what a file holds, or that it is not there. */
static enum kz_rc add_file(const struct kz_oci *o, struct kz_buf *b, const char *path,
			   bool is_needed, struct kz_err *err)
{
	char digest[KZ_SHA256_HEX] = "absent";

	if ((is_needed || access(path, F_OK) == 0) && digest_of(o, path, digest, err))
		return unavailable(err);
	return kz_buf_printf(b, err, "%s %s\n", path, digest);
}

/* What the layers are made of: their name is its digest. */
static enum kz_rc describe_layers(const struct kz_oci *o, struct kz_buf *b, struct kz_err *err)
{
	static const char *const copied[] = { "/etc/ld.so.cache", "/etc/ld.so.conf",
					      "/etc/matplotlibrc",
					      "/etc/ssl/certs/ca-certificates.crt" };
	const char *image = o->conf.set.kz_image;
	char manifest[KZ_OCI_PATH];

	if (kz_buf_printf(b, err, "kz-layers 1 %s\n", image) ||
	    add_file(o, b, o->worker, true, err))
		return err ? err->rc : KZ_E_OS;
	if (!kz_str_eq(image, "host")) {
		if (kz_str_format(manifest, sizeof manifest, err, "%s/manifest.json", image))
			return KZ_E_DATA;
		return add_file(o, b, manifest, true, err);
	}
	for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++)
		if (add_file(o, b, copied[i], false, err))
			return err ? err->rc : KZ_E_OS;
	return add_file(o, b, PACKAGES, true, err);
}

/* Everything else that a worker depends on. */
static enum kz_rc describe_rest(const struct kz_oci *o, const char *layers, struct kz_buf *b,
				struct kz_err *err)
{
	const struct kz_settings *s = &o->conf.set;
	char filter[KZ_SHA256_HEX];

	kz_sha256_hex(kz_seccomp_worker(), kz_seccomp_worker_size(), filter);
	return kz_buf_printf(
		b, err,
		"kz-image 1\nlayers %s\nseccomp %s\nruntime %s %s\nmemory %lld\npids %lld\n"
		"disk %lld\ninodes %lld\npackages %lld %lld\ncpus %lld\nfiles %lld\noutput %lld\n"
#define X(name, number, what) "cap " #name "\n"
#include "rule/worker_caps.tbl"
#undef X
		,
		layers, filter, o->rt.path, o->rt.version, (long long)s->kz_run_memory_bytes,
		(long long)s->kz_run_pids, (long long)s->kz_run_disk_bytes,
		(long long)s->kz_run_inodes, (long long)s->kz_packages_max_bytes,
		(long long)s->kz_packages_inodes, (long long)s->kz_run_cpus,
		(long long)s->kz_run_open_files, (long long)s->sandbox_max_output_bytes);
}

/* /usr/local belongs to the administrator: an opaque entry, or a whiteout, hides it. */
static enum kz_rc mask_make(const struct kz_oci *o, int base, const char *path, struct kz_err *err)
{
	const char *opaque = o->is_rootless ? "user.overlay.opaque" : "trusted.overlay.opaque";
	char local[KZ_OCI_PATH];

	if (kz_dir_make(base, "mask", 0755, (gid_t)-1, err) ||
	    kz_dir_make(base, "mask/local", 0755, (gid_t)-1, err) ||
	    kz_str_format(local, sizeof local, err, "%s/mask/local", path))
		return err ? err->rc : KZ_E_CANTCREAT;
	if (setxattr(local, opaque, "y", 1, 0) == 0)
		return KZ_OK;
	if (rmdir(local) == 0 && mknod(local, S_IFCHR, 0) == 0)
		return KZ_OK;
	return kz_err_sys(err, KZ_E_CANTCREAT, "cannot hide /usr/local");
}

/* bin, lib, sbin and the like lead into usr, as on the host. */
static enum kz_rc links_make(int root, struct kz_err *err)
{
	static const char *const names[] = { "bin", "sbin", "lib", "lib32", "lib64", "libx32" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char host[16];
		char target[64];
		ssize_t n;

		if (kz_str_format(host, sizeof host, err, "/%s", names[i]))
			return KZ_E_DATA;
		n = readlink(host, target, sizeof target - 1);
		if (n < 0 && errno == ENOENT)
			continue;
		if (n < 0)
			return kz_err_set(
				err, KZ_E_CONFIG,
				"%s is not a link into /usr; image host needs a merged /usr", host);
		target[n] = '\0';
		if (symlinkat(target, root, names[i]) != 0)
			return kz_err_sys(err, KZ_E_CANTCREAT, "cannot make the link %s", names[i]);
	}
	return KZ_OK;
}

static enum kz_rc root_make(const struct kz_oci *o, int root, struct kz_err *err)
{
	static const char *const places[] = { ".kz", "dev", "proc",    "run", "tmp",
					      "usr", "var", "var/tmp", "work" };
	kz_auto_buf struct kz_buf worker = KZ_BUF_INIT(FILE_MAX);

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (kz_dir_make(root, places[i], 0755, (gid_t)-1, err))
			return err ? err->rc : KZ_E_CANTCREAT;
	if (kz_file_read(AT_FDCWD, o->worker, &worker, err) ||
	    kz_file_replace(root, ".kz/kz-worker", worker.data, worker.len, 0755, (gid_t)-1, err))
		return err ? err->rc : KZ_E_IO;
	if (!kz_str_eq(o->conf.set.kz_image, "host"))
		return KZ_OK;
	return links_make(root, err) || kz_oci_etc_make(root, err) ?
		       (err ? err->rc : KZ_E_CANTCREAT) :
		       KZ_OK;
}

/* The image under a name that tells a worker nothing of where it is. */
static enum kz_rc lower_make(const struct kz_oci *o, int base, struct kz_err *err)
{
	char root[KZ_OCI_PATH];

	if (kz_str_eq(o->conf.set.kz_image, "host"))
		return KZ_OK;
	if (kz_str_format(root, sizeof root, err, "%s/root", o->conf.set.kz_image))
		return KZ_E_DATA;
	return symlinkat(root, base, "image") == 0 ?
		       KZ_OK :
		       kz_err_sys(err, KZ_E_CANTCREAT, "cannot make the link to %s", root);
}

static enum kz_rc layers_make(const struct kz_oci *o, const char *path, struct kz_err *err)
{
	kz_auto_close int base = -1;
	kz_auto_close int root = -1;

	if (kz_dir_make(AT_FDCWD, path, 0755, (gid_t)-1, err))
		return err ? err->rc : KZ_E_CANTCREAT;
	base = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot open %s", path);
	if (kz_dir_make(base, "empty", 0755, (gid_t)-1, err) ||
	    kz_dir_make(base, "root", 0755, (gid_t)-1, err) || mask_make(o, base, path, err) ||
	    lower_make(o, base, err))
		return err ? err->rc : KZ_E_CANTCREAT;
	root = openat(base, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot open %s/root", path);
	return root_make(o, root, err);
}

/* Is a worker here made of this image?  One whose record cannot be read counts for all of them. */
static bool is_used(struct kz_oci *o, const char *layers)
{
	char path[KZ_OCI_PATH];
	kz_auto_closedir DIR *d = kz_oci_path(o, path, NULL, "workers") ? NULL : opendir(path);
	struct dirent *e;
	struct kz_oci_record r;

	while (d && (e = readdir(d)) != NULL)
		if (kz_str_is_name(e->d_name) && (kz_oci_record_read(o, e->d_name, &r, NULL) ||
						  !r.skeleton[0] || kz_str_eq(r.skeleton, layers)))
			return true;
	return false;
}

static void old_sweep(struct kz_oci *o, const char *images, const char *keep)
{
	kz_auto_closedir DIR *d = opendir(images);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL)
		if (strlen(e->d_name) == 32 && e->d_name[0] != '.' && !kz_str_eq(e->d_name, keep) &&
		    !is_used(o, e->d_name))
			kz_tree_remove(dirfd(d), e->d_name, NULL);
}

/* One driver makes the layers, the others wait for them. */
static enum kz_rc prepare(struct kz_oci *o, const char *digest, struct kz_err *err)
{
	kz_auto_close int lock = -1;
	char images[KZ_OCI_PATH];
	char draft[KZ_OCI_PATH];
	char gate[KZ_OCI_PATH];

	memcpy(o->layers, digest, 32);
	o->layers[32] = '\0';
	if (kz_oci_path(o, images, err, "image") ||
	    kz_oci_path(o, o->skeleton, err, "image/%s", o->layers) ||
	    kz_oci_path(o, draft, err, "image/.new") || kz_oci_path(o, gate, err, "image/.lock"))
		return KZ_E_DATA;
	if (access(o->skeleton, F_OK) == 0)
		return KZ_OK;
	if (kz_dir_make(AT_FDCWD, images, 0750, o->gid, err) ||
	    kz_file_lock(AT_FDCWD, gate,
			 kz_deadline_in(KZ_SECONDS(o->conf.set.kz_create_timeout_seconds)), &lock,
			 err))
		return err ? err->rc : KZ_E_CANTCREAT;
	if (access(o->skeleton, F_OK) == 0)
		return KZ_OK;
	if (kz_tree_remove(AT_FDCWD, draft, err) || layers_make(o, draft, err))
		return err ? err->rc : KZ_E_CANTCREAT;
	if (rename(draft, o->skeleton) != 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot make %s", o->skeleton);
	old_sweep(o, images, o->layers);
	return KZ_OK;
}

enum kz_rc kz_oci_image(struct kz_oci *o, struct kz_err *err)
{
	kz_auto_buf struct kz_buf layers = KZ_BUF_INIT(8192);
	kz_auto_buf struct kz_buf rest = KZ_BUF_INIT(8192);
	const char *image = o->conf.set.kz_image;
	char digest[KZ_SHA256_HEX];

	if (!kz_str_eq(image, "host") && (image[0] != '/' || strpbrk(image, ":,\\")))
		return kz_refuse(err, KZ_R_SETTING_INVALID,
				 "KZ_IMAGE must be host or an absolute path without ':' and ','");
	if (describe_layers(o, &layers, err))
		return unavailable(err);
	kz_sha256_hex(layers.data, layers.len, digest);
	if (prepare(o, digest, err))
		return unavailable(err);
	if (describe_rest(o, digest, &rest, err))
		return err ? err->rc : KZ_E_OS;
	kz_sha256_hex(rest.data, rest.len, digest);
	return kz_str_format(o->image, sizeof o->image, err, "sha256:%s", digest);
}
