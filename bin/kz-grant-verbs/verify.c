/* kz-grant verify. */
#include <string.h>
#include <unistd.h>

#include "verbs.h"
#include "base/fd.h"
#include "base/time.h"
#include "core/egress/revoke.h"
#include "rule/reason.h"

/* The token of the command line, or of standard input. */
static enum kz_rc take_token(struct kz_cli *cli, struct kz_buf *out)
{
	const char *given = cli->operand_count ? cli->operands[0] : "-";

	if (strcmp(given, "-") != 0)
		return kz_buf_puts(out, given, NULL) ?
			       kz_refuse(&cli->err, KZ_R_GRANT_MALFORMED,
					 "it is longer than a grant can be") :
			       KZ_OK;
	if (kz_fd_read_all(STDIN_FILENO, out, &cli->err) == KZ_E_DATA)
		return kz_refuse(&cli->err, KZ_R_GRANT_MALFORMED,
				 "it is longer than a grant can be");
	if (out->len > 0 && out->data[out->len - 1] == '\n')
		out->len--;
	return out->len > 0 ? KZ_OK : kz_refuse(&cli->err, KZ_R_GRANT_MISSING, NULL);
}

static enum kz_rc check_revoked(const struct kz_conf *c, const struct kz_keyring *ring,
				const struct kz_grant *g, struct kz_err *err)
{
	kz_auto_revoked struct kz_revoked *r = NULL;
	char path[512];
	enum kz_rc rc = kz_conf_path(c, KZ_REVOKED_FILE, path, sizeof(path), err);

	if (!rc)
		rc = kz_revoked_read(path, ring, 0, &r, err);
	if (!rc && kz_revoked_has(r, g))
		return kz_refuse(err, KZ_R_GRANT_REVOKED, "the grant of %s was revoked",
				 g->execution);
	return rc;
}

static enum kz_rc verify(struct kz_cli *cli)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX + 1);
	kz_auto_keyring struct kz_keyring *ring = NULL;
	char audience[KZ_AUDIENCE_TEXT];
	struct kz_conf c;
	struct kz_grant g;
	enum kz_rc rc;

	if ((rc = kz_conf_load(&c, NULL, &cli->err)) || (rc = take_token(cli, &token)) ||
	    (rc = kz_grant_ring(&c, &ring, &cli->err)))
		return rc;
	kz_grant_audience(c.set.kz_deployment_id, audience);
	rc = kz_grant_verify(ring, audience, token.data, token.len, kz_time_wall_ms() / 1000, &g,
			     &cli->err);
	if (!rc)
		rc = check_revoked(&c, ring, &g, &cli->err);
	return rc ? rc : kz_out_record(cli, kz_grant_columns, kz_grant_object(&g, NULL));
}

int kz_verb_verify(struct kz_cli *cli, int argc, char **argv)
{
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = {
		"kz-grant", "verify", KZ_VERIFY_SYNOPSIS, KZ_VERIFY_WHAT, opts, 0, 1
	};

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	return kz_main_end(cli, verify(cli));
}
