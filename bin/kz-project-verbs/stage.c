/* kz-project stage: the files of a projection in a directory, for people and tests. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs.h"
#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "rule/reason.h"

static enum kz_rc open_empty(struct kz_cli *cli, const char *path, int *out)
{
	kz_auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kz_auto_closedir DIR *d = fd < 0 ? NULL : fdopendir(dup(fd));
	struct dirent *e;

	if (!d) {
		kz_err_sys(&cli->err, KZ_E_CANTCREAT, "%s", path);
		return kz_err_reason(&cli->err, kz_reason_code(KZ_R_PROJECTION_FAILED));
	}
	while ((e = readdir(d)))
		if (!kz_str_eq(e->d_name, ".") && !kz_str_eq(e->d_name, ".."))
			return kz_refuse(&cli->err, KZ_R_USAGE, "%s is not empty", path);
	*out = kz_take_fd(&fd);
	return KZ_OK;
}

static enum kz_rc write_one(int dir, const char *name, int from, const struct kz_buf *text,
			    struct kz_err *err)
{
	kz_auto_close int to = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
	char chunk[65536];
	ssize_t n = 0;

	if (to < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "%s", name);
	if (text)
		return kz_fd_write_all(to, text->data, text->len, err) || fchmod(to, 0444) < 0 ?
			       KZ_E_IO :
			       KZ_OK;
	while ((n = read(from, chunk, sizeof(chunk))) > 0)
		if (kz_fd_write_all(to, chunk, (size_t)n, err))
			return KZ_E_IO;
	return n < 0 || fchmod(to, 0444) < 0 ? kz_err_sys(err, KZ_E_IO, "%s", name) : KZ_OK;
}

/* All of it or nothing: what was written of a set that failed is taken away. */
static enum kz_rc write_set(struct kz_projection *p, int dir, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;
	size_t i = 0;

	for (; rc == KZ_OK && i < p->set.file_count; i++)
		rc = write_one(dir, p->set.files[i].name, p->fds[i], NULL, err);
	if (rc == KZ_OK && p->set.file_count)
		rc = write_one(dir, KZ_PROJECT_MANIFEST, -1, &p->manifest, err);
	if (rc == KZ_OK)
		return fchmod(dir, 0555) < 0 ? kz_err_sys(err, KZ_E_IO, "the directory") : KZ_OK;
	while (i--)
		unlinkat(dir, p->set.files[i].name, 0);
	unlinkat(dir, KZ_PROJECT_MANIFEST, 0);
	return kz_err_reason(err, kz_reason_code(KZ_R_PROJECTION_FAILED));
}

static enum kz_rc stage(struct kz_cli *cli, const struct kz_project_ask *ask,
			struct kz_projection *p)
{
	kz_auto_close int dir = -1;
	char path[PATH_MAX];
	enum kz_rc rc;

	if (!ask->dir || !ask->documents)
		return kz_refuse(&cli->err, KZ_R_USAGE, "-d DIR and -D DOCUMENTS are needed");
	rc = open_empty(cli, ask->dir, &dir);
	if (!rc)
		rc = kz_project_take(cli, ask, p);
	if (!rc && (!realpath(ask->dir, path) || strlen(path) > 256))
		rc = kz_refuse(&cli->err, KZ_R_USAGE, "the path of DIR is too long");
	if (!rc)
		rc = kz_project_resolve(cli, ask, path, p);
	if (!rc)
		rc = kz_projection_stage(p, ask->documents, &cli->err);
	return rc ? rc : write_set(p, dir, &cli->err);
}

int kz_verb_stage(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_project_ask ask = { NULL, NULL, NULL, NULL, NULL };
	struct kz_projection p = { .fd_count = 0 };
	const struct kz_opt opts[] = {
		{ 'd', "dir", KZ_OPT_TEXT, &ask.dir, "DIR", "an empty directory", 0, 0 },
		{ 'D', "documents", KZ_OPT_TEXT, &ask.documents, "DOCUMENTS",
		  "directory of files named by their SHA-256", 0, 0 },
		{ 'a', "audience", KZ_OPT_TEXT, &ask.audience, "SOURCE",
		  "the live audience: cmd:PROGRAM ARG..., file:PATH or a URL", 0, 0 },
		{ 'k', "keys", KZ_OPT_TEXT, &ask.keys, "KEYS",
		  "public keys of the application (default: KZ_APP_KEYS_FILE)", 0, 0 },
		{ 'f', "code", KZ_OPT_TEXT, &ask.code, "CODE",
		  "the file of code that will run: does it ask for files?", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		.program = "kz-project",
		.verb = "stage",
		.synopsis = KZ_STAGE_SYNOPSIS,
		.what = KZ_STAGE_WHAT,
		.opts = opts,
		.least = 0,
		.most = 0,
	};

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	return kz_project_end(cli, &p, stage(cli, &ask, &p));
}
