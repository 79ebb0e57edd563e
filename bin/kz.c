/* kz: the front. Starts, stops and looks at the stack; "kz X" runs kz-X. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/where.h"
#include "cli/opt.h"
#include "kz-verbs/verbs.h"

static int run_help(struct kz_cli *cli, int argc, char **argv);

static const char help_what[] = "say how a verb, or a program kz-TOPIC, is called";
static const char what[] = "run programs that nobody trusts, in leased workers proved clean";

static const struct kz_verb verbs[] = {
	{ "up", KZ_UP_SYNOPSIS, KZ_UP_WHAT, kz_verb_up },
	{ "down", KZ_DOWN_SYNOPSIS, KZ_DOWN_WHAT, kz_verb_down },
	{ "status", KZ_STATUS_SYNOPSIS, KZ_STATUS_WHAT, kz_verb_status },
	{ "doctor", KZ_DOCTOR_SYNOPSIS, KZ_DOCTOR_WHAT, kz_verb_doctor },
	{ "logs", KZ_LOGS_SYNOPSIS, KZ_LOGS_WHAT, kz_verb_logs },
	{ "config", KZ_CONFIG_SYNOPSIS, KZ_CONFIG_WHAT, kz_verb_config },
	{ "help", "[TOPIC]", help_what, run_help },
	{ NULL, NULL, NULL, NULL },
};

static const struct kz_verb *find_verb(const char *name)
{
	for (const struct kz_verb *v = verbs; v->name; v++)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}

/* "kz X ..." is "kz-X ...", as git does; returns when there is no such program. */
static void run_program(const char *name, char **args)
{
	char path[KZ_FRONT_PATH], file[80];

	if (!kz_str_is_name(name))
		return;
	snprintf(file, sizeof file, "kz-%s", name);
	if (kz_where_program(file, path, sizeof path, NULL))
		return;
	args[0] = file;
	execv(path, args);
}

static int run_help(struct kz_cli *cli, int argc, char **argv)
{
	const struct kz_opt opts[] = { KZ_OPT_END };
	const struct kz_usage usage = { "kz", "help", "[TOPIC]", help_what, opts, 0, 1 };
	char *help[] = { (char[]){ "kz" }, (char[]){ "-h" }, NULL };
	const struct kz_verb *v;
	char *topic;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	topic = cli->operand_count ? cli->operands[0] : NULL;
	v = topic ? find_verb(topic) : NULL;
	if (!topic || (v && v->run == run_help))
		return kz_main_verbs(cli, what, verbs, 2, help);
	help[0] = topic;
	if (v)
		return v->run(cli, 2, help);
	run_program(kz_str_has_prefix(topic, "kz-") ? topic + 3 : topic, help);
	return kz_main_end(cli, kz_err_set(&cli->err, KZ_E_NOINPUT,
					   "there is no verb %s and no program kz-%s; see: kz help",
					   topic, topic));
}

int main(int argc, char **argv)
{
	struct kz_cli cli;

	kz_main_start(&cli, "kz");
	if (argc > 1 && argv[1][0] != '-' && !find_verb(argv[1]))
		run_program(argv[1], argv + 1);
	return kz_main_verbs(&cli, what, verbs, argc, argv);
}
