/* kz-audit receipt. */
#include <string.h>

#include "base/str.h"
#include "base/time.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/audit/run.h"
#include "core/conf/keys.h"
#include "core/receipt/receipt.h"
#include "verbs.h"
#include "rule/reason.h"

static enum kz_rc make(const struct kz_audit_place *p, const char *run, struct kz_buf *token,
		       struct kz_err *err)
{
	kz_auto_audit_run struct kz_audit_run rows = { 0 };
	kz_auto_json struct kz_json *claims = NULL;
	struct kz_secret key = { 0 };
	enum kz_rc rc = kz_audit_run_find(p->path, run, &rows, err);

	if (rc == KZ_OK)
		rc = kz_receipt_claims(&rows, p->conf.set.kz_deployment_id, kz_time_wall_ms(),
				       &claims, err);
	if (rc == KZ_OK)
		rc = kz_keys_read(p->conf.state, KZ_KEY_RECEIPT, &key, err);
	if (rc == KZ_OK)
		rc = kz_receipt_sign(&key, claims, token, err);
	kz_secret_release(&key);
	return rc;
}

int kz_verb_receipt(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_RECEIPT_MAX);
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = { .program = "kz-audit",
					.verb = "receipt",
					.synopsis = KZ_RECEIPT_SYNOPSIS,
					.what = KZ_RECEIPT_WHAT,
					.opts = opts,
					.least = 1,
					.most = 1 };
	struct kz_audit_place p;
	unsigned char id[16];
	struct kz_json *o;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if (strlen(cli->operands[0]) != 32 ||
	    kz_hex_decode(cli->operands[0], id, sizeof(id), NULL) != KZ_OK)
		return kz_main_end(
			cli, kz_refuse(&cli->err, KZ_R_USAGE, "a run is named by 32 hex digits"));
	rc = kz_audit_place(cli, &p);
	if (rc == KZ_OK)
		rc = make(&p, cli->operands[0], &token, &cli->err);
	if (rc != KZ_OK)
		return kz_main_end(cli, rc);
	if (!cli->json) {
		kz_out_text(cli, "%s\n", kz_buf_str(&token));
		return kz_main_end(cli, KZ_OK);
	}
	o = kz_out_object("receipt");
	kz_json_set_str(o, "run", cli->operands[0]);
	kz_json_set_str(o, "token", kz_buf_str(&token));
	return kz_main_end(cli, kz_out_json(cli, o));
}
