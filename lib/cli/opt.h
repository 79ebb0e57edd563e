/*
 * Option tables: one table drives parsing, -h, and the comparison with the
 * manual page.  Options come before operands; parsing stops at the first operand
 * or at "--"; "-" is an operand; long names are written in full; every short
 * option has a long one.  -h, -V and -v are in every table by themselves.  Layer 4.
 */
#ifndef KZ_CLI_OPT_H
#define KZ_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "cli/main.h"

enum kz_opt_kind {
	KZ_OPT_FLAG, /* bool *: set to true */
	KZ_OPT_TEXT, /* const char **: borrowed from argv; the last one given counts */
	KZ_OPT_INT,  /* int64_t *: decimal within least..most */
	KZ_OPT_LIST, /* struct kz_opt_list *: every one given, in order */
};

struct kz_opt {
	char letter;      /* 0: long only */
	const char *name; /* long name without dashes; NULL ends the table */
	enum kz_opt_kind kind;
	void *to;
	const char *arg; /* how the help calls the argument; NULL for a flag */
	const char *help;
	int64_t least, most; /* of KZ_OPT_INT */
};

#define KZ_OPT_END                                                                                 \
	{                                                                                          \
		0, NULL, KZ_OPT_FLAG, NULL, NULL, NULL, 0, 0                                       \
	}
/* The -j of every program that can print JSON lines. */
#define KZ_OPT_JSON(cli)                                                                           \
	{                                                                                          \
		'j', "json", KZ_OPT_FLAG, &(cli)->json, NULL, "print JSON lines", 0, 0             \
	}

struct kz_opt_list {
	const char **items; /* borrowed texts, an own array */
	size_t count;
};

/* Free the array of a list. */
void kz_opt_list_release(struct kz_opt_list *l);
#define kz_auto_opt_list kz_auto(kz_opt_list_release)

/* How one program, or one verb of a program, is called. */
struct kz_usage {
	const char *program;
	const char *verb;     /* NULL for a program without verbs */
	const char *synopsis; /* what follows "PROGRAM [VERB] " in the manual's SYNOPSIS */
	const char *what;     /* one line: what it does */
	const struct kz_opt *opts;
	int least, most; /* operands; most -1: any number */
};

/*
 * Parse argv[1..argc) by the table.
 * out: true when there is work to do, and cli->operands are set.  False when the
 * program shall end with kz_main_end(cli, cli->err.rc): -h or -V was printed
 * (code 0), or the command line is wrong (KZ_E_USAGE, reason usage).
 */
bool kz_opt_parse(struct kz_cli *cli, const struct kz_usage *u, int argc, char **argv);

#endif
