/* The set of read-only files: begun, put, checked. */
#include "worker/shared.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "port/json.h"
#include "port/seal.h"
#include "rule/reason.h"
#include "worker/client.h"

bool kz_shared_is_name(const char *name)
{
	return *name && *name != '.' && strlen(name) < KZ_PRJ_NAME && !strchr(name, '/') &&
	       !kz_str_has_control(name);
}

static enum kz_rc failed(struct kz_err *err, const char *why)
{
	return kz_refuse(err, KZ_R_PROJECTION_FAILED, "the shared files: %s", why);
}

bool kz_shared_is_set(const struct kz_shared *s, const struct kz_json *list)
{
	if (!kz_json_is_array(list) || kz_json_count(list) != (size_t)s->count)
		return false;
	for (int i = 0; i < s->count; i++) {
		const struct kz_json *e = kz_json_at(list, (size_t)i);

		if (!s->files[i].is_whole ||
		    !kz_str_eq(kz_json_str(e, "name", ""), s->files[i].name) ||
		    !kz_str_eq(kz_json_str(e, "sha256", ""), s->files[i].sha256) ||
		    kz_json_num(e, "size", -1) != s->files[i].size)
			return false;
	}
	return true;
}

bool kz_shared_is_manifest(const struct kz_shared *s, const char *text, size_t n)
{
	kz_auto_json struct kz_json *list = NULL;

	if (kz_json_parse(text, n, &list, NULL) || !kz_json_is_array(list) ||
	    kz_json_count(list) != (size_t)s->count)
		return false;
	for (int i = 0; i < s->count; i++) {
		const struct kz_json *e = kz_json_at(list, (size_t)i);
		const char *path = kz_json_str(e, "path", "");

		if (!kz_str_has_prefix(path, KZ_PRJ_DIR "/") ||
		    !kz_str_eq(path + sizeof(KZ_PRJ_DIR), s->files[i].name) ||
		    !kz_str_eq(kz_json_str(e, "sha256", ""), s->files[i].sha256) ||
		    kz_json_num(e, "size", -1) != s->files[i].size)
			return false;
	}
	return true;
}

/* The value of a variable of the program; out: false when it has none */
static bool find_env(struct kz_slice tail, int64_t argc, const char *name, const char **value)
{
	const char *s = (const char *)tail.p, *end = s + tail.n;
	size_t n = strlen(name);

	for (; s < end; s += strlen(s) + 1) {
		if (argc-- > 0 || strncmp(s, name, n) != 0 || s[n] != '=')
			continue;
		*value = s + n + 1;
		return true;
	}
	return false;
}

/* What lies there is what was put: nothing more, nobody else's, nothing that could be written. */
static bool is_there(const struct kz_shared *s, int dir)
{
	kz_auto_closedir DIR *d = NULL;
	kz_auto_close int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int count = 0;

	if (fd < 0 || !(d = fdopendir(fd)))
		return false;
	fd = -1;
	for (const struct dirent *e; (e = readdir(d));)
		count += !kz_str_eq(e->d_name, ".") && !kz_str_eq(e->d_name, "..");
	for (int i = 0; i < s->count; i++) {
		struct stat st;

		if (fstatat(dir, s->files[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    st.st_mode != (S_IFREG | 0444) || st.st_uid != 0 || st.st_nlink != 1 ||
		    st.st_size != s->files[i].size)
			return false;
	}
	return count == s->count;
}

enum kz_rc kz_shared_check(const struct kz_shared *s, int dir, const struct kz_json *want,
			   struct kz_slice tail, int64_t argc, struct kz_err *err)
{
	const char *text = NULL, *place = NULL;
	char sha256[KZ_SHA256_HEX];
	bool has_text = find_env(tail, argc, KZ_PRJ_ENV_MANIFEST, &text);
	bool has_place = find_env(tail, argc, KZ_PRJ_ENV_DIR, &place);

	if (!is_there(s, dir))
		return failed(err, "what is there is not what was put");
	if (!want)
		return s->count || has_text || has_place ?
			       failed(err, "there are some and none are told") :
			       KZ_OK;
	if (!s->count || s->count > KZ_PRJ_FILES || s->bytes > KZ_PRJ_BYTES)
		return failed(err, "too many, or none");
	if (!kz_str_eq(kz_json_str(want, "audience_version", ""), s->audience))
		return failed(err, "they are for another audience");
	if (!kz_shared_is_set(s, kz_json_get(want, "files")))
		return failed(err, "their names, sizes or digests differ");
	if (!has_text || !has_place || !kz_str_eq(place, KZ_PRJ_DIR))
		return failed(err, "the program is not told of them");
	kz_sha256_hex(text, strlen(text), sha256);
	if (!kz_str_eq(sha256, s->manifest) ||
	    !kz_str_eq(kz_json_str(want, "manifest_sha256", ""), s->manifest) ||
	    !kz_shared_is_manifest(s, text, strlen(text)))
		return failed(err, "the manifest is another one");
	return KZ_OK;
}

/* Empty the place. out: false when something stays */
static bool wipe(int dir)
{
	kz_auto_closedir DIR *d = NULL;
	kz_auto_close int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok = true;

	if (fd < 0 || !(d = fdopendir(fd)))
		return false;
	fd = -1;
	for (const struct dirent *e; (e = readdir(d));)
		if (!kz_str_eq(e->d_name, ".") && !kz_str_eq(e->d_name, ".."))
			ok = unlinkat(dir, e->d_name, 0) == 0 && ok;
	return ok;
}

static enum kz_rc may(struct kz_client *c, const struct kz_json *o, struct kz_err *err)
{
	enum kz_rc rc = kz_tenure_check(&c->w->tenure, kz_json_str(o, "lease", NULL),
					kz_deadline_in(KZ_MS(0)), err);

	if (rc == KZ_OK && kz_run_is_busy(c->w->run))
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "a program is running already");
	return rc;
}

void kz_client_shared(struct kz_client *c, const struct kz_json *o, struct kz_slice tail)
{
	struct kz_shared *s = &c->w->shared;
	struct kz_err err = KZ_ERR_INIT;
	const char *manifest = kz_json_str(o, "manifest_sha256", "");
	uint64_t round = s->round + 1;
	struct kz_json *answer;

	(void)tail;
	if (may(c, o, &err) != KZ_OK) {
		kz_client_refuse(c, &err);
		return;
	}
	/* it stays: what the next program saw may lie anywhere until the reset */
	if (kz_json_flag(o, "private", false))
		c->w->tenure.is_private = true;
	*s = (struct kz_shared){ .round = round, .is_open = *manifest != '\0' };
	if (!wipe(c->w->space.shared) ||
	    kz_str_copy(s->manifest, sizeof s->manifest, manifest, NULL) != KZ_OK ||
	    kz_str_copy(s->audience, sizeof s->audience, kz_json_str(o, "audience_version", ""),
			NULL) != KZ_OK) {
		s->is_open = false;
		failed(&err, "the place cannot be made ready");
		kz_client_refuse(c, &err);
		return;
	}
	answer = kz_json_object();
	kz_json_set_int(answer, "count", 0);
	kz_client_answer(c, 200, answer);
}

enum kz_rc kz_client_shared_open(struct kz_client *c, const struct kz_json *o, struct kz_err *err)
{
	struct kz_shared *s = &c->w->shared;
	const char *name = kz_json_str(o, "name", "");
	int fd;

	if (may(c, o, err) != KZ_OK)
		return KZ_E_DATA;
	if (!s->is_open)
		return failed(err, "no set of them was begun");
	if (!kz_shared_is_name(name))
		return failed(err, "a name is not one");
	if (s->count == KZ_PRJ_FILES || c->body_left > KZ_PRJ_BYTES - s->bytes)
		return failed(err, "too many, or too large");
	/* process 1 has no umask; one that exists is refused */
	fd = kz_space_at(c->w->space.shared, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0444);
	if (fd < 0)
		return failed(err, strerror(errno));
	c->file = fd;
	c->shared_at = s->count;
	c->shared_round = s->round;
	kz_sha256_start(&c->hash);
	(void)kz_str_copy(s->files[s->count].name, KZ_PRJ_NAME, name, NULL);
	s->files[s->count].size = c->body_left;
	s->files[s->count].is_whole = false;
	s->bytes += c->body_left;
	s->count++;
	return KZ_OK;
}

void kz_client_shared_end(struct kz_client *c)
{
	struct kz_shared *s = &c->w->shared;
	char sha256[KZ_SHA256_HEX];

	kz_sha256_end(&c->hash, sha256);
	/* a set that was begun anew meanwhile does not know it */
	if (c->shared_round != s->round || c->shared_at >= s->count) {
		failed(&c->put_err, "another set was begun");
		return;
	}
	memcpy(s->files[c->shared_at].sha256, sha256, sizeof sha256);
	s->files[c->shared_at].is_whole = true;
}
