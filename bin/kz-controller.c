/* kz-controller: own the workers of this machine. */
#include "base/log.h"
#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/pool/keeper.h"

static enum kz_rc prune(struct kz_cli *cli, const char *state)
{
	int removed = 0;
	enum kz_rc rc = kz_keeper_prune(state, &removed, &cli->err);
	struct kz_json *o;

	if (rc != KZ_OK)
		return rc;
	o = kz_out_object("prune");
	kz_json_set_int(o, "removed", removed);
	if (cli->json)
		return kz_out_json(cli, o);
	kz_json_free(o);
	kz_out_text(cli, "%d removed\n", removed);
	return KZ_OK;
}

int main(int argc, char **argv)
{
	struct kz_keeper_options o = { .state = NULL, .ready_fd = -1 };
	bool is_prune = false;
	int64_t ready_fd = -1;
	struct kz_cli cli;
	const struct kz_opt opts[] = {
		{ 's', "state", KZ_OPT_TEXT, &o.state, "DIR", "state directory", 0, 0 },
		{ 'N', "ready-fd", KZ_OPT_INT, &ready_fd, "FD",
		  "write a newline to it once admission is open", 3, 1023 },
		{ 'P', "prune", KZ_OPT_FLAG, &is_prune, NULL,
		  "remove libraries of other versions from Valkey, and end", 0, 0 },
		KZ_OPT_JSON(&cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		.program = "kz-controller",
		.synopsis = "[-j] [-s DIR] [-N FD] [-P]",
		.what = "keep the workers of this machine: warm, counted, recovered",
		.opts = opts
	};

	kz_main_start(&cli, "kz-controller");
	if (!kz_opt_parse(&cli, &usage, argc, argv))
		return kz_main_end(&cli, cli.err.rc);
	if (is_prune)
		return kz_main_end(&cli, prune(&cli, o.state));
	o.ready_fd = (int)ready_fd;
	kz_log_init("kz-controller", kz_log_get_level());
	return kz_main_end(&cli, kz_keeper_run(&o, &cli.err));
}
