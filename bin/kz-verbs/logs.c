/* kz logs: shown by tail, which follows rotated files. */
#include <unistd.h>

#include "verbs.h"
#include "cli/opt.h"
#include "port/json.h"

#define SERVICES 15

int kz_verb_logs(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_json struct kz_json *names = NULL;
	bool follow = false;
	const struct kz_opt opts[] = {
		{ 'f', "follow", KZ_OPT_FLAG, &follow, NULL, "go on as lines come", 0, 0 },
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz", "logs", KZ_LOGS_SYNOPSIS, KZ_LOGS_WHAT, opts, 0, 1 };
	char paths[SERVICES][KZ_FRONT_PATH];
	char *args[SERVICES + 5] = { (char[]){ "tail" }, (char[]){ "-n" }, (char[]){ "200" },
				     (char[]){ "-F" } };
	int n = 3, count = 0;
	struct kz_front f;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if ((rc = kz_front_init(&f, &cli->err)) || (rc = kz_front_logs(&f, &names, &cli->err)))
		return kz_main_end(cli, rc);
	if (cli->operand_count == 1)
		rc = kz_front_log(&f, cli->operands[0], paths[count++], KZ_FRONT_PATH, &cli->err);
	for (size_t i = 0;
	     cli->operand_count == 0 && !rc && i < kz_json_count(names) && count < SERVICES; i++)
		rc = kz_front_log(&f, kz_json_str_value(kz_json_at(names, i)), paths[count++],
				  KZ_FRONT_PATH, &cli->err);
	if (rc)
		return kz_main_end(cli, rc);
	n += follow;
	for (int i = 0; i < count; i++)
		args[n++] = paths[i];
	args[n] = NULL;
	execvp(args[0], args);
	return kz_main_end(cli, kz_err_sys(&cli->err, KZ_E_NOINPUT, "cannot run tail"));
}
