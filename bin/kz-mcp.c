/* kz-mcp: tools for agents, by the Model Context Protocol on standard input and output. */
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "cli/main.h"
#include "cli/opt.h"
#include "core/mcp/mcp.h"
#include "rule/reason.h"

#define CONVERSATION "mcp"

/* What the programs it starts may know of the caller's environment: where kz is, and nothing that says who asks. */
static const char *const kept[] = { "KZ_STATE", "HOME", "XDG_STATE_HOME", "PATH", NULL };

struct environment {
	char text[4][4096];
	const char *items[5];
};

static enum kz_rc make_env(struct environment *e, struct kz_err *err)
{
	size_t n = 0;
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && kept[i]; i++) {
		const char *value = getenv(kept[i]);

		if (!value)
			continue;
		rc = kz_str_format(e->text[n], sizeof(e->text[n]), err, "%s=%s", kept[i], value);
		e->items[n] = e->text[n];
		n++;
	}
	e->items[n] = NULL;
	return rc;
}

static enum kz_rc serve(struct kz_cli *cli, struct kz_mcp_ask *ask)
{
	static struct environment env;
	char outdir[4096];
	enum kz_rc rc = make_env(&env, &cli->err);

	if (rc)
		return rc;
	if (ask->outdir && !realpath(ask->outdir, outdir))
		return kz_refuse(&cli->err, KZ_R_INPUT_MISSING, "%s: no such directory",
				 ask->outdir);
	if (ask->outdir)
		ask->outdir = outdir;
	ask->env = env.items;
	return kz_mcp_serve(ask, &cli->err);
}

int main(int argc, char **argv)
{
	struct kz_cli cli;
	struct kz_mcp_ask ask = { .conversation = CONVERSATION, .in_fd = 0, .out_fd = 1 };
	const struct kz_opt opts[] = {
		{ 'A', "actor", KZ_OPT_TEXT, &ask.actor, "ACTOR",
		  "who the runs are for (default: the calling user)", 0, 0 },
		{ 'C', "conversation", KZ_OPT_TEXT, &ask.conversation, "NAME",
		  "conversation, whose workspace it is (default: mcp)", 0, 0 },
		{ 'd', "output-dir", KZ_OPT_TEXT, &ask.outdir, "OUTDIR",
		  "where outputs of runs go (default: none can be declared)", 0, 0 },
		{ 0, "compress", KZ_OPT_FLAG, &ask.is_compressed, NULL,
		  "what the model reads may be shortened (KZ_COMPRESS)", 0, 0 },
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		.program = "kz-mcp",
		.synopsis = "[-A actor] [-C conversation] [-d OUTDIR] [--compress]",
		.what = "serve run_code and the workspace by the Model Context Protocol on stdin and stdout",
		.opts = opts,
	};

	kz_main_start(&cli, "kz-mcp");
	if (!kz_opt_parse(&cli, &usage, argc, argv))
		return kz_main_end(&cli, cli.err.rc);
	return kz_main_end(&cli, serve(&cli, &ask));
}
