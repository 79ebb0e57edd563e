/*
 * Start and end of every program.  main is the only place where an exit status
 * is born; it comes out of kz_main_end.  Layer 4.
 *
 *	int main(int argc, char **argv)
 *	{
 *		bool force = false;
 *		int64_t ms = 1000;
 *		struct kz_cli cli;
 *		const struct kz_opt opts[] = {
 *			{ 'f', "force", KZ_OPT_FLAG, &force, NULL, "do it without asking", 0, 0 },
 *			{ 't', "timeout", KZ_OPT_INT, &ms, "MS", "longest time it may take", 1, 86400000 },
 *			KZ_OPT_JSON(&cli),
 *			KZ_OPT_END,
 *		};
 *		const struct kz_usage usage = {
 *			.program = "kz-example", .synopsis = "[-f] [-t MS] [-j] NAME",
 *			.what = "show how a program is written", .opts = opts, .least = 1, .most = 1,
 *		};
 *
 *		kz_main_start(&cli, "kz-example");
 *		if (!kz_opt_parse(&cli, &usage, argc, argv))
 *			return kz_main_end(&cli, cli.err.rc);
 *		return kz_main_end(&cli, example(&cli, cli.operands[0], force, KZ_MS(ms)));
 *	}
 *
 * example() prints through cli/out.h, fills cli->err and returns its code.
 */
#ifndef KZ_CLI_MAIN_H
#define KZ_CLI_MAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* What a main holds.  Callers read json, operands and caller_umask, and fill err. */
struct kz_cli {
	const char *program;
	const char *verb; /* of a program with verbs, else NULL */
	bool json;        /* -j: JSON lines on stdout, the error object included */
	char **operands;  /* what follows the options, NULL-terminated; borrowed from argv */
	int operand_count;
	mode_t caller_umask; /* for files made in the caller's own places; ours is 077 */
	struct kz_err err;
	struct kz_buf out; /* stdout, not yet written */
	int out_errno;     /* why stdout could not be written, 0 while it could */
};

/*
 * First call of every program: descriptors 0 to 2 open (else /dev/null), umask
 * 077, SIGPIPE ignored, SIGCHLD and the signal mask as a program expects them.
 * Ends the program with 71 when even that fails.
 */
void kz_main_start(struct kz_cli *cli, const char *program);

/*
 * Last call: "return kz_main_end(&cli, rc)".  Writes what is left of stdout, and
 * fails with stdout_failed (74) when it did not go out (141 in silence when its
 * reader is gone).  Tells a failure once: one line "PROGRAM: REASON: text" on
 * stderr, and with -j {"v":1,"type":"error","reason","status","text"} on stdout.
 * out: the exit status, which is the reason's, else the code's.
 */
int kz_main_end(struct kz_cli *cli, enum kz_rc rc);
/* As kz_main_end with an exit status of the caller's (a child's, or 125); stdout failing still gives 74 or 141 if status is 0. */
int kz_main_end_as(struct kz_cli *cli, enum kz_rc rc, int status);

/* One verb of a program that has several. */
struct kz_verb {
	const char *name;
	const char *synopsis; /* what follows "PROGRAM NAME " in the manual's SYNOPSIS */
	const char *what;     /* one line of help */
	int (*run)(struct kz_cli *cli, int argc,
		   char **argv); /* argv[0] is the verb; returns kz_main_end(...) */
};

/* Run the verb that argv[1] names; handles -h, -V, a missing and an unknown verb. in: verbs end with a NULL name. returns the exit status */
int kz_main_verbs(struct kz_cli *cli, const char *what, const struct kz_verb *verbs, int argc,
		  char **argv);

#endif
