/* Output: the only writer of standard output. */
#include "cli/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

#define FLUSH_AT 32768

struct kz_json *kz_out_object(const char *type)
{
	struct kz_json *j = kz_json_object();

	kz_json_set_int(j, "v", 1);
	kz_json_set_str(j, "type", type);
	return j;
}

bool kz_out_flush(struct kz_cli *cli)
{
	if (cli->out_errno == 0 && cli->out.len > 0) {
		struct kz_err err = KZ_ERR_INIT;

		if (kz_fd_write_all(STDOUT_FILENO, cli->out.data, cli->out.len, &err))
			cli->out_errno = err.sys_errno ? err.sys_errno : EIO;
	}
	kz_buf_clear(&cli->out);
	return cli->out_errno == 0;
}

void kz_out_bytes(struct kz_cli *cli, const void *p, size_t n)
{
	const char *s = p;

	while (n > 0 && cli->out_errno == 0) {
		size_t part = n < FLUSH_AT ? n : FLUSH_AT;

		if (kz_buf_add(&cli->out, s, part, NULL)) {
			cli->out_errno = ENOMEM;
			return;
		}
		s += part;
		n -= part;
		if (cli->out.len >= FLUSH_AT)
			kz_out_flush(cli);
	}
}

void kz_out_text(struct kz_cli *cli, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(line)) {
		kz_out_bytes(cli, line, (size_t)n);
	} else if (n > 0) {
		char *text = NULL;

		va_start(ap, fmt);
		n = vasprintf(&text, fmt, ap);
		va_end(ap);
		if (n < 0) {
			cli->out_errno = ENOMEM;
			return;
		}
		kz_out_bytes(cli, text, (size_t)n);
		free(text);
	}
}

enum kz_rc kz_out_json(struct kz_cli *cli, struct kz_json *j)
{
	kz_auto_json struct kz_json *own = j;
	kz_auto_buf struct kz_buf line = KZ_BUF_INIT(16 * 1024 * 1024);
	struct kz_err err = KZ_ERR_INIT;
	enum kz_rc rc = kz_json_write(own, &line, &err);

	if (!rc)
		rc = kz_buf_puts(&line, "\n", &err);
	if (rc) {
		/* The error object itself comes through here: keep what it tells. */
		if (!cli->err.rc)
			cli->err = err;
		return rc;
	}
	kz_out_bytes(cli, line.data, line.len);
	return KZ_OK;
}
