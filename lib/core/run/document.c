/* Asking kz-native about a file that has no name yet. */
#include "core/run/document.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/auto.h"
#include "base/proc.h"
#include "base/str.h"
#include "base/where.h"
#include "port/json.h"
#include "rule/native.h"
#include "rule/path.h"
#include "rule/reason.h"

#define CHECK_MS 30000
#define ANSWER_MAX 65536

static enum kz_rc unavailable(struct kz_err *err, const char *what)
{
	return kz_refuse(err, KZ_R_NATIVE_UNAVAILABLE, "%s (kz-native)", what);
}

/* The offset of this one is its own, and it cannot be written through. */
static int reopened(int fd)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Its answer, one line. */
static enum kz_rc ask(const char *name, int fd, struct kz_buf *answer, int *status,
		      struct kz_err *err)
{
	static const char *const nothing[] = { NULL };
	char program[4096];
	kz_auto_close int file = reopened(fd);
	const char *argv[] = { program, "check", "-j", "--name", name, "-", NULL };
	const struct kz_spawn s = { .argv = argv, .envp = nothing, .cwd = "/", .stdin_fd = file };
	struct kz_err why = KZ_ERR_INIT;

	if (file < 0 || kz_where_program("kz-native", program, sizeof(program), &why))
		return unavailable(err, "the check cannot be started");
	if (kz_proc_run_as(&s, answer, NULL, kz_deadline_in(KZ_MS(CHECK_MS)), status, &why))
		return unavailable(err, why.rc == KZ_E_TEMPFAIL ? "the check took too long" :
								  "the check cannot be started");
	return KZ_OK;
}

/* A refusal counts with any of the reasons that the check has. */
static enum kz_rc refused(const struct kz_json *o, struct kz_err *err)
{
	static const enum kz_reason known[] = { KZ_R_NATIVE_INVALID, KZ_R_NATIVE_MISMATCH,
						KZ_R_NATIVE_ENCRYPTED, KZ_R_NATIVE_BOMB };
	const char *reason = kz_json_str(o, "reason", ""), *text = kz_json_str(o, "text", "");

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (kz_str_eq(reason, kz_reason_code(known[i])))
			return kz_refuse(err, known[i], "%.400s",
					 *text ? text : kz_reason_text(known[i]));
	return unavailable(err, "the check gave no verdict");
}

enum kz_rc kz_document_check(const char *name, int fd, int64_t bytes, struct kz_err *err)
{
	enum kz_native_kind kind = kz_native_kind_of_name(name);
	kz_auto_buf struct kz_buf answer = KZ_BUF_INIT(ANSWER_MAX);
	kz_auto_json struct kz_json *o = NULL;
	int status = -1;
	enum kz_rc rc;

	if (kind == KZ_NATIVE_NONE)
		return KZ_OK;
	rc = ask(kz_path_base(name), fd, &answer, &status, err);
	if (rc)
		return rc;
	if (kz_json_parse(kz_buf_str(&answer), answer.len, &o, NULL) ||
	    !kz_str_eq(kz_json_str(o, "type", ""), "native"))
		return unavailable(err, "the check gave no verdict");
	if (!kz_json_flag(o, "sound", false))
		return refused(o, err);
	/* A verdict on something else is none on this. */
	if (status != 0 || kz_json_num(o, "bytes", -1) != bytes ||
	    !kz_str_eq(kz_json_str(o, "kind", ""), kz_native_kind_word(kind)))
		return unavailable(err, "the check gave no verdict");
	return KZ_OK;
}
