/* Keys below STATE/keys. */
#include "core/conf/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "rule/reason.h"

#define KEY_HEX (2 * KZ_KEY_BYTES)

#define auto_secret kz_auto(kz_secret_release)

static const char *const files[] = {
	[KZ_KEY_FIELD] = "field.key",     [KZ_KEY_WORKER] = "worker.key",
	[KZ_KEY_GRANT] = "grant.key",     [KZ_KEY_RECEIPT] = "receipt.key",
	[KZ_KEY_PACKAGE] = "package.key", [KZ_KEY_IDENTITY] = "identity.key",
};

static enum kz_rc keys_open(const char *state, int *dir, struct kz_err *err)
{
	char path[272];

	if (kz_str_format(path, sizeof(path), err, "%s/keys", state))
		return KZ_E_CONFIG;
	*dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dir >= 0)
		return KZ_OK;
	if (errno == EACCES)
		return kz_refuse(err, KZ_R_NO_PERMISSION, "you may not read the keys in %s", path);
	if (errno == ENOENT)
		return kz_refuse(err, KZ_R_KEY_MISSING,
				 "no directory %s; make the keys with: kz up", path);
	return kz_err_sys(err, KZ_E_CONFIG, "cannot open %s", path);
}

/* A key that others may read is no key any more. */
static enum kz_rc key_check_mode(int fd, enum kz_key which, struct kz_err *err)
{
	struct stat st;
	mode_t open_to = which == KZ_KEY_FIELD ? 0077 : 0027;

	if (fstat(fd, &st) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot look at %s", files[which]);
	if (!S_ISREG(st.st_mode) || (st.st_mode & open_to))
		return kz_refuse(
			err, KZ_R_KEY_INVALID,
			"%s has mode %03o, which is open to others; rotate it after: chmod %s",
			files[which], (unsigned)st.st_mode & 0777,
			which == KZ_KEY_FIELD ? "600" : "640");
	return KZ_OK;
}

static enum kz_rc key_open(int dir, enum kz_key which, int *fd, struct kz_err *err)
{
	*fd = openat(dir, files[which], O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd >= 0)
		return key_check_mode(*fd, which, err);
	if (errno == EACCES)
		return kz_refuse(err, KZ_R_NO_PERMISSION, "you may not read %s", files[which]);
	if (errno == ENOENT)
		return kz_refuse(err, KZ_R_KEY_MISSING, "%s is missing; make it with: kz up",
				 files[which]);
	return kz_err_sys(err, KZ_E_CONFIG, "cannot open %s", files[which]);
}

/* By hand, not through a buffer: no copy of a secret stays in freed memory. */
static size_t key_read(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, text + len, size - len);
		len += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && len < size) || (n < 0 && errno == EINTR));
	return len;
}

static enum kz_rc key_load(int dir, enum kz_key which, struct kz_secret *out, struct kz_err *err)
{
	char text[KEY_HEX + 3];
	kz_auto_close int fd = -1;
	enum kz_rc rc = key_open(dir, which, &fd, err);
	size_t len;

	if (rc)
		return rc;
	len = key_read(fd, text, sizeof(text) - 1);
	if (len == KEY_HEX + 1 && text[KEY_HEX] == '\n')
		len--;
	text[len] = '\0';
	rc = kz_hex_decode(text, out->bytes, sizeof(out->bytes), NULL);
	explicit_bzero(text, sizeof(text));
	if (rc)
		return kz_refuse(err, KZ_R_KEY_INVALID, "%s does not hold %d hexadecimal digits",
				 files[which], KEY_HEX);
	out->is_set = true;
	return KZ_OK;
}

static enum kz_rc key_save(int dir, enum kz_key which, const struct kz_secret *key, gid_t gid,
			   struct kz_err *err)
{
	bool own = which == KZ_KEY_FIELD;
	char text[KEY_HEX + 2];
	enum kz_rc rc;

	kz_hex_encode(key->bytes, sizeof(key->bytes), text);
	text[KEY_HEX] = '\n';
	text[KEY_HEX + 1] = '\0';
	rc = kz_file_replace(dir, files[which], text, KEY_HEX + 1, own ? 0600 : 0640,
			     own ? (gid_t)-1 : gid, err);
	explicit_bzero(text, sizeof(text));
	return rc;
}

/* Read a key, or make it when there is none; a malformed one is never replaced. */
static enum kz_rc key_ensure(int dir, enum kz_key which, gid_t gid, struct kz_secret *out,
			     struct kz_err *err)
{
	struct stat st;

	if (fstatat(dir, files[which], &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
		return key_load(dir, which, out, err);
	kz_random(out->bytes, sizeof(out->bytes));
	out->is_set = true;
	return key_save(dir, which, out, gid, err);
}

static enum kz_rc keys_derive(int dir, const struct kz_secret *field, gid_t gid, struct kz_err *err)
{
	static const enum kz_key derived[] = { KZ_KEY_WORKER, KZ_KEY_GRANT, KZ_KEY_RECEIPT,
					       KZ_KEY_PACKAGE };
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && i < sizeof(derived) / sizeof(derived[0]); i++) {
		auto_secret struct kz_secret key = { .is_set = false };

		kz_derive(field, files[derived[i]], &key);
		rc = key_save(dir, derived[i], &key, gid, err);
	}
	return rc;
}

/* One writer at a time: two "kz up" must not each make a key. */
static enum kz_rc keys_lock(int dir, int *lock, struct kz_err *err)
{
	return kz_file_lock(dir, ".lock", kz_deadline_in(KZ_SECONDS(10)), lock, err);
}

enum kz_rc kz_keys_make(const char *state, gid_t gid, struct kz_err *err)
{
	auto_secret struct kz_secret field = { .is_set = false };
	auto_secret struct kz_secret identity = { .is_set = false };
	kz_auto_close int dir = -1;
	kz_auto_close int lock = -1;
	char path[272];
	enum kz_rc rc;

	if (kz_str_format(path, sizeof(path), err, "%s/keys", state))
		return KZ_E_CONFIG;
	rc = kz_seal_init(err);
	if (!rc)
		rc = kz_dir_make(AT_FDCWD, path, 0750, gid, err);
	if (!rc)
		rc = keys_open(state, &dir, err);
	if (!rc)
		rc = keys_lock(dir, &lock, err);
	if (!rc)
		rc = key_ensure(dir, KZ_KEY_FIELD, gid, &field, err);
	if (!rc)
		rc = key_ensure(dir, KZ_KEY_IDENTITY, gid, &identity, err);
	return rc ? rc : keys_derive(dir, &field, gid, err);
}

enum kz_rc kz_keys_read(const char *state, enum kz_key which, struct kz_secret *out,
			struct kz_err *err)
{
	kz_auto_close int dir = -1;
	enum kz_rc rc = kz_seal_init(err);

	if (!rc)
		rc = keys_open(state, &dir, err);
	return rc ? rc : key_load(dir, which, out, err);
}

enum kz_rc kz_keys_rotate(const char *state, gid_t gid, struct kz_err *err)
{
	auto_secret struct kz_secret field = { .is_set = false };
	auto_secret struct kz_secret identity = { .is_set = false };
	kz_auto_close int dir = -1;
	kz_auto_close int lock = -1;
	enum kz_rc rc = kz_seal_init(err);

	if (!rc)
		rc = keys_open(state, &dir, err);
	if (!rc)
		rc = keys_lock(dir, &lock, err);
	/* Without the identity key nothing that was stored could be found again: say so before anything changes. */
	if (!rc)
		rc = key_load(dir, KZ_KEY_IDENTITY, &identity, err);
	if (rc)
		return rc;
	kz_random(field.bytes, sizeof(field.bytes));
	field.is_set = true;
	rc = key_save(dir, KZ_KEY_FIELD, &field, gid, err);
	return rc ? rc : keys_derive(dir, &field, gid, err);
}

void kz_worker_secret(const struct kz_secret *worker_key, const char *name, const char *instance,
		      char out[65])
{
	auto_secret struct kz_secret own = { .is_set = false };
	auto_secret struct kz_secret bound = { .is_set = false };

	/* One derivation a part: no name and instance run into each other. */
	kz_derive(worker_key, name, &own);
	kz_derive(&own, instance, &bound);
	kz_hex_encode(bound.bytes, sizeof(bound.bytes), out);
}

void kz_actor_id(const struct kz_secret *identity, const char *actor, char out[KZ_ID_HEX])
{
	kz_keyed_id(identity, "actor", &actor, 1, out);
}

void kz_conversation_id(const struct kz_secret *identity, const char *actor,
			const char *conversation, char out[KZ_ID_HEX])
{
	const char *const fields[] = { actor, conversation };

	kz_keyed_id(identity, "conversation", fields, 2, out);
}
