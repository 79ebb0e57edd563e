/* kz-project resolve, and what the verbs share. */
#include <fcntl.h>
#include <unistd.h>

#include "verbs.h"
#include "base/fd.h"
#include "base/time.h"
#include "core/conf/conf.h"
#include "core/files/audience.h"
#include "rule/reason.h"

#define CODE_MAX (16 << 20)

static const struct kz_column columns[] = {
	{ "allowed", "allowed", NULL },
	{ "bytes", "bytes", kz_out_format_bytes },
	{ "audience_version", "audience version", NULL },
	{ "admitted_sha256", "admitted manifest", NULL },
	{ "manifest_sha256", "projected manifest", NULL },
	{ "private_selection", "private selection", NULL },
	{ NULL, NULL, NULL },
};

/* -k, or the file that the operator set. */
static enum kz_rc take_keys(struct kz_cli *cli, const char *path, struct kz_app_keys *out)
{
	struct kz_conf c;
	enum kz_rc rc;

	if (path)
		return kz_app_keys_read(path, out, &cli->err);
	rc = kz_conf_load(&c, NULL, &cli->err);
	return rc ? rc : kz_app_keys_read(c.set.kz_app_keys_file, out, &cli->err);
}

enum kz_rc kz_project_take(struct kz_cli *cli, const struct kz_project_ask *ask,
			   struct kz_projection *out)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_TURN_MAX + 1);
	struct kz_app_keys keys;
	enum kz_rc rc = ask->audience ? kz_audience_check(ask->audience, &cli->err) : KZ_OK;

	if (!rc)
		rc = kz_seal_init(&cli->err);
	if (!rc)
		rc = take_keys(cli, ask->keys, &keys);
	if (!rc)
		rc = kz_fd_read_all(STDIN_FILENO, &text, &cli->err);
	if (rc == KZ_E_DATA)
		return kz_refuse(&cli->err, KZ_R_SCOPE_MALFORMED,
				 "the scope document is too large");
	return rc ? rc :
		    kz_projection_read(kz_buf_str(&text), text.len, &keys, kz_time_wall_ms() / 1000,
				       out, &cli->err);
}

enum kz_rc kz_project_resolve(struct kz_cli *cli, const struct kz_project_ask *ask, const char *dir,
			      struct kz_projection *p)
{
	kz_auto_buf struct kz_buf code = KZ_BUF_INIT(CODE_MAX);

	if (ask->code && kz_file_read(AT_FDCWD, ask->code, &code, &cli->err))
		return kz_err_reason(&cli->err, kz_reason_code(KZ_R_CODE_UNREADABLE));
	return kz_projection_resolve(p, ask->audience, kz_prj_asks(kz_buf_str(&code), code.len),
				     dir, &cli->err);
}

int kz_project_end(struct kz_cli *cli, struct kz_projection *p, enum kz_rc rc)
{
	/* a refusal is a decision too: the line says all of it */
	if (cli->json)
		kz_out_json(cli, kz_projection_object(p, &cli->err));
	else if (!rc)
		rc = kz_out_record(cli, columns, kz_projection_object(p, &cli->err));
	kz_projection_release(p);
	return kz_main_end(cli, rc);
}

int kz_verb_resolve(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_project_ask ask = { NULL, NULL, NULL, NULL, NULL };
	struct kz_projection p = { .fd_count = 0 };
	const struct kz_opt opts[] = {
		{ 'a', "audience", KZ_OPT_TEXT, &ask.audience, "SOURCE",
		  "the live audience: cmd:PROGRAM ARG..., file:PATH or a URL", 0, 0 },
		{ 'k', "keys", KZ_OPT_TEXT, &ask.keys, "KEYS",
		  "public keys of the application (default: KZ_APP_KEYS_FILE)", 0, 0 },
		{ 'f', "code", KZ_OPT_TEXT, &ask.code, "CODE",
		  "the file of code that will run: does it ask for files?", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		.program = "kz-project",
		.verb = "resolve",
		.synopsis = KZ_RESOLVE_SYNOPSIS,
		.what = KZ_RESOLVE_WHAT,
		.opts = opts,
		.least = 0,
		.most = 0,
	};
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_project_take(cli, &ask, &p);
	if (!rc)
		rc = kz_project_resolve(cli, &ask, KZ_PRJ_DIR, &p);
	return kz_project_end(cli, &p, rc);
}
