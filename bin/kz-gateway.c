/* kz-gateway: the parent API. */
#include "base/log.h"
#include "cli/main.h"
#include "cli/opt.h"
#include "core/gateway/gateway.h"

int main(int argc, char **argv)
{
	struct kz_gateway_options o = { .state = NULL, .ready_fd = -1 };
	int64_t ready_fd = -1;
	struct kz_cli cli;
	const struct kz_opt opts[] = {
		{ 's', "state", KZ_OPT_TEXT, &o.state, "DIR", "state directory", 0, 0 },
		{ 'N', "ready-fd", KZ_OPT_INT, &ready_fd, "FD",
		  "write a newline to it once connections are taken", 3, 1023 },
		KZ_OPT_JSON(&cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		.program = "kz-gateway",
		.synopsis = "[-j] [-s DIR] [-N FD]",
		.what = "the parent API: packages for workers, status for operators",
		.opts = opts
	};

	kz_main_start(&cli, "kz-gateway");
	if (!kz_opt_parse(&cli, &usage, argc, argv))
		return kz_main_end(&cli, cli.err.rc);
	o.ready_fd = (int)ready_fd;
	kz_log_init("kz-gateway", kz_log_get_level());
	return kz_main_end(&cli, kz_gateway_run(&o, &cli.err));
}
