/* kz-grant keys. */
#include <sys/stat.h>
#include <unistd.h>

#include "verbs.h"
#include "base/time.h"
#include "core/conf/keys.h"
#include "core/conf/public.h"
#include "core/egress/revoke.h"
#include "rule/reason.h"

/* A new field key, and everything that derives from it. */
static enum kz_rc rotate(const struct kz_conf *c, struct kz_err *err)
{
	char path[512];
	struct stat st;
	enum kz_rc rc = kz_conf_path(c, "keys", path, sizeof(path), err);

	if (rc)
		return rc;
	if (stat(path, &st) < 0)
		return kz_err_sys(err, KZ_E_CONFIG, "cannot look at %s", path);
	if (access(path, W_OK) != 0)
		return kz_refuse(err, KZ_R_NO_PERMISSION,
				 "only the owner of %s may rotate the keys; run it with sudo",
				 path);
	return kz_keys_rotate(c->state, st.st_gid, err);
}

/* What others verify with. */
static enum kz_rc write_public(const struct kz_conf *c, struct kz_err *err)
{
	kz_auto(kz_secret_release) struct kz_secret key = { .is_set = false };
	enum kz_rc rc = kz_public_write(c->state, err);

	if (!rc)
		rc = kz_keys_read(c->state, KZ_KEY_GRANT, &key, err);
	return rc ? rc : kz_revoke(c->state, &key, NULL, 0, kz_time_wall_ms(), NULL, err);
}

static enum kz_rc show(struct kz_cli *cli, const struct kz_keyring *ring)
{
	static const struct kz_column columns[] = {
		{ "use", "USE", NULL },
		{ "kid", "KEY ID", NULL },
		{ "key", "PUBLIC KEY", NULL },
		{ NULL, NULL, NULL },
	};
	static const char *const uses[] = {
		[KZ_KEY_USE_GRANT] = "grant", [KZ_KEY_USE_RECEIPT] = "receipt"
	};
	kz_auto_table struct kz_table t;
	char kid[KZ_KID_TEXT], key[KZ_PASERK_PUBLIC_TEXT];
	enum kz_rc rc = KZ_OK;

	kz_table_start(&t, cli, columns);
	for (int use = KZ_KEY_USE_GRANT; use <= KZ_KEY_USE_RECEIPT; use++)
		for (size_t i = 0; !rc && kz_keyring_key(ring, (enum kz_key_use)use, i, kid, key);
		     i++) {
			struct kz_json *o = kz_out_object("key");

			kz_json_set_str(o, "use", uses[use]);
			kz_json_set_str(o, "kid", kid);
			kz_json_set_str(o, "key", key);
			rc = kz_table_row(&t, o);
		}
	return rc ? rc : kz_table_end(&t, "no keys");
}

static enum kz_rc run(struct kz_cli *cli, bool do_write, bool do_rotate)
{
	kz_auto_keyring struct kz_keyring *ring = NULL;
	struct kz_conf c;
	enum kz_rc rc = kz_conf_load(&c, NULL, &cli->err);

	if (!rc && do_rotate)
		rc = rotate(&c, &cli->err);
	if (!rc && (do_write || do_rotate))
		rc = write_public(&c, &cli->err);
	if (!rc)
		rc = kz_grant_ring(&c, &ring, &cli->err);
	return rc ? rc : show(cli, ring);
}

int kz_verb_keys(struct kz_cli *cli, int argc, char **argv)
{
	bool do_write = false, do_rotate = false;
	const struct kz_opt opts[] = {
		{ 'w', "write", KZ_OPT_FLAG, &do_write, NULL,
		  "write them anew from the private keys first", 0, 0 },
		{ 'R', "rotate", KZ_OPT_FLAG, &do_rotate, NULL,
		  "replace the field key first: former grants and workers end", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-grant", "keys", KZ_KEYS_SYNOPSIS, KZ_KEYS_WHAT, opts,
					0,          0 };

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	return kz_main_end(cli, run(cli, do_write, do_rotate));
}
