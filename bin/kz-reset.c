/* kz-reset: end a lease and prove its worker clean. */
#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/token.h"
#include "core/run/hold.h"
#include "port/json.h"
#include "base/str.h"
#include "rule/reason.h"

/* One line a surface: what is there now, what there was at birth. */
static void print_text(struct kz_cli *cli, const struct kz_json *e)
{
	const struct kz_json *all = kz_json_get(e, "surfaces");

	kz_out_text(cli, "%s\n", kz_json_flag(e, "clean", false) ? "clean" : "not clean");
	for (size_t i = 0; i < kz_json_count(all); i++) {
		const char *code = kz_json_key(all, i);
		const struct kz_json *s = kz_json_get(all, code);

		if (kz_json_is_object(s))
			kz_out_text(cli, "%-12s %lld of %lld%s%s%s\n", code,
				    (long long)kz_json_num(s, "now", -1),
				    (long long)kz_json_num(s, "baseline", -1),
				    kz_str_eq(kz_json_str(s, "digest", ""),
					      kz_json_str(s, "baseline_digest", "")) ?
					    "" :
					    ", changed",
				    kz_json_get(s, "changed") ? ": " : "",
				    kz_json_str(s, "changed", ""));
		else
			kz_out_text(cli, "%-12s not read\n", code);
	}
}

static enum kz_rc reset(struct kz_cli *cli, const char *token)
{
	struct kz_hold h kz_auto_hold = { 0 };
	kz_auto_json struct kz_json *evidence = NULL;
	enum kz_rc rc = kz_hold_open(&h, &cli->err);
	bool clean;

	if (rc == KZ_OK)
		rc = kz_hold_find(&h, cli->operands[0], token, &cli->err);
	if (rc == KZ_OK)
		rc = kz_hold_release(&h, NULL, &evidence, &cli->err);
	clean = kz_json_flag(evidence, "clean", false);
	/* evidence is printed also where the reset failed: it says what could not be read */
	if (evidence && cli->json)
		(void)kz_out_json(cli, kz_json_ref(evidence));
	else if (evidence)
		print_text(cli, evidence);
	if (rc == KZ_OK && !clean)
		return kz_refuse(&cli->err, KZ_R_RESET_UNCLEAN, "%s differs; the worker is retired",
				 kz_json_str(evidence, "dirty", "the evidence"));
	return rc;
}

int main(int argc, char **argv)
{
	int64_t token_fd = -1;
	char token[KZ_TOKEN_TEXT];
	struct kz_cli cli;
	const struct kz_opt opts[] = { { 0, "token-fd", KZ_OPT_INT, &token_fd, "FD",
					 "read the token from this descriptor", 0, 1048576 },
				       KZ_OPT_JSON(&cli),
				       KZ_OPT_END };
	const struct kz_usage usage = { .program = "kz-reset",
					.synopsis = "[--token-fd FD] [-j] LEASE",
					.what = "end a lease and prove its worker clean",
					.opts = opts,
					.least = 1,
					.most = 1 };

	kz_main_start(&cli, "kz-reset");
	if (!kz_opt_parse(&cli, &usage, argc, argv))
		return kz_main_end(&cli, cli.err.rc);
	if (kz_token_read(token_fd, token, &cli.err) != KZ_OK)
		return kz_main_end(&cli, cli.err.rc);
	return kz_main_end(&cli, reset(&cli, token));
}
