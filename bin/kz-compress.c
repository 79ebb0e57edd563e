/* kz-compress: shorten a text, by the built-in rule or by a program in a jail. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cli/main.h"
#include "cli/opt.h"
#include "core/jail/foreign.h"
#include "rule/reason.h"
#include "rule/shorten.h"
#include "rule/text.h"

#define BYTES_DEFAULT 16384
#define BYTES_MOST (256 << 20)
#define SECONDS_MOST 60
#define FILTER_MEMORY (INT64_C(1) << 30)

static enum kz_rc shorten(int64_t limit, struct kz_err *err)
{
	kz_auto_buf struct kz_buf in = KZ_BUF_INIT(BYTES_MOST);
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT((size_t)3 * BYTES_MOST);
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT((size_t)3 * BYTES_MOST);
	char chunk[65536];
	ssize_t n;
	enum kz_rc rc = KZ_OK;

	while (!rc && (n = read(0, chunk, sizeof chunk)) != 0) {
		if (n > 0)
			rc = kz_buf_add(&in, chunk, (size_t)n, err);
		else if (errno != EINTR)
			rc = kz_err_sys(err, KZ_E_IO, "cannot read standard input");
	}
	if (!rc)
		rc = kz_text_put(&text, in.data, in.len, err);
	if (!rc)
		rc = kz_shorten(kz_buf_str(&text), text.len, (size_t)limit, &out, err);
	return rc ? rc : kz_fd_write_all(1, out.data, out.len, err);
}

/* Its only argument is what it should shorten to. */
static enum kz_rc become(const char *program, int64_t limit, int64_t seconds, struct kz_err *err)
{
	const struct kz_jail_bounds b = { .memory_bytes = FILTER_MEMORY, .cpu_seconds = seconds };
	char own[4096], bytes[24];
	char *const argv[] = { own, bytes, NULL }, *const env[] = { NULL };
	enum kz_rc rc;

	if (*program != '/')
		return kz_refuse(err, KZ_R_USAGE, "%s: not an absolute path", program);
	rc = kz_str_copy(own, sizeof own, program, err);
	if (!rc)
		rc = kz_str_format(bytes, sizeof bytes, err, "%lld", (long long)limit);
	if (!rc)
		rc = kz_jail_foreign(program, &b, err);
	if (rc)
		return rc;
	execve(own, argv, env);
	return kz_refuse(err, KZ_R_CANNOT_EXECUTE, "%s: %s", program, strerror(errno));
}

int main(int argc, char **argv)
{
	struct kz_cli cli;
	int64_t limit = BYTES_DEFAULT, seconds = SECONDS_MOST;
	const struct kz_opt opts[] = {
		{ 'b', "bytes", KZ_OPT_INT, &limit, "N",
		  "shorten to N bytes at most (default 16384)", KZ_SHORTEN_LEAST, BYTES_MOST },
		{ 's', "seconds", KZ_OPT_INT, &seconds, "N", "processor time of PROGRAM", 1,
		  SECONDS_MOST },
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		.program = "kz-compress",
		.synopsis = "[-b N] [-s N] [PROGRAM]",
		.what = "shorten the text on standard input, by the built-in rule or by PROGRAM in a jail",
		.opts = opts,
		.least = 0,
		.most = 1,
	};
	enum kz_rc rc;

	kz_main_start(&cli, "kz-compress");
	if (!kz_opt_parse(&cli, &usage, argc, argv))
		return kz_main_end(&cli, cli.err.rc);
	if (cli.operand_count)
		rc = become(cli.operands[0], limit, seconds, &cli.err);
	else
		rc = shorten(limit, &cli.err);
	return kz_main_end(&cli, rc);
}
