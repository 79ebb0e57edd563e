/* Start and end of every program. */
#include "cli/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/out.h"
#include "port/json.h"
#include "rule/reason.h"

#define OUT_MAX (64 * 1024 * 1024)

/*
 * A descriptor 0 to 2 that is closed would be given to the next file opened.  A
 * closed standard output stays one that cannot be written: its output would be lost.
 */
static void open_standard(void)
{
	bool has_output = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd == STDOUT_FILENO && !has_output) {
			close(fd);
			fd = open("/dev/null", O_RDONLY);
		}
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		_exit(71);
	close(fd);
}

void kz_main_start(struct kz_cli *cli, const char *program)
{
	sigset_t none;

	open_standard();
	memset(cli, 0, sizeof(*cli));
	cli->program = program;
	cli->caller_umask = umask(077);
	kz_buf_init(&cli->out, OUT_MAX);
	sigemptyset(&none);
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGCHLD, SIG_DFL) == SIG_ERR ||
	    sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		_exit(71);
	kz_log_init(program, KZ_LOG_INFO);
}

/* Every failure has a reason; one that was given none gets its code's. */
static enum kz_reason default_reason(enum kz_rc rc)
{
	switch (rc) {
	case KZ_E_NO: return KZ_R_ANSWER_NO;
	case KZ_E_USAGE: return KZ_R_USAGE;
	case KZ_E_DATA: return KZ_R_MALFORMED_INPUT;
	case KZ_E_NOINPUT: return KZ_R_INPUT_MISSING;
	case KZ_E_UNAVAILABLE: return KZ_R_SERVICE_UNAVAILABLE;
	case KZ_E_OS: return KZ_R_SYSTEM_FAILED;
	case KZ_E_CANTCREAT: return KZ_R_OUTPUT_FAILED;
	case KZ_E_IO: return KZ_R_IO_FAILED;
	case KZ_E_TEMPFAIL: return KZ_R_TRY_LATER;
	case KZ_E_PROTOCOL: return KZ_R_VERSION_MISMATCH;
	case KZ_E_NOPERM: return KZ_R_NOT_ALLOWED;
	case KZ_E_CONFIG: return KZ_R_CONFIG_INVALID;
	case KZ_OK:
	case KZ_E_SOFTWARE: break;
	}
	return KZ_R_INTERNAL;
}

/* Make the record whole: code, reason and text. returns the exit status */
static int complete(struct kz_cli *cli, enum kz_rc rc)
{
	enum kz_reason r;

	if (cli->err.rc == KZ_OK || cli->err.rc != rc)
		kz_err_set(&cli->err, rc, "%s", kz_reason_text(default_reason(rc)));
	if (!kz_reason_find(cli->err.reason, &r)) {
		r = default_reason(rc);
		kz_err_reason(&cli->err, kz_reason_code(r));
	}
	return kz_reason_status(r);
}

static void tell_json(struct kz_cli *cli, int status)
{
	struct kz_json *j = kz_out_object("error");

	kz_json_set_str(j, "reason", cli->err.reason);
	kz_json_set_int(j, "status", status);
	/* An argument in the text need not be UTF-8, a JSON text must. */
	kz_json_set_str(j, "text",
			kz_utf8_valid(cli->err.text, strlen(cli->err.text)) ? cli->err.text :
									      cli->err.reason);
	kz_out_json(cli, j);
}

/* The failure, once: one write, so that lines of several programs do not mix. */
static void tell(struct kz_cli *cli)
{
	char line[sizeof(cli->err.text) + 256];
	int n = snprintf(line, sizeof(line), "%s%s%s: %s: %s\n", cli->program, cli->verb ? " " : "",
			 cli->verb ? cli->verb : "", cli->err.reason, cli->err.text);

	if (n >= (int)sizeof(line)) {
		n = (int)sizeof(line) - 1;
		line[n - 1] = '\n';
	}
	if (n > 0)
		(void)kz_fd_write_all(STDERR_FILENO, line, (size_t)n, NULL);
}

int kz_main_end_as(struct kz_cli *cli, enum kz_rc rc, int status)
{
	if (rc) {
		(void)complete(cli, rc);
		if (cli->json)
			tell_json(cli, status);
		tell(cli);
	}
	if (!kz_out_flush(cli) && status == 0) {
		/* The reader left: as if SIGPIPE had ended us, which needs no words. */
		status = cli->out_errno == EPIPE ? 141 : kz_reason_status(KZ_R_STDOUT_FAILED);
		if (status != 141) {
			errno = cli->out_errno;
			kz_err_sys(&cli->err, KZ_E_IO, "cannot write standard output");
			kz_err_reason(&cli->err, kz_reason_code(KZ_R_STDOUT_FAILED));
			tell(cli);
		}
	}
	kz_buf_release(&cli->out);
	return status;
}

int kz_main_end(struct kz_cli *cli, enum kz_rc rc)
{
	return kz_main_end_as(cli, rc, rc ? complete(cli, rc) : 0);
}
