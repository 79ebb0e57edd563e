/* kz up and kz down. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "verbs.h"
#include "cli/opt.h"
#include "rule/reason.h"

void kz_verb_say(void *ctx, const char *line)
{
	(void)ctx;
	fprintf(stderr, "kz: %s\n", line);
}

int kz_verb_up(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_opt_list struct kz_opt_list sets = { NULL, 0 };
	struct kz_front_up o = { .foreground = false };
	const char *state = NULL;
	const struct kz_opt opts[] = {
		{ 0, "state", KZ_OPT_TEXT, &state, "DIR",
		  "state directory (others find it by KZ_STATE)", 0, 0 },
		{ 0, "set", KZ_OPT_LIST, &sets, "NAME=VALUE", "store a setting first", 0, 0 },
		{ 0, "foreground", KZ_OPT_FLAG, &o.foreground, NULL,
		  "stay; drain and stop on a signal", 0, 0 },
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz", "up", KZ_UP_SYNOPSIS, KZ_UP_WHAT, opts, 0, 0 };
	struct kz_front f;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if (state &&
	    !*state) /* an empty KZ_STATE means the default: nobody means that by an option */
		return kz_main_end(
			cli, kz_refuse(&cli->err, KZ_R_USAGE, "--state: the directory is empty"));
	o.sets = sets.items;
	o.set_count = sets.count;
	/* the option is another way to say what every program of kz reads from there, our helpers too */
	if (state && setenv("KZ_STATE", state, 1) != 0)
		return kz_main_end(cli, kz_err_sys(&cli->err, KZ_E_OS, "cannot set KZ_STATE"));
	if ((rc = kz_front_init_up(&f, &cli->err)))
		return kz_main_end(cli, rc);
	f.say = kz_verb_say;
	rc = kz_front_up(&f, &o, &cli->err);
	if (!rc && !o.foreground)
		kz_verb_say(NULL, "admission is open");
	return kz_main_end(cli, rc);
}

/* Removing keys and audit needs a yes: by option, or typed by a person. */
static enum kz_rc ask(const struct kz_front *f, struct kz_err *err)
{
	char line[16];

	if (!isatty(0))
		return kz_err_set(
			err, KZ_E_USAGE,
			"--purge removes %s with keys and audit; say --yes to do it without asking",
			f->state);
	fprintf(stderr, "kz: remove %s with its keys, audit and logs? [y/N] ", f->state);
	if (fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y'))
		return KZ_OK;
	return kz_err_set(err, KZ_E_NO, "nothing was stopped or removed");
}

int kz_verb_down(struct kz_cli *cli, int argc, char **argv)
{
	bool force = false, purge = false, yes = false;
	const struct kz_opt opts[] = {
		{ 'f', "force", KZ_OPT_FLAG, &force, NULL, "end running programs at once", 0, 0 },
		{ 0, "purge", KZ_OPT_FLAG, &purge, NULL, "remove the state directory too (asks)", 0,
		  0 },
		{ 'y', "yes", KZ_OPT_FLAG, &yes, NULL, "purge without asking", 0, 0 },
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz", "down", KZ_DOWN_SYNOPSIS, KZ_DOWN_WHAT, opts, 0, 0 };
	struct kz_front f;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if ((rc = kz_front_init(&f, &cli->err)) || (purge && !yes && (rc = ask(&f, &cli->err))))
		return kz_main_end(cli, rc);
	f.say = kz_verb_say;
	rc = kz_front_down(&f, force, &cli->err);
	return kz_main_end(cli, rc || !purge ? rc : kz_front_purge(&f, &cli->err));
}
