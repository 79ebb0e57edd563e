/* The live audience from its source. */
#include "core/files/audience.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"
#include "port/http.h"
#include "rule/reason.h"

#define WORDS_MOST 64

/* Words of a command, cut at blanks in place; no shell and no quoting. out: how many, -1 for too many */
static int split(char *text, const char *argv[WORDS_MOST + 1])
{
	char *save = NULL;
	int n = 0;

	for (char *w = strtok_r(text, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		if (n == WORDS_MOST)
			return -1;
		argv[n++] = w;
	}
	argv[n] = NULL;
	return n;
}

static bool is_url(const char *s)
{
	return kz_str_has_prefix(s, "http://") || kz_str_has_prefix(s, "https://");
}

enum kz_rc kz_audience_check(const char *source, struct kz_err *err)
{
	const char *argv[WORDS_MOST + 1];

	if (kz_str_has_prefix(source, "file:") && source[5])
		return KZ_OK;
	if (kz_str_has_prefix(source, "cmd:")) {
		kz_auto_free char *copy = kz_str_dup(source + 4);

		if (copy && split(copy, argv) > 0)
			return KZ_OK;
	}
	if (is_url(source))
		return KZ_OK;
	return kz_refuse(err, KZ_R_USAGE,
			 "the audience is cmd:PROGRAM ARG..., file:PATH or an http URL");
}

static enum kz_rc unavailable(struct kz_err *err, const char *why)
{
	return kz_refuse(err, KZ_R_AUDIENCE_UNAVAILABLE, "the live audience: %s", why);
}

static enum kz_rc ask_program(const char *command, struct kz_buf *b, struct kz_err *err)
{
	kz_auto_free char *copy = kz_str_dup(command);
	const char *argv[WORDS_MOST + 1];
	struct kz_err why = KZ_ERR_INIT;
	/* one byte more than may come, so that a cut answer is not taken for a whole one */
	kz_auto_buf struct kz_buf got = KZ_BUF_INIT(b->max + 1);
	int status = 0;
	enum kz_rc rc;

	if (!copy || split(copy, argv) <= 0)
		return unavailable(err, "there is no program");
	rc = kz_proc_run(argv, NULL, 0, &got, NULL, kz_deadline_in(KZ_MS(KZ_AUDIENCE_MS)), &status,
			 &why);
	if (rc != KZ_OK)
		return unavailable(err, why.text);
	if (status != 0)
		return kz_refuse(err, KZ_R_AUDIENCE_UNAVAILABLE,
				 "the live audience: the program ended with %d", status);
	if (got.len > b->max || kz_buf_add(b, got.data, got.len, NULL))
		return unavailable(err, "the answer is too long");
	return KZ_OK;
}

static enum kz_rc ask_file(const char *path, struct kz_buf *b, struct kz_err *err)
{
	/* Non-blocking, so that a named pipe cannot hold us here. */
	kz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return unavailable(err, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return unavailable(err, "not a file");
	return kz_fd_read_all(fd, b, NULL) ? unavailable(err, "it cannot be read, or is too long") :
					     KZ_OK;
}

static enum kz_rc take_body(void *arg, int status, int64_t length, const void *p, size_t n,
			    struct kz_err *err)
{
	(void)length;
	return status == 200 ? kz_buf_add(arg, p, n, err) : KZ_OK;
}

/* No error text of it holds the URL, which may carry a credential. */
static enum kz_rc ask_url(const char *url, struct kz_buf *b, struct kz_err *err)
{
	kz_auto_http struct kz_http *h = NULL;
	const struct kz_http_ask ask = { .method = "GET",
					 .url = url,
					 .headers = { "Accept: application/json", NULL },
					 .body_fd = -1,
					 .max = (int64_t)b->max,
					 .body = take_body,
					 .arg = b };
	struct kz_http_answer a = { .status = 0 };
	struct kz_err why = KZ_ERR_INIT;

	if (kz_http_new(&h, &why) ||
	    kz_http_do(h, &ask, &a, kz_deadline_in(KZ_MS(KZ_AUDIENCE_MS)), &why))
		return unavailable(err, why.text);
	return a.status == 200 ? KZ_OK :
				 kz_refuse(err, KZ_R_AUDIENCE_UNAVAILABLE,
					   "the live audience: the server answered %d", a.status);
}

enum kz_rc kz_audience_ask(const char *source, struct kz_buf *b, struct kz_err *err)
{
	kz_buf_clear(b);
	if (kz_str_has_prefix(source, "cmd:"))
		return ask_program(source + 4, b, err);
	if (kz_str_has_prefix(source, "file:"))
		return ask_file(source + 5, b, err);
	return ask_url(source, b, err);
}
