/* kz-native check. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "core/jail/jail.h"
#include "rule/reason.h"
#include "verbs.h"

#define FILES_MAX 64
#define MEMORY_BYTES (INT64_C(2) << 30)
#define CPU_SECONDS 60 /* a file; the bounds of the readers come first */

struct wanted {
	const char *name; /* that judges */
	int fd;
};

/* A file that can be read to an end: standard input, or a regular one. */
static enum kz_rc open_file(const char *path, int *fd, struct kz_err *err)
{
	struct stat st;

	if (strcmp(path, "-") == 0) {
		*fd = 0;
		return KZ_OK;
	}
	*fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*fd < 0)
		return kz_refuse(err, errno == ENOENT ? KZ_R_INPUT_MISSING : KZ_R_INPUT_UNREADABLE,
				 "cannot open %s: %s", path, strerror(errno));
	if (fstat(*fd, &st) < 0 || !S_ISREG(st.st_mode))
		return kz_refuse(err, KZ_R_INPUT_UNREADABLE, "%s is no regular file", path);
	return KZ_OK;
}

/* Judge one and print its line. out: is_sound */
static enum kz_rc judge(struct kz_cli *cli, const struct wanted *w, int64_t level, bool *is_sound)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT((size_t)KZ_NATIVE_FILE_MAX);
	enum kz_native_kind kind = kz_native_kind_of_name(w->name);
	struct kz_native_report r = { .pages = -1, .parts = -1 };
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc = KZ_OK;

	if (kind != KZ_NATIVE_NONE) {
		rc = kz_fd_read_all(w->fd, &b, &why);
		if (rc == KZ_E_DATA)
			rc = kz_refuse(&why, KZ_R_NATIVE_BOMB, "the file has more than %lld bytes",
				       (long long)KZ_NATIVE_FILE_MAX);
		else if (rc == KZ_OK)
			rc = kz_native_check(kind, (int)level, b.data, b.len, &r, &why);
	}
	if (rc != KZ_OK && rc != KZ_E_DATA)
		return kz_refuse(&cli->err, KZ_R_NATIVE_UNAVAILABLE, "%s: %s", w->name, why.text);
	*is_sound = *is_sound && rc == KZ_OK;
	return kz_native_tell(cli, w->name, kind, level, b.len, &r, &why);
}

static enum kz_rc check(struct kz_cli *cli, const char *name, int64_t level, bool *is_sound)
{
	struct wanted files[FILES_MAX];
	int keep[FILES_MAX];
	const struct kz_jail_bounds bounds = { MEMORY_BYTES, CPU_SECONDS * cli->operand_count };
	enum kz_rc rc = KZ_OK;
	size_t n = 0;

	for (; n < (size_t)cli->operand_count; n++) {
		rc = open_file(cli->operands[n], &files[n].fd, &cli->err);
		if (rc != KZ_OK)
			return rc;
		files[n].name = name ? name : cli->operands[n];
		keep[n] = files[n].fd;
	}
	rc = kz_jail_enter(&bounds, keep, n, &cli->err);
	for (size_t i = 0; rc == KZ_OK && i < n; i++) {
		rc = judge(cli, &files[i], level, is_sound);
		(void)kz_out_flush(cli);
	}
	return rc;
}

int kz_verb_check(struct kz_cli *cli, int argc, char **argv)
{
	const char *name = NULL;
	int64_t level = KZ_NATIVE_LEVEL_MAX;
	bool is_sound = true;
	const struct kz_opt opts[] = {
		{ 'l', "level", KZ_OPT_INT, &level, "LEVEL",
		  "1: marks and parts; 2: the whole structure (default)", 1, KZ_NATIVE_LEVEL_MAX },
		{ 'n', "name", KZ_OPT_TEXT, &name, "NAME", "judge the one file by this name", 0,
		  0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-native", "check", KZ_CHECK_SYNOPSIS, KZ_CHECK_WHAT,
					opts,        1,       FILES_MAX };
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if (name && cli->operand_count != 1)
		return kz_main_end(cli,
				   kz_refuse(&cli->err, KZ_R_USAGE, "--name is for one file only"));
	rc = check(cli, name, level, &is_sound);
	/* what is not sound was told on its line */
	return rc ? kz_main_end(cli, rc) : kz_main_end_as(cli, KZ_OK, is_sound ? 0 : 65);
}
