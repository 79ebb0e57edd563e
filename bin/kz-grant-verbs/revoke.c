/* kz-grant revoke. */
#include <string.h>

#include "verbs.h"
#include "base/time.h"
#include "core/audit/grants.h"
#include "core/conf/keys.h"
#include "core/egress/revoke.h"
#include "rule/reason.h"

/* A later time would end all egress for as long, and no revocation is taken back. */
#define AHEAD_S 60

/* Which grants. out: before_s 0 when an execution is named */
static enum kz_rc take_which(struct kz_cli *cli, const char *before, int64_t now_s,
			     const char **execution, int64_t *before_s)
{
	*before_s = 0;
	*execution = cli->operand_count ? cli->operands[0] : NULL;
	if (!before == !*execution)
		return kz_refuse(&cli->err, KZ_R_USAGE,
				 "name either an execution or --before TIME");
	if (!before)
		return KZ_OK;
	if (strcmp(before, "now") == 0) {
		*before_s = now_s + 1;
		return KZ_OK;
	}
	if (kz_grant_time(before, before_s, &cli->err))
		return cli->err.rc;
	if (*before_s > now_s + AHEAD_S)
		return kz_refuse(&cli->err, KZ_R_USAGE,
				 "%s is more than %d s ahead; a revocation is not taken back",
				 before, AHEAD_S);
	return KZ_OK;
}

static enum kz_rc print(struct kz_cli *cli, const char *execution, int64_t before_s, int64_t serial)
{
	struct kz_json *o;

	if (!cli->json)
		return KZ_OK;
	o = kz_out_object("revocation");
	kz_json_set_int(o, "serial", serial);
	kz_json_set_str(o, "execution", execution);
	kz_json_set(o, "before_ms", before_s ? kz_json_int(before_s * 1000) : kz_json_null());
	return kz_out_json(cli, o);
}

static enum kz_rc revoke_grants(struct kz_cli *cli, const char *before)
{
	kz_auto(kz_secret_release) struct kz_secret key = { .is_set = false };
	kz_auto_audit struct kz_audit *audit = NULL;
	int64_t now_s = kz_time_wall_ms() / 1000, before_s, serial = 0;
	const char *execution;
	struct kz_conf c;
	enum kz_rc rc;

	if ((rc = take_which(cli, before, now_s, &execution, &before_s)) ||
	    (rc = kz_conf_load(&c, NULL, &cli->err)) ||
	    (rc = kz_keys_read(c.state, KZ_KEY_GRANT, &key, &cli->err)) ||
	    (rc = kz_revoke(c.state, &key, execution, before_s, kz_time_wall_ms(), &serial,
			    &cli->err)))
		return rc;
	/* What is revoked stays so, also when it cannot be put on record. */
	if ((rc = kz_grant_audit(&c, &audit, &cli->err)) ||
	    (rc = kz_audit_revocation(audit, execution, before_s, serial, &cli->err)))
		return kz_err_wrap(&cli->err, "revoked, but it is not on record");
	/* Grants count whole seconds: one made after this returns is none of those before. */
	while (before_s > 0 && before_s <= now_s + 1 && kz_time_wall_ms() / 1000 < before_s)
		kz_time_sleep(KZ_MS(20), KZ_NEVER);
	return print(cli, execution, before_s, serial);
}

int kz_verb_revoke(struct kz_cli *cli, int argc, char **argv)
{
	const char *before = NULL;
	const struct kz_opt opts[] = {
		{ 'b', "before", KZ_OPT_TEXT, &before, "TIME",
		  "every grant issued before, 2026-01-31T23:59:59Z or now", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-grant", "revoke", KZ_REVOKE_SYNOPSIS, KZ_REVOKE_WHAT, opts, 0, 1
	};

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	return kz_main_end(cli, revoke_grants(cli, before));
}
