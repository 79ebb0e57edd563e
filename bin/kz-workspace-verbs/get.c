/* kz-workspace get and export: out of a workspace, to standard output or to one named file. */
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "core/files/place.h"
#include "verbs.h"

/* With -j the content goes into the line. */
#define LINE_MOST ((int64_t)8 << 20)

static enum kz_rc print_content(struct kz_cli *cli, const struct kz_workspace *w, const char *name,
				int fd, int64_t size, uint32_t mode, const char *to)
{
	struct kz_json *o = kz_out_object("content");
	kz_auto_free char *bytes = malloc((size_t)size + 1);
	char text[8];

	kz_json_set_str(o, "name", name);
	kz_json_set_int(o, "bytes", size);
	kz_str_format(text, sizeof(text), NULL, "%04o", (unsigned)mode);
	kz_json_set_str(o, "mode", text);
	kz_json_set_bool(o, "private", kz_workspace_now(w)->is_private);
	if (to) {
		kz_json_set_str(o, "file", to);
		return kz_out_json(cli, o);
	}
	if (!bytes || pread(fd, bytes, (size_t)size, 0) != (ssize_t)size) {
		kz_json_free(o);
		return kz_refuse(&cli->err, KZ_R_IO_FAILED, "cannot read a memory file");
	}
	kz_set_bytes(o, "text", bytes, (size_t)size);
	return kz_out_json(cli, o);
}

int kz_verb_get(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_workspace struct kz_workspace *w = NULL;
	kz_auto_close int fd = -1;
	struct kz_whose o = { 0 };
	const char *to = NULL;
	char path[KZ_PATH_MAX + 1];
	uint32_t mode = 0;
	int64_t size = 0;
	const struct kz_opt opts[] = {
		KZ_WHOSE_OPTIONS(&o),
		{ 'o', "output", KZ_OPT_TEXT, &to, "FILE",
		  "write it there (default: standard output)", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-workspace", "get", KZ_GET_SYNOPSIS, KZ_GET_WHAT, opts, 1, 1
	};
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_path_take(cli, cli->operands[0], path);
	if (!rc)
		rc = kz_whose_read(cli, &o, &w);
	if (!rc)
		rc = kz_workspace_file(w, path, cli->json && !to ? LINE_MOST : INT64_MAX, &fd,
				       &size, &mode, &cli->err);
	if (!rc && to)
		rc = kz_place_file(to, fd, size, (mode & 0100 ? 0777 : 0666) & ~cli->caller_umask,
				   &cli->err);
	if (!rc && cli->json)
		rc = print_content(cli, w, path, fd, size, mode, to);
	else if (!rc && !to)
		rc = kz_print_file(cli, fd, size);
	return kz_main_end(cli, rc);
}

int kz_verb_export(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_workspace struct kz_workspace *w = NULL;
	kz_auto_close int fd = -1;
	struct kz_whose o = { 0 };
	const char *to = NULL;
	int64_t size = 0;
	const struct kz_opt opts[] = {
		KZ_WHOSE_OPTIONS(&o),
		{ 'o', "output", KZ_OPT_TEXT, &to, "FILE",
		  "write it there (default: standard output)", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-workspace", "export", KZ_EXPORT_SYNOPSIS, KZ_EXPORT_WHAT, opts, 0, 0
	};
	enum kz_rc rc = KZ_OK;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if (cli->json && !to)
		rc = kz_refuse(&cli->err, KZ_R_USAGE,
			       "-j and a tar do not go to one standard output: give -o FILE");
	if (!rc)
		rc = kz_whose_read(cli, &o, &w);
	if (!rc)
		rc = kz_workspace_tar(w, &fd, &size, &cli->err);
	if (!rc && to)
		rc = kz_place_file(to, fd, size, 0666 & ~cli->caller_umask, &cli->err);
	else if (!rc)
		rc = kz_print_file(cli, fd, size);
	if (!rc && cli->json)
		rc = kz_workspace_print(cli, w, kz_workspace_now(w)->name);
	return kz_main_end(cli, rc);
}
