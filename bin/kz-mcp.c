/* kz-mcp: tools for agents, by the Model Context Protocol on standard input and output. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "cli/main.h"
#include "cli/opt.h"
#include "core/mcp/mcp.h"
#include "core/run/who.h"
#include "rule/reason.h"

#define CONVERSATION "mcp"
#define INLINE_MOST (8 << 20)

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

/* What no run would take is told at once, to who wrote the configuration. */
static enum kz_rc check_who(struct kz_cli *cli, const char *what, const char *s)
{
	if (s && (!*s || strlen(s) > KZ_WHO_MAX || !kz_utf8_valid(s, strlen(s)) ||
		  kz_str_has_control(s)))
		return kz_refuse(
			&cli->err, KZ_R_USAGE,
			"the %s has to be 1 to %d bytes of UTF-8 without control characters", what,
			KZ_WHO_MAX);
	return KZ_OK;
}

/* The directory of -d, which is made when only it is missing. out: its real path */
static enum kz_rc make_outdir(struct kz_cli *cli, const char *given, char real[PATH_MAX])
{
	if (mkdir(given, 0700) < 0 && errno != EEXIST)
		return kz_refuse(&cli->err, KZ_R_INPUT_MISSING, "%.300s: cannot make it: %s", given,
				 strerror(errno));
	if (!realpath(given, real))
		return kz_refuse(&cli->err, KZ_R_INPUT_MISSING, "%.300s: %s", given,
				 strerror(errno));
	return KZ_OK;
}

static enum kz_rc serve(struct kz_cli *cli, struct kz_mcp_ask *ask, int64_t days)
{
	static struct environment env;
	char outdir[PATH_MAX];
	enum kz_rc rc = make_env(&env, &cli->err);

	if (!rc)
		rc = check_who(cli, "actor", ask->actor);
	if (!rc)
		rc = check_who(cli, "conversation", ask->conversation);
	if (rc)
		return rc;
	rc = ask->outdir ? make_outdir(cli, ask->outdir, outdir) : KZ_OK;
	if (rc)
		return rc;
	if (ask->outdir)
		ask->outdir = outdir;
	ask->bounds.age_s = days * 86400;
	ask->tmpdir = getenv("TMPDIR");
	if (!ask->tmpdir || ask->tmpdir[0] != '/')
		ask->tmpdir = "/tmp";
	ask->env = env.items;
	return kz_mcp_serve(ask, &cli->err);
}

int main(int argc, char **argv)
{
	struct kz_cli cli;
	struct kz_mcp_ask ask = { .conversation = CONVERSATION,
				  .in_fd = 0,
				  .out_fd = 1,
				  .inline_bytes = 1 << 20,
				  .bounds = { .runs = 1000, .bytes = 1 << 30 } };
	int64_t days = 0;
	const struct kz_opt opts[] = {
		{ 'A', "actor", KZ_OPT_TEXT, &ask.actor, "ACTOR",
		  "who the runs are for (default: the calling user)", 0, 0 },
		{ 'C', "conversation", KZ_OPT_TEXT, &ask.conversation, "NAME",
		  "conversation, whose workspace it is (default: mcp)", 0, 0 },
		{ 'd', "output-dir", KZ_OPT_TEXT, &ask.outdir, "OUTDIR",
		  "where outputs of runs stay (default: they end with kz-mcp)", 0, 0 },
		{ 0, "inline", KZ_OPT_INT, &ask.inline_bytes, "BYTES",
		  "outputs that an answer carries itself, at most (default: 1048576)", 0,
		  INLINE_MOST },
		{ 0, "keep-runs", KZ_OPT_INT, &ask.bounds.runs, "COUNT",
		  "runs whose outputs stay in OUTDIR (default: 1000)", 1, 60000 },
		{ 0, "keep-bytes", KZ_OPT_INT, &ask.bounds.bytes, "BYTES",
		  "all outputs in OUTDIR together (default: 1073741824)", 1, INT64_MAX / 2 },
		{ 0, "keep-days", KZ_OPT_INT, &days, "DAYS",
		  "how long outputs stay in OUTDIR; 0: however long (default: 0)", 0, 36500 },
		{ 0, "compress", KZ_OPT_FLAG, &ask.is_compressed, NULL,
		  "what the model reads may be shortened (KZ_COMPRESS)", 0, 0 },
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		.program = "kz-mcp",
		.synopsis =
			"[-A actor] [-C conversation] [-d OUTDIR] [--inline BYTES] [--keep-runs COUNT] [--keep-bytes BYTES] [--keep-days DAYS] [--compress]",
		.what = "serve run_code and the workspace by the Model Context Protocol on stdin and stdout",
		.opts = opts,
	};

	kz_main_start(&cli, "kz-mcp");
	if (!kz_opt_parse(&cli, &usage, argc, argv))
		return kz_main_end(&cli, cli.err.rc);
	return kz_main_end(&cli, serve(&cli, &ask, days));
}
