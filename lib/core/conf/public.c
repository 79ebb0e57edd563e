/* The public halves of the keys that sign. */
#include "core/conf/public.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/conf/keys.h"
#include "port/json.h"
#include "port/seal-sign.h"
#include "rule/reason.h"

#define FILE_MAX 4096

#define auto_secret kz_auto(kz_secret_release)

/* An array with the public half of one key. */
static enum kz_rc key_array(const char *state, enum kz_key which, struct kz_json **out,
			    struct kz_err *err)
{
	auto_secret struct kz_secret seed = { .is_set = false };
	char text[KZ_PASERK_PUBLIC_TEXT], kid[KZ_PASERK_PID_TEXT];
	struct kz_public key;
	struct kz_json *o;
	enum kz_rc rc = kz_keys_read(state, which, &seed, err);

	if (rc)
		return rc;
	kz_sign_public(&seed, &key);
	kz_paserk_public(&key, text);
	kz_paserk_pid(&key, kid);
	o = kz_json_object();
	kz_json_set_str(o, "kid", kid);
	kz_json_set_str(o, "key", text);
	*out = kz_json_array();
	kz_json_append(*out, o);
	return KZ_OK;
}

static enum kz_rc build(const char *state, struct kz_buf *out, struct kz_err *err)
{
	kz_auto_json struct kz_json *all = kz_json_object();
	struct kz_json *keys = NULL;
	enum kz_rc rc;

	kz_json_set_int(all, "v", 1);
	if ((rc = key_array(state, KZ_KEY_GRANT, &keys, err)))
		return rc;
	kz_json_set(all, "grant", keys);
	if ((rc = key_array(state, KZ_KEY_RECEIPT, &keys, err)))
		return rc;
	kz_json_set(all, "receipt", keys);
	rc = kz_json_write(all, out, err);
	return rc ? rc : kz_buf_puts(out, "\n", err);
}

enum kz_rc kz_public_write(const char *state, struct kz_err *err)
{
	kz_auto_buf struct kz_buf now = KZ_BUF_INIT(FILE_MAX);
	kz_auto_buf struct kz_buf want = KZ_BUF_INIT(FILE_MAX);
	char dir[272], path[288];
	enum kz_rc rc = build(state, &want, err);

	if (rc)
		return rc;
	if (kz_str_format(dir, sizeof(dir), err, "%s/public", state) ||
	    kz_str_format(path, sizeof(path), err, "%s/%s", state, KZ_PUBLIC_KEYS))
		return KZ_E_CONFIG;
	if (!kz_file_read(AT_FDCWD, path, &now, NULL) &&
	    kz_str_eq(kz_buf_str(&now), kz_buf_str(&want)))
		return KZ_OK;
	if (access(dir, F_OK) == 0 && access(dir, W_OK) != 0)
		return kz_refuse(err, KZ_R_NO_PERMISSION, "you may not write to %s", dir);
	rc = kz_dir_make(AT_FDCWD, dir, 0755, (gid_t)-1, err);
	return rc ? rc : kz_file_replace(AT_FDCWD, path, want.data, want.len, 0644, (gid_t)-1, err);
}
