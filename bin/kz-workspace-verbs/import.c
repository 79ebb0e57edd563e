/* kz-workspace import. */
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "verbs.h"

int kz_verb_import(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_workspace struct kz_workspace *w = NULL;
	kz_auto_close int fd = -1;
	char before[KZ_GENERATION_TEXT];
	struct kz_whose o = { 0 };
	int64_t size = 0, mode = 0;
	const struct kz_opt opts[] = { KZ_WHOSE_OPTIONS(&o), KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = {
		"kz-workspace", "import", KZ_IMPORT_SYNOPSIS, KZ_IMPORT_WHAT, opts, 1, 1
	};
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_file_take(cli, cli->operands[0], &fd, &size, &mode);
	if (!rc && lseek(fd, 0, SEEK_SET) < 0)
		rc = kz_err_sys(&cli->err, KZ_E_OS, "cannot rewind a memory file");
	if (!rc)
		rc = kz_whose_open(cli, &o, true, &w);
	if (rc)
		return kz_main_end(cli, rc);
	memcpy(before, kz_workspace_now(w)->name, sizeof(before));
	rc = kz_workspace_replace(w, fd, &cli->err);
	if (!rc)
		rc = kz_workspace_print(cli, w, before);
	return kz_main_end(cli, rc);
}
