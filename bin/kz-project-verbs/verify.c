/* kz-project verify. */
#include "verbs.h"

int kz_verb_verify(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_project_ask ask = { NULL, NULL, NULL, NULL, NULL };
	struct kz_projection p = { .fd_count = 0 };
	const struct kz_opt opts[] = {
		{ 'd', "dir", KZ_OPT_TEXT, &ask.dir, "DIR", "a directory that was staged", 0, 0 },
		{ 'k', "keys", KZ_OPT_TEXT, &ask.keys, "KEYS",
		  "public keys of the application (default: KZ_APP_KEYS_FILE)", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	static const struct kz_column columns[] = {
		{ "actor", "actor", NULL },
		{ "conversation", "conversation", NULL },
		{ "turn", "turn", NULL },
		{ "position", "admission position", NULL },
		{ "audience_version", "audience version", NULL },
		{ "manifest_sha256", "manifest", NULL },
		{ "expires_ms", "expires", kz_out_format_time },
		{ "kid", "key", NULL },
		{ NULL, NULL, NULL },
	};
	const struct kz_usage usage = {
		.program = "kz-project",
		.verb = "verify",
		.synopsis = KZ_VERIFY_SYNOPSIS,
		.what = KZ_VERIFY_WHAT,
		.opts = opts,
		.least = 0,
		.most = 0,
	};
	struct kz_json *o;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_project_take(cli, &ask, &p);
	if (!rc && ask.dir)
		rc = kz_project_check_dir(&p, ask.dir, &cli->err);
	if (!rc) {
		o = kz_out_object("capability");
		kz_json_set_str(o, "actor", p.turn.scope.actor);
		kz_json_set_str(o, "conversation", p.turn.conversation);
		kz_json_set_str(o, "turn", p.turn.scope.turn);
		kz_json_set_int(o, "position", p.turn.scope.position);
		kz_json_set_str(o, "audience_version", p.turn.scope.audience_version);
		kz_json_set_str(o, "manifest_sha256", p.turn.manifest_sha256);
		kz_json_set_str(o, "capability_sha256", p.capability.sha256);
		kz_json_set_str(o, "kid", p.capability.kid);
		kz_json_set_int(o, "issued_ms", p.capability.issued_s * 1000);
		kz_json_set_int(o, "expires_ms", p.capability.expires_s * 1000);
		rc = kz_out_record(cli, columns, o);
	}
	kz_projection_release(&p);
	return kz_main_end(cli, rc);
}
