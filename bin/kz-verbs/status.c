/* kz status and kz doctor. */
#include "verbs.h"
#include "cli/opt.h"
#include "cli/out.h"

int kz_verb_status(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(65536);
	kz_auto_json struct kz_json *status = NULL;
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = { "kz", "status", KZ_STATUS_SYNOPSIS, KZ_STATUS_WHAT, opts,
					0,    0 };
	struct kz_front f;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if ((rc = kz_front_init(&f, &cli->err)))
		return kz_main_end(cli, rc);
	rc = kz_front_status(&f, &status, &cli->err);
	if (!status)
		return kz_main_end(cli, rc);
	/* a closed admission is an answer (1), not a failure of kz status */
	if (cli->json)
		kz_out_json(cli, kz_json_ref(status));
	else if (!kz_front_status_text(status, &text, NULL))
		kz_out_bytes(cli, text.data, text.len);
	return kz_main_end_as(cli, KZ_OK, rc ? 1 : 0);
}

int kz_verb_doctor(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(65536);
	kz_auto_json struct kz_json *checks = NULL;
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = { "kz", "doctor", KZ_DOCTOR_SYNOPSIS, KZ_DOCTOR_WHAT, opts,
					0,    0 };
	struct kz_front f;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if ((rc = kz_front_init(&f, &cli->err)))
		return kz_main_end(cli, rc);
	rc = kz_front_doctor(&f, &checks, &cli->err);
	for (size_t i = 0; cli->json && i < kz_json_count(checks); i++)
		kz_out_json(cli, kz_json_ref(kz_json_at(checks, i)));
	if (!cli->json && !kz_front_doctor_text(checks, &text, NULL))
		kz_out_bytes(cli, text.data, text.len);
	/* a check that fails is the answer no; the lines have said which */
	return rc == KZ_E_NO ? kz_main_end_as(cli, KZ_OK, 1) : kz_main_end(cli, rc);
}
