/* Programs with verbs. */
#include <string.h>

#include "cli/main.h"
#include "cli/out.h"
#include "rule/reason.h"

static void verbs_help(struct kz_cli *cli, const char *what, const struct kz_verb *verbs)
{
	const char *lead = "usage:";

	for (const struct kz_verb *v = verbs; v->name; v++, lead = "      ")
		kz_out_text(cli, "%s %s %s%s%s\n", lead, cli->program, v->name,
			    *v->synopsis ? " " : "", v->synopsis);
	kz_out_text(cli, "%s: %s\n\nverbs:\n", cli->program, what);
	for (const struct kz_verb *v = verbs; v->name; v++)
		kz_out_text(cli, "  %-14s %s\n", v->name, v->what);
	kz_out_text(cli, "\n%s VERB -h tells the options of a verb.\n", cli->program);
}

int kz_main_verbs(struct kz_cli *cli, const char *what, const struct kz_verb *verbs, int argc,
		  char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (word && (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)) {
		verbs_help(cli, what, verbs);
		return kz_main_end(cli, KZ_OK);
	}
	if (word && (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0)) {
		kz_out_text(cli, "%s %s\n", cli->program, KZ_VERSION);
		return kz_main_end(cli, KZ_OK);
	}
	for (const struct kz_verb *v = verbs; word && v->name; v++)
		if (strcmp(v->name, word) == 0) {
			cli->verb = v->name;
			return v->run(cli, argc - 1, argv + 1);
		}
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "-j") == 0 || strcmp(argv[i], "--json") == 0)
			cli->json = true;
	if (word)
		return kz_main_end(cli, kz_refuse(&cli->err, KZ_R_USAGE,
						  "no such verb: %.80s (try: %s -h)", word,
						  cli->program));
	return kz_main_end(cli, kz_refuse(&cli->err, KZ_R_USAGE, "a verb is missing (try: %s -h)",
					  cli->program));
}
