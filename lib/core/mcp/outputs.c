/* Outputs of a call. */
#include "core/mcp/outputs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "rule/path.h"
#include "rule/reason.h"

#define TEMPORARY "kz-outputs-"
#define TRIES 16
#define URI_MAX 16384
#define TEXT_INLINE_MAX 16384 /* bytes of a text that an answer carries itself */

static enum kz_rc failed(struct kz_mcp_outputs *o, struct kz_err *err)
{
	kz_refuse(err, KZ_R_OUTPUT_UNCREATABLE, "cannot make a directory for outputs: %s",
		  strerror(errno));
	(void)rmdir(o->dir);
	o->dir[0] = 0;
	return err->rc;
}

static enum kz_rc make(struct kz_mcp_outputs *o, const char *above, const char *prefix,
		       struct kz_err *err)
{
	if (kz_str_format(o->dir, sizeof(o->dir), err, "%s/%sXXXXXX", above, prefix))
		return kz_err_reason(err, kz_reason_code(KZ_R_OUTPUT_UNCREATABLE));
	if (!mkdtemp(o->dir))
		return failed(o, err);
	o->dir_fd = open(o->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return KZ_OK;
}

/* One that is locked as long as this process uses it; another one's sweep may come before the lock. */
static enum kz_rc make_temporary(struct kz_mcp_outputs *o, const char *above, struct kz_err *err)
{
	struct stat st;
	enum kz_rc rc;

	for (int i = 0; i < TRIES; i++) {
		rc = make(o, above, TEMPORARY, err);
		if (rc || (o->dir_fd < 0 && errno != ENOENT))
			return rc ? rc : failed(o, err);
		if (o->dir_fd >= 0 && flock(o->dir_fd, LOCK_EX) == 0 &&
		    fstat(o->dir_fd, &st) == 0 && st.st_nlink > 0)
			return KZ_OK;
		kz_auto_close_(&o->dir_fd);
		o->dir_fd = -1;
	}
	errno = EAGAIN;
	return failed(o, err);
}

/* Its own user's, and nobody holds it. */
static void remove_left(int above, const char *name)
{
	kz_auto_close int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)kz_tree_remove(above, name, NULL);
}

void kz_mcp_outputs_sweep(const struct kz_mcp_ask *ask)
{
	kz_auto_closedir DIR *d = ask->outdir ? NULL : opendir(ask->tmpdir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (kz_str_has_prefix(e->d_name, TEMPORARY))
			remove_left(dirfd(d), e->d_name);
}

/* A directory for each call, so that no output of one takes the place of another's. */
enum kz_rc kz_mcp_outputs_begin(struct kz_mcp_outputs *o, const struct kz_mcp_ask *ask,
				const struct kz_mcp_keep *keep, struct kz_err *err)
{
	enum kz_rc rc;

	*o = (struct kz_mcp_outputs){ .dir_fd = -1, .mark_fd = -1 };
	if (!ask->outdir)
		return make_temporary(o, ask->tmpdir, err);
	rc = make(o, ask->outdir, "run-", err);
	if (rc)
		return rc;
	if (o->dir_fd < 0)
		return failed(o, err);
	return kz_mcp_keep_begin(keep, kz_path_base(o->dir), &o->mark_fd, err);
}

/* The bytes of a path that a URI may have as they are. */
static void add_path(struct kz_buf *uri, const char *p)
{
	for (; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < 128 && (isalnum(c) || strchr("-._~/", c)))
			(void)kz_buf_add(uri, p, 1, NULL);
		else
			(void)kz_buf_printf(uri, NULL, "%%%02X", c);
	}
}

static bool is_image(const char *type)
{
	return kz_str_eq(type, "image/png") || kz_str_eq(type, "image/jpeg") ||
	       kz_str_eq(type, "image/gif") || kz_str_eq(type, "image/webp");
}

/* The file itself, where a model or a person can look at it: images, and short texts for the person. out: NULL: it stays a link */
static struct kz_json *inlined(const struct kz_mcp_file *f)
{
	struct kz_json *o = kz_json_object(), *x, *list;
	kz_auto_free char *data = NULL;
	kz_auto_json struct kz_json *contents = NULL;

	if (is_image(f->type)) {
		data = kz_mcp_file_base64(f, NULL);
		kz_json_set_str(o, "type", "image");
		kz_json_set_str(o, "data", data);
		kz_json_set_str(o, "mimeType", f->type);
		if (data)
			return o;
	} else if (f->bytes <= TEXT_INLINE_MAX && !kz_mcp_file_contents(f, &contents, NULL) &&
		   kz_json_get(contents, "text")) {
		list = kz_json_array();
		kz_json_append(list, kz_json_string("user"));
		x = kz_json_object();
		kz_json_set(x, "audience", list);
		kz_json_set_str(o, "type", "resource");
		kz_json_set(o, "resource", kz_json_ref(contents));
		kz_json_set(o, "annotations", x);
		return o;
	}
	kz_json_free(o);
	return NULL;
}

static const struct kz_mcp_file *put(struct kz_mcp_outputs *o, bool is_kept,
				     struct kz_mcp_shelf *shelf, const struct kz_json *ref, int fd)
{
	const char *name = kz_json_str(ref, "name", "");
	kz_auto_buf struct kz_buf uri = KZ_BUF_INIT(URI_MAX);

	(void)kz_buf_puts(&uri, is_kept ? "file://" : "kz://outputs/", NULL);
	add_path(&uri, is_kept ? o->dir : kz_path_base(o->dir));
	add_path(&uri, "/");
	add_path(&uri, name);
	return kz_mcp_shelf_add(shelf, kz_buf_str(&uri), name, kz_json_str(ref, "media_type", NULL),
				fd, kz_json_num(ref, "bytes", 0));
}

/* One file that the record names, as it lies in the directory. out: what a mark says of it, new; NULL: it is not there */
static struct kz_json *take_one(struct kz_mcp_outputs *o, const struct kz_mcp_ask *ask,
				struct kz_mcp_shelf *shelf, const struct kz_json *ref,
				int64_t *inline_left)
{
	const char *name = kz_json_str(ref, "name", "");
	int fd = kz_mcp_keep_below(o->dir_fd, name, O_RDONLY | O_NONBLOCK);
	const struct kz_mcp_file *f;
	struct kz_json *look, *link, *file = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size != kz_json_num(ref, "bytes", -1)) {
		close(fd);
		return NULL;
	}
	look = kz_mcp_keep_look(name, fd);
	f = put(o, ask->outdir != NULL, shelf, ref, fd);
	if (!f)
		return look;
	link = kz_mcp_file_words(f);
	kz_json_set_str(link, "type", "resource_link");
	kz_json_append(o->list, link);
	if (f->bytes <= *inline_left)
		file = inlined(f);
	if (file) {
		*inline_left -= f->bytes;
		kz_json_append(o->list, file);
	}
	return look;
}

void kz_mcp_outputs_take(struct kz_mcp_outputs *o, const struct kz_mcp_ask *ask,
			 struct kz_mcp_shelf *shelf, const struct kz_json *outputs)
{
	kz_auto_json struct kz_json *looks = kz_json_array();
	int64_t left = ask->inline_bytes;

	if (o->dir_fd < 0 || o->list)
		return;
	o->list = kz_json_array();
	for (size_t i = 0; i < kz_json_count(outputs); i++) {
		struct kz_json *look = take_one(o, ask, shelf, kz_json_at(outputs, i), &left);

		if (look)
			kz_json_append(looks, look);
	}
	if (o->mark_fd >= 0)
		kz_mcp_keep_end(o->mark_fd, o->dir_fd, looks);
}

void kz_mcp_outputs_end(struct kz_mcp_outputs *o, const struct kz_mcp_keep *keep)
{
	if (o->dir[0] && keep->marks_fd < 0)
		(void)kz_tree_remove(AT_FDCWD, o->dir, NULL);
	else if (o->dir[0] && rmdir(o->dir) == 0) /* stays when something is in it */
		(void)unlinkat(keep->marks_fd, kz_path_base(o->dir), 0);
	kz_auto_close_(&o->dir_fd);
	kz_auto_close_(&o->mark_fd);
	kz_json_free(o->list);
	*o = (struct kz_mcp_outputs){ .dir_fd = -1, .mark_fd = -1 };
}
