/* kz-run: run one program in a leased, isolated worker and hand its result back. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/run/classify.h"
#include "core/run/run.h"
#include "rule/reason.h"

extern char **environ;

/* The last line on stderr, which says in plain mode what of kz's own went wrong. */
static void say(const struct kz_cli *cli, const struct kz_run_result *r)
{
	/* whose reader is gone needs no words */
	if (r->has_reason && (!cli->json || r->is_unsent) && r->status != 141)
		fprintf(stderr, "%s: %s: %s\n", cli->program, r->err.reason, r->err.text);
}

static enum kz_rc check(struct kz_cli *cli, const struct kz_run_ask *ask)
{
	if (!ask->code && !ask->path)
		return kz_refuse(&cli->err, KZ_R_USAGE,
				 "no program: give FILE, - or -c CODE (see kz-run -h)");
	if (ask->record_fd >= 0 && fcntl(ask->record_fd, F_GETFD) < 0)
		return kz_refuse(&cli->err, KZ_R_USAGE, "--record %d: not an open descriptor",
				 ask->record_fd);
	return KZ_OK;
}

/* --classify: nothing is started. Status 1: the program administers a host. */
static int classify(struct kz_cli *cli, const struct kz_run_ask *ask)
{
	struct kz_json *o = NULL;
	bool is_admin = false;
	enum kz_rc rc =
		kz_run_classify(ask->path, ask->code, ask->language, &is_admin, &o, &cli->err);

	if (!rc)
		rc = kz_out_json(cli, o);
	return rc ? kz_main_end(cli, rc) : kz_main_end_as(cli, KZ_OK, is_admin ? 1 : 0);
}

static int run(struct kz_cli *cli, struct kz_run_ask *ask, bool is_classify)
{
	struct kz_run_result result;
	char **rest = cli->operands;
	int count = cli->operand_count;
	enum kz_rc rc;

	if (!ask->code && count > 0) {
		ask->path = *rest++;
		count--;
	}
	ask->args = (const char *const *)rest;
	ask->arg_count = (size_t)count;
	rc = check(cli, ask);
	if (rc)
		return kz_main_end(cli, rc);
	if (is_classify)
		return classify(cli, ask);
	kz_run(ask, &result);
	say(cli, &result);
	return result.status;
}

int main(int argc, char **argv)
{
	struct kz_cli cli;
	struct kz_run_ask ask = { .stdin_fd = 0, .stdout_fd = 1, .stderr_fd = 2 };
	kz_auto_opt_list struct kz_opt_list inputs = { 0 }, outputs = { 0 }, env = { 0 };
	kz_auto_opt_list struct kz_opt_list canvases = { 0 }, requirements = { 0 };
	int64_t record = -1;
	bool is_classify = false;
	const struct kz_opt opts[] = {
		{ 'A', "actor", KZ_OPT_TEXT, &ask.actor, "ACTOR",
		  "who the run is for (default: the calling user)", 0, 0 },
		{ 'C', "conversation", KZ_OPT_TEXT, &ask.conversation, "NAME",
		  "conversation the run belongs to (default: one of its own)", 0, 0 },
		{ 'l', "language", KZ_OPT_TEXT, &ask.language, "NAME",
		  "python, node or shell (default: suffix, #!, else python)", 0, 0 },
		{ 'k', "kernel", KZ_OPT_FLAG, &ask.is_kernel, NULL, "keep its variables", 0, 0 },
		{ 'c', "code", KZ_OPT_TEXT, &ask.code, "CODE", "run this text, not a FILE", 0, 0 },
		{ 'i', "input", KZ_OPT_LIST, &inputs, "[NAME=]FILE",
		  "put FILE into the workspace as NAME", 0, 0 },
		{ 'o', "output", KZ_OPT_LIST, &outputs, "NAME",
		  "copy NAME out of the workspace after the run", 0, 0 },
		{ 0, "canvas", KZ_OPT_LIST, &canvases, "NAME",
		  "copy NAME out as an editable text instead of a download", 0, 0 },
		{ 'd', "output-dir", KZ_OPT_TEXT, &ask.outdir, "OUTDIR", "where outputs go", 0, 0 },
		{ 'e', "env", KZ_OPT_LIST, &env, "NAME[=VALUE]",
		  "set a variable of the program; without VALUE: the caller's", 0, 0 },
		{ 'r', "require", KZ_OPT_LIST, &requirements, "REQUIREMENT",
		  "have this package: NAME, NAME==VERSION, NAME@RANGE", 0, 0 },
		{ 0, "no-infer", KZ_OPT_FLAG, &ask.has_no_inference, NULL,
		  "install nothing because the program imports it", 0, 0 },
		{ 0, "scope", KZ_OPT_TEXT, &ask.scope, "SCOPE",
		  "run under this scope document: actor, conversation and files are its", 0, 0 },
		{ 0, "documents", KZ_OPT_TEXT, &ask.documents, "DIR",
		  "the files of the scope, named by their SHA-256", 0, 0 },
		{ 0, "audience", KZ_OPT_TEXT, &ask.audience, "SOURCE",
		  "the live audience: cmd:PROGRAM ARG..., file:PATH or a URL", 0, 0 },
		{ 0, "approve", KZ_OPT_TEXT, &ask.approval, "ID",
		  "the run may use the network, as approval ID says (default: it may not)", 0, 0 },
		{ 't', "timeout", KZ_OPT_INT, &ask.wall_ms, "MS", "lower the wall-clock bound", 1,
		  INT64_MAX },
		{ 0, "compress", KZ_OPT_FLAG, &ask.is_compressed, NULL,
		  "what the model reads may be shortened (KZ_COMPRESS)", 0, 0 },
		{ 0, "classify", KZ_OPT_FLAG, &is_classify, NULL,
		  "only say whether the program administers a host; nothing is started", 0, 0 },
		KZ_OPT_JSON(&cli),
		{ 0, "record", KZ_OPT_INT, &record, "FD",
		  "write the terminal record to this descriptor too", 0, 1048576 },
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		.program = "kz-run",
		.synopsis =
			"[-A actor] [-C conversation] [-l python|node|shell] [-k] [-i [NAME=]FILE]... [-o NAME]... [--canvas NAME]... [-d OUTDIR] "
			"[-e NAME[=VALUE]]... [-r REQUIREMENT]... [--no-infer] [--scope SCOPE] [--documents DIR] [--audience SOURCE] "
			"[--approve ID] [-t MS] [--compress] [--classify] [-j] [--record FD] (FILE | - | -c CODE) [ARG...]",
		.what = "run a program in a leased, isolated worker",
		.opts = opts,
		.most = -1,
	};

	kz_main_start(&cli, "kz-run");
	if (!kz_opt_parse(&cli, &usage, argc, argv))
		return kz_main_end(&cli, cli.err.rc);
	ask.inputs = inputs.items;
	ask.input_count = inputs.count;
	ask.outputs = outputs.items;
	ask.output_count = outputs.count;
	ask.canvases = canvases.items;
	ask.canvas_count = canvases.count;
	ask.requirements = requirements.items;
	ask.requirement_count = requirements.count;
	ask.env = env.items;
	ask.env_count = env.count;
	ask.caller_env = (const char *const *)environ;
	ask.record_fd = (int)record;
	ask.is_json = cli.json;
	ask.lease = getenv("KZ_LEASE");
	ask.token = getenv("KZ_LEASE_TOKEN");
	ask.fence = getenv("KZ_FENCE");
	return run(&cli, &ask, is_classify);
}
