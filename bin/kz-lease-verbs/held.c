/* kz-lease renew and release: with the token of a lease. */
#include "base/str.h"
#include "cli/token.h"
#include "rule/reason.h"
#include "verbs.h"

/* renew and release begin alike. */
static enum kz_rc find(struct kz_cli *cli, struct kz_hold *h, int64_t token_fd,
		       char token[KZ_TOKEN_TEXT])
{
	enum kz_rc rc = kz_token_read(token_fd, token, &cli->err);

	if (!rc)
		rc = kz_hold_open(h, &cli->err);
	return rc ? rc : kz_hold_find(h, cli->operands[0], token, &cli->err);
}

int kz_verb_renew(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_hold h kz_auto_hold = { 0 };
	char token[KZ_TOKEN_TEXT];
	int64_t token_fd = -1;
	const struct kz_opt opts[] = { { 0, "token-fd", KZ_OPT_INT, &token_fd, "FD",
					 "read the token from this descriptor", 0, 1048576 },
				       KZ_OPT_JSON(cli),
				       KZ_OPT_END };
	const struct kz_usage usage = { "kz-lease", "renew", KZ_RENEW_SYNOPSIS, KZ_RENEW_WHAT, opts,
					1,          1 };
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = find(cli, &h, token_fd, token);
	if (!rc)
		rc = kz_hold_renew(&h, &cli->err);
	if (!rc)
		rc = kz_out_record(cli, kz_lease_columns, kz_lease_object(&h.lease, false));
	return kz_main_end(cli, rc);
}

/* A release repeated with the same token has one effect, and the same answer [LEASE-20]. */
static enum kz_rc release(struct kz_cli *cli, struct kz_hold *h, int64_t token_fd, bool *is_clean)
{
	kz_auto_json struct kz_json *evidence = NULL;
	char token[KZ_TOKEN_TEXT];
	struct kz_err again = KZ_ERR_INIT;
	enum kz_rc rc = find(cli, h, token_fd, token);

	if (!rc)
		rc = kz_hold_release(h, NULL, &evidence, &cli->err);
	*is_clean = kz_json_flag(evidence, "clean", false);
	if (!kz_str_eq(cli->err.reason, kz_reason_code(KZ_R_LEASE_LOST)) &&
	    !kz_str_eq(cli->err.reason, kz_reason_code(KZ_R_LEASE_RELEASED)))
		return rc;
	if (kz_hold_released(h, cli->operands[0], token, is_clean, &again))
		return rc;
	cli->err = (struct kz_err)KZ_ERR_INIT;
	return KZ_OK;
}

int kz_verb_release(struct kz_cli *cli, int argc, char **argv)
{
	static const struct kz_column release_columns[] = { { "lease", "lease", NULL },
							    { "clean", "clean", NULL },
							    { NULL, NULL, NULL } };
	struct kz_hold h kz_auto_hold = { 0 };
	int64_t token_fd = -1;
	bool is_clean = false;
	const struct kz_opt opts[] = { { 0, "token-fd", KZ_OPT_INT, &token_fd, "FD",
					 "read the token from this descriptor", 0, 1048576 },
				       KZ_OPT_JSON(cli),
				       KZ_OPT_END };
	const struct kz_usage usage = {
		"kz-lease", "release", KZ_RELEASE_SYNOPSIS, KZ_RELEASE_WHAT, opts, 1, 1
	};
	struct kz_json *o;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = release(cli, &h, token_fd, &is_clean);
	if (!rc) {
		o = kz_out_object("released");
		kz_json_set_str(o, "lease", cli->operands[0]);
		kz_json_set_bool(o, "clean", is_clean);
		rc = kz_out_record(cli, release_columns, o);
	}
	return kz_main_end(cli, rc);
}
