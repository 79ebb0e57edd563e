/* The state directory, and loading settings from its env directory. */
#include "core/conf/conf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "rule/reason.h"

#define SYSTEM_STATE "/var/lib/kz"
#define VALUE_BYTES 4096
/* "/run/valkey.sock" below it must fit into the 107 bytes of a socket's address. */
#define STATE_BYTES 91

static enum kz_rc state_take(char out[256], const char *path, struct kz_err *err)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (path[0] != '/' || len == 1)
		return kz_err_set(err, KZ_E_CONFIG,
				  "the state directory must be an absolute path: \"%.80s\"", path);
	if (len > STATE_BYTES)
		return kz_err_set(
			err, KZ_E_CONFIG,
			"the path of the state directory is longer than %d bytes: %.80s...",
			STATE_BYTES, path);
	if (kz_str_has_control(path))
		return kz_err_set(err, KZ_E_CONFIG,
				  "the path of the state directory holds control characters");
	memcpy(out, path, len);
	out[len] = '\0';
	return KZ_OK;
}

enum kz_rc kz_conf_state_own(char out[256], struct kz_err *err)
{
	const char *xdg = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	struct passwd pw, *found = NULL;
	char room[4096], path[4096];

	if (geteuid() == 0)
		return state_take(out, SYSTEM_STATE, err);
	if (xdg && *xdg)
		return kz_str_format(path, sizeof(path), err, "%s/kz", xdg) ?
			       KZ_E_CONFIG :
			       state_take(out, path, err);
	if ((!home || !*home) && getpwuid_r(geteuid(), &pw, room, sizeof(room), &found) == 0 &&
	    found)
		home = pw.pw_dir;
	if (!home || !*home)
		return kz_err_set(err, KZ_E_CONFIG, "no home directory; set KZ_STATE");
	return kz_str_format(path, sizeof(path), err, "%s/.local/state/kz", home) ?
		       KZ_E_CONFIG :
		       state_take(out, path, err);
}

enum kz_rc kz_conf_state(char out[256], struct kz_err *err)
{
	const char *chosen = getenv("KZ_STATE");
	struct stat st;
	enum kz_rc rc;

	if (chosen && *chosen)
		return state_take(out, chosen, err);
	/* A user's own kz comes before one that may not be theirs to call. */
	rc = kz_conf_state_own(out, err);
	if (geteuid() != 0 && (rc || stat(out, &st) < 0) && stat(SYSTEM_STATE, &st) == 0)
		return state_take(out, SYSTEM_STATE, err);
	return rc;
}

enum kz_rc kz_conf_state_make(char out[256], struct kz_err *err)
{
	const char *chosen = getenv("KZ_STATE");

	return chosen && *chosen ? state_take(out, chosen, err) : kz_conf_state_own(out, err);
}

/* Is this a name that only kz gives meaning to? Others in the directory are not ours. */
static bool is_ours(const char *name)
{
	if (strcmp(name, "KZ_STATE") == 0)
		return false;
	return kz_str_has_prefix(name, "KZ_") || kz_str_has_prefix(name, "SANDBOX_") ||
	       kz_str_has_prefix(name, "KAIZEN_");
}

/* One file of the env directory: empty means not set; one newline at the end is not part of the value. */
static enum kz_rc env_read(int dir, const char *name, struct kz_buf *b, bool *is_set,
			   struct kz_err *err)
{
	struct stat st;
	enum kz_rc rc;

	*is_set = false;
	/* a pipe would be waited for */
	if (fstatat(dir, name, &st, 0) == 0 && !S_ISREG(st.st_mode))
		return kz_refuse(err, KZ_R_SETTING_INVALID, "%s: not a file", name);
	rc = kz_file_read(dir, name, b, err);
	if (rc == KZ_E_DATA)
		return kz_refuse(err, KZ_R_SETTING_INVALID, "%s: the value is longer than %d bytes",
				 name, VALUE_BYTES);
	if (rc || b->len == 0)
		return rc;
	if (strlen(kz_buf_str(b)) != b->len)
		return kz_refuse(err, KZ_R_SETTING_INVALID, "%s: the value holds a byte 0", name);
	if (b->data[b->len - 1] == '\n')
		b->data[--b->len] = '\0';
	*is_set = true;
	return KZ_OK;
}

static enum kz_rc env_one(int dir, const char *name, struct kz_settings *s, struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(VALUE_BYTES);
	bool is_set;
	enum kz_rc rc = env_read(dir, name, &b, &is_set, err);

	return rc || !is_set ? rc : kz_conf_set(s, name, kz_buf_str(&b), err);
}

static enum kz_rc env_load(int dir, struct kz_settings *s, struct kz_err *err)
{
	kz_auto_closedir DIR *d = NULL;
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *e;

	d = own < 0 ? NULL : fdopendir(own);
	if (!d) {
		if (own >= 0)
			close(own);
		return kz_err_sys(err, KZ_E_IO, "cannot read the env directory");
	}
	while (errno = 0, (e = readdir(d))) {
		/* What the policy holds stops nothing, whatever it is [POL-9]. */
		enum kz_rc rc = is_ours(e->d_name) && !kz_conf_is_policy(e->d_name) ?
					env_one(dir, e->d_name, s, err) :
					KZ_OK;

		/* A file that is replaced meanwhile is there again under its name. */
		if (rc)
			return rc;
	}
	return errno ? kz_err_sys(err, KZ_E_IO, "cannot read the env directory") : KZ_OK;
}

static enum kz_rc open_failed(const char *state, const char *what, struct kz_err *err)
{
	struct stat st;

	if (errno == ENOENT)
		return kz_refuse(err, KZ_R_NOT_RUNNING,
				 "kz is not running (no %s); start it with: kz up", what);
	if (errno == EACCES && stat(state, &st) == 0)
		return kz_refuse(
			err, KZ_R_NO_PERMISSION,
			"you may not use the kz in %s; its owner adds you to its group with: sudo usermod -aG kz USER",
			state);
	if (errno == EACCES)
		return kz_refuse(err, KZ_R_NO_PERMISSION, "you may not use the kz in %s", state);
	return kz_err_sys(err, KZ_E_CONFIG, "cannot open %s", what);
}

enum kz_rc kz_conf_load(struct kz_conf *c, const char *state, struct kz_err *err)
{
	char found[256], path[272];
	enum kz_rc rc = state ? state_take(found, state, err) : kz_conf_state(found, err);

	if (rc)
		return rc;
	if (kz_str_format(path, sizeof(path), err, "%s/env", found))
		return KZ_E_CONFIG;
	kz_auto_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return open_failed(found, path, err);
	kz_settings_default(&c->set);
	rc = env_load(dir, &c->set, err);
	if (!rc)
		rc = kz_conf_check(&c->set, err);
	return rc ? rc : kz_str_copy(c->state, sizeof(c->state), found, err);
}

enum kz_rc kz_conf_store(const char *state, const char *name, const char *value, struct kz_err *err)
{
	char dir_path[272], lock_path[272];
	char text[VALUE_BYTES + 2];
	struct kz_conf c;
	struct stat st;
	enum kz_rc rc;

	if (kz_str_format(dir_path, sizeof(dir_path), err, "%s/env", state) ||
	    kz_str_format(lock_path, sizeof(lock_path), err, "%s/env/.lock", state))
		return KZ_E_CONFIG;
	kz_auto_close int dir = open(dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return open_failed(state, dir_path, err);
	/* Two writers, each right alone, must not make a wrong set together. */
	kz_auto_close int lock = -1;

	rc = kz_file_lock(AT_FDCWD, lock_path, kz_deadline_in(KZ_SECONDS(5)), &lock, err);
	if (rc)
		return rc;
	kz_settings_default(&c.set);
	rc = env_load(dir, &c.set, err);
	/* The set may be wrong because of the very value that is put right now. */
	if (rc && rc != KZ_E_CONFIG)
		return rc;
	rc = kz_conf_set(&c.set, name, value, err);
	if (!rc)
		rc = kz_conf_check(&c.set, err);
	if (!rc)
		rc = kz_str_format(text, sizeof(text), err, "%s\n", value);
	if (rc)
		return rc;
	if (fstat(dir, &st) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot look at %s", dir_path);
	return kz_file_replace(dir, name, text, strlen(text), 0640, st.st_gid, err);
}

enum kz_rc kz_conf_env_open(const char *state, int *dir, struct kz_err *err)
{
	char path[272];

	if (kz_str_format(path, sizeof(path), err, "%s/env", state))
		return KZ_E_CONFIG;
	*dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *dir < 0 ? open_failed(state, path, err) : KZ_OK;
}

enum kz_rc kz_conf_policy_at(int dir, const char *name, struct kz_buf *out, bool *is_set,
			     struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(VALUE_BYTES);
	enum kz_rc rc = env_read(dir, name, &b, is_set, err);

	if (rc == KZ_E_NOINPUT)
		return KZ_OK;
	return rc || !*is_set ? rc : kz_buf_add(out, b.data, b.len, err);
}

enum kz_rc kz_conf_policy(const char *state, const char *name, struct kz_buf *out, bool *is_set,
			  struct kz_err *err)
{
	kz_auto_close int dir = -1;
	enum kz_rc rc;

	*is_set = false;
	rc = kz_conf_env_open(state, &dir, err);
	return rc ? rc : kz_conf_policy_at(dir, name, out, is_set, err);
}

enum kz_rc kz_conf_text(const struct kz_conf *c, const char *name, struct kz_buf *out,
			struct kz_err *err)
{
	bool is_set;

	return kz_conf_is_policy(name) ? kz_conf_policy(c->state, name, out, &is_set, err) :
					 kz_conf_get(&c->set, name, out, err);
}

void kz_conf_ignored(const struct kz_conf *c, struct kz_buf *names)
{
	for (size_t i = 0; i < KZ_SETTING_COUNT; i++) {
		kz_auto_buf struct kz_buf is = KZ_BUF_INIT(VALUE_BYTES);
		const char *name = kz_setting_table[i].name;
		const char *value = getenv(name);

		if (value && !kz_conf_text(c, name, &is, NULL) &&
		    strcmp(kz_buf_str(&is), value) != 0)
			kz_buf_printf(names, NULL, "%s%s", names->len ? ", " : "", name);
	}
}

enum kz_rc kz_conf_path(const struct kz_conf *c, const char *suffix, char *out, size_t size,
			struct kz_err *err)
{
	return kz_str_format(out, size, err, "%s/%s", c->state, suffix);
}
