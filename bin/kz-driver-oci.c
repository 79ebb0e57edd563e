/* kz-driver-oci: make and delete workers as containers of an OCI runtime. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/driver/oci.h"
#include "port/json.h"
#include "rule/reason.h"

#define LINE_MAX_BYTES (64 << 10)

/* A driver that could not even start answers every request with the reason. */
static struct kz_json *closed(const struct kz_err *why)
{
	struct kz_json *j = kz_json_object();

	kz_json_set_int(j, "v", 1);
	kz_json_set_bool(j, "ok", false);
	kz_json_set_str(j, "answer", "unknown");
	kz_json_set_str(j, "reason",
			why->reason[0] ? why->reason : kz_reason_code(KZ_R_DRIVER_FAILED));
	kz_json_set_str(j, "text", why->text);
	return j;
}

static enum kz_rc answer(struct kz_cli *cli, struct kz_oci *o, const struct kz_err *why,
			 const char *line, size_t n)
{
	if (kz_out_json(cli, why->rc ? closed(why) : kz_oci_answer(o, line, n)))
		return cli->err.rc;
	return kz_out_flush(cli) ? KZ_OK : KZ_E_IO;
}

/* Requests come one a line; each is answered before the next is read. */
static enum kz_rc serve(struct kz_cli *cli, struct kz_oci *o, const struct kz_err *why)
{
	kz_auto_buf struct kz_buf in = KZ_BUF_INIT(LINE_MAX_BYTES);
	char block[4096];
	ssize_t n;
	char *end;

	for (;;) {
		while (in.len && (end = memchr(in.data, '\n', in.len)) != NULL) {
			size_t len = (size_t)(end - in.data);

			if (answer(cli, o, why, in.data, len))
				return KZ_E_IO;
			kz_buf_drop(&in, len + 1);
		}
		n = read(STDIN_FILENO, block, sizeof block);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return kz_err_sys(&cli->err, KZ_E_IO, "cannot read standard input");
		if (n == 0)
			return in.len ? answer(cli, o, why, in.data, in.len) : KZ_OK;
		if (kz_buf_add(&in, block, (size_t)n, NULL))
			return kz_refuse(&cli->err, KZ_R_MALFORMED_INPUT,
					 "a request is longer than %d bytes", LINE_MAX_BYTES);
	}
}

int main(int argc, char **argv)
{
	static const struct kz_opt opts[] = { KZ_OPT_END };
	static const struct kz_usage usage = {
		.program = "kz-driver-oci",
		.synopsis = "",
		.what = "make and delete workers; one JSON request a line on standard input",
		.opts = opts,
		.least = 0,
		.most = 0,
	};
	struct kz_err why = KZ_ERR_INIT;
	struct kz_cli cli;
	struct kz_oci o;
	enum kz_rc rc;

	kz_main_start(&cli, "kz-driver-oci");
	if (!kz_opt_parse(&cli, &usage, argc, argv))
		return kz_main_end(&cli, cli.err.rc);
	kz_oci_open(&o, &why);
	rc = serve(&cli, &o, &why);
	if (!rc && why.rc) {
		cli.err = why;
		rc = why.rc;
	}
	return kz_main_end(&cli, rc);
}
