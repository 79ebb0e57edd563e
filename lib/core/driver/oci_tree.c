/*
 * An image directory is what its manifest says: manifest.json names the digest of files.tsv, which
 * names every entry of root, one line each: type, mode, size, SHA-256 or target, name.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/driver/oci_part.h"
#include "port/json.h"
#include "rule/image_entry.h"
#include "rule/reason.h"

#define MANIFEST_MAX (8 << 20)
#define LIST_MAX (128 << 20)
#define DEPTH 64

/* What kz-worker and the programs of an image are made for, in Debian's word; they are installed together. */
#if defined __x86_64__
#define ARCHITECTURE "amd64"
#elif defined __aarch64__
#define ARCHITECTURE "arm64"
#else
#define ARCHITECTURE "" /* no image is made for it */
#endif

struct walk {
	int root;
	int64_t listed;
	struct kz_sha256 stamps; /* over what each entry is as long as nobody touched it */
};

static enum kz_rc invalid(struct kz_err *err, const char *name, const char *what)
{
	return kz_refuse(err, KZ_R_IMAGE_INVALID, "%.200s %s", name, what);
}

/* What can be told without reading: type, mode, size, target. */
static enum kz_rc entry_look(struct walk *w, const struct kz_image_line *e, struct kz_err *err)
{
	char target[4096];
	char stamp[160];
	struct stat st;
	ssize_t n;

	if (fstatat(w->root, e->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return invalid(err, e->name, "is gone");
	if ((e->type == KZ_IMAGE_FILE && !S_ISREG(st.st_mode)) ||
	    (e->type == KZ_IMAGE_DIR && !S_ISDIR(st.st_mode)) ||
	    (e->type == KZ_IMAGE_LINK && !S_ISLNK(st.st_mode)))
		return invalid(err, e->name, "is of another kind");
	if (e->type != KZ_IMAGE_LINK && (st.st_mode & 07777) != e->mode)
		return invalid(err, e->name, "has another mode");
	if (e->type == KZ_IMAGE_FILE && st.st_size != e->size)
		return invalid(err, e->name, "has another size");
	if (e->type == KZ_IMAGE_LINK) {
		n = readlinkat(w->root, e->name, target, sizeof target - 1);
		if (n < 0)
			return kz_err_sys(err, KZ_E_IO, "cannot read the link %s", e->name);
		target[n] = '\0';
		if (!kz_str_eq(target, e->sum))
			return invalid(err, e->name, "leads elsewhere");
	}
	if (kz_str_format(stamp, sizeof stamp, err, "%llu:%llu:%lld.%09ld\n",
			  (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
			  (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec))
		return KZ_E_DATA;
	kz_sha256_add(&w->stamps, stamp, strlen(stamp));
	return KZ_OK;
}

static enum kz_rc entry_read(struct walk *w, const struct kz_image_line *e, struct kz_err *err)
{
	kz_auto_close int fd = -1;
	char found[KZ_SHA256_HEX];

	if (e->type != KZ_IMAGE_FILE)
		return KZ_OK;
	fd = openat(w->root, e->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot open %s", e->name);
	if (kz_oci_hash(fd, found, err))
		return kz_err_wrap(err, "%s", e->name);
	return kz_str_eq(found, e->sum) ? KZ_OK : invalid(err, e->name, "has another content");
}

typedef enum kz_rc (*entry_fn)(struct walk *w, const struct kz_image_line *e, struct kz_err *err);

/* fn for each line of the list, which is left as it was. */
static enum kz_rc each(struct walk *w, const struct kz_buf *list, entry_fn fn, struct kz_err *err)
{
	const char *p = kz_buf_str(list);
	const char *end = p + list->len;
	struct kz_image_line line;

	for (w->listed = 0; p < end; w->listed++) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		enum kz_rc rc;

		if (!stop || !kz_image_line_parse(p, (size_t)(stop - p), &line))
			return invalid(err, "files.tsv", "has a line that says nothing");
		rc = fn(w, &line, err);
		if (rc)
			return rc;
		p = stop + 1;
	}
	return KZ_OK;
}

/* The entries below a directory. out: -1 when it cannot be told */
static int64_t count_below(int dir, const char *name, int depth)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	kz_auto_closedir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int64_t count = 0;

	if (!d || depth > DEPTH)
		return -1;
	while ((e = readdir(d)) != NULL) {
		int64_t below = 0;

		if (kz_str_eq(e->d_name, ".") || kz_str_eq(e->d_name, ".."))
			continue;
		if (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN)
			below = count_below(dirfd(d), e->d_name, depth + 1);
		if (below < 0 && e->d_type == DT_DIR)
			return -1;
		count += 1 + (below > 0 ? below : 0);
	}
	return count;
}

/* Process 1 is this machine's: with an emulator it could start what is for another, but nothing of that is held [IMG-3]. */
static enum kz_rc architecture_check(const struct kz_json *manifest, const char *path,
				     struct kz_err *err)
{
	const char *is = kz_json_str(manifest, "architecture", "");

	if (is[0] && kz_str_eq(is, ARCHITECTURE))
		return KZ_OK;
	return kz_refuse(err, KZ_R_IMAGE_ARCHITECTURE, "%.200s is for %.40s, this machine is %s",
			 path, is[0] ? is : "no architecture",
			 ARCHITECTURE[0] ? ARCHITECTURE : "another");
}

/* The list of files, when it is the one that the manifest names. out: sum of the manifest */
static enum kz_rc list_read(const char *image, struct kz_buf *list, char sum[KZ_SHA256_HEX],
			    struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(MANIFEST_MAX);
	kz_auto_json struct kz_json *manifest = NULL;
	char path[KZ_OCI_PATH];
	char found[KZ_SHA256_HEX];

	if (kz_str_format(path, sizeof path, err, "%s/manifest.json", image))
		return KZ_E_DATA;
	if (kz_file_read(AT_FDCWD, path, &text, NULL) ||
	    kz_json_parse(kz_buf_str(&text), text.len, &manifest, NULL) ||
	    kz_json_num(manifest, "v", 0) != 1)
		return invalid(err, path, "is no manifest; scripts/image makes images");
	if (architecture_check(manifest, path, err))
		return err ? err->rc : KZ_E_CONFIG;
	kz_sha256_hex(text.data, text.len, sum);
	if (kz_str_format(path, sizeof path, err, "%s/files.tsv", image))
		return KZ_E_DATA;
	if (kz_file_read(AT_FDCWD, path, list, NULL))
		return invalid(err, path, "cannot be read");
	kz_sha256_hex(list->data, list->len, found);
	if (!kz_str_eq(found, kz_json_str(kz_json_get(manifest, "files"), "sha256", "")))
		return invalid(err, path, "is not what the manifest says");
	return KZ_OK;
}

/* Was this very tree read before, with this manifest, and not touched since? */
static bool is_known(const char *place, const char *line)
{
	kz_auto_buf struct kz_buf kept = KZ_BUF_INIT(512);

	return !kz_file_read(AT_FDCWD, place, &kept, NULL) && kz_str_eq(kz_buf_str(&kept), line);
}

enum kz_rc kz_oci_tree_verify(const struct kz_oci *o, struct kz_err *err)
{
	kz_auto_buf struct kz_buf list = KZ_BUF_INIT(LIST_MAX);
	const char *image = o->conf.set.kz_image;
	kz_auto_close int root = -1;
	char place[KZ_OCI_PATH];
	char sum[KZ_SHA256_HEX];
	char stamps[KZ_SHA256_HEX];
	char line[2 * KZ_SHA256_HEX + 2];
	struct walk w;
	enum kz_rc rc;

	if (kz_oci_path(o, place, err, "run/oci/verified"))
		return KZ_E_DATA;
	rc = list_read(image, &list, sum, err);
	if (rc)
		return rc;
	if (kz_str_format(line, sizeof line, err, "%s/root", image))
		return KZ_E_DATA;
	root = open(line, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root < 0)
		return invalid(err, line, "is no directory");
	w = (struct walk){ .root = root };
	kz_sha256_start(&w.stamps);
	rc = each(&w, &list, entry_look, err);
	kz_sha256_end(&w.stamps, stamps);
	if (rc)
		return rc;
	if (count_below(root, ".", 0) != w.listed)
		return invalid(err, line, "has something that the manifest does not name");
	if (kz_str_format(line, sizeof line, err, "%s %s\n", sum, stamps))
		return KZ_E_DATA;
	if (is_known(place, line))
		return KZ_OK;
	rc = each(&w, &list, entry_read, err);
	return rc ? rc : kz_file_replace(AT_FDCWD, place, line, strlen(line), 0640, (gid_t)-1, err);
}
