/* kz-workspace put and rm: changes, each one generation or none. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verbs.h"

struct files {
	struct kz_change *list;
	char (*names)[KZ_PATH_MAX + 1];
	size_t count;
};

static void files_release(struct files *f)
{
	for (size_t i = 0; i < f->count; i++)
		kz_auto_close_(&f->list[i].fd);
	free(f->list);
	free(f->names);
}

/* "PATH=FILE", or "FILE" whose path is its last part. */
static enum kz_rc take_one(struct kz_cli *cli, struct files *f, const char *operand)
{
	const char *eq = strchr(operand, '=');
	const char *from = eq ? operand : kz_path_base(operand);
	struct kz_change *x = &f->list[f->count];
	char *path = f->names[f->count];
	size_t n = eq ? (size_t)(eq - operand) : strlen(from);
	enum kz_path_fault fault = kz_path_normal(from, n, path);

	if (fault)
		return kz_refuse(&cli->err, KZ_R_PATH_REJECTED, "the path of a file %s",
				 kz_path_fault_text(fault));
	if (!eq && !strcmp(operand, "-"))
		return kz_refuse(&cli->err, KZ_R_USAGE, "standard input has no name: give PATH=-");
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->names[i], path))
			return kz_refuse(&cli->err, KZ_R_USAGE, "two files have the path %.200s",
					 path);
	*x = (struct kz_change){ .path = path, .fd = -1 };
	f->count++;
	return kz_file_take(cli, eq ? eq + 1 : operand, &x->fd, &x->size, &x->mode);
}

static enum kz_rc take_all(struct kz_cli *cli, struct files *f)
{
	size_t n = (size_t)cli->operand_count;
	enum kz_rc rc = KZ_OK;

	f->list = calloc(n, sizeof(*f->list));
	f->names = calloc(n, sizeof(*f->names));
	if (!f->list || !f->names)
		return kz_err_set(&cli->err, KZ_E_OS, "memory is out");
	for (size_t i = 0; !rc && i < n; i++)
		rc = take_one(cli, f, cli->operands[i]);
	return rc;
}

int kz_verb_put(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_workspace struct kz_workspace *w = NULL;
	struct files f kz_auto(files_release) = { 0 };
	char before[KZ_GENERATION_TEXT];
	struct kz_whose o = { 0 };
	const struct kz_opt opts[] = { KZ_WHOSE_OPTIONS(&o), KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = {
		"kz-workspace", "put", KZ_PUT_SYNOPSIS, KZ_PUT_WHAT, opts, 1, -1
	};
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	/* What is slow comes before the lease. */
	rc = take_all(cli, &f);
	if (!rc)
		rc = kz_whose_open(cli, &o, true, &w);
	if (rc)
		return kz_main_end(cli, rc);
	memcpy(before, kz_workspace_now(w)->name, sizeof(before));
	rc = kz_workspace_change(w, f.list, f.count, -1, &cli->err);
	if (!rc)
		rc = kz_workspace_print(cli, w, before);
	return kz_main_end(cli, rc);
}

int kz_verb_rm(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_workspace struct kz_workspace *w = NULL;
	struct files f kz_auto(files_release) = { 0 };
	kz_auto_free const char **paths = NULL;
	char before[KZ_GENERATION_TEXT];
	struct kz_whose o = { 0 };
	bool is_tree = false;
	const struct kz_opt opts[] = {
		KZ_WHOSE_OPTIONS(&o),
		{ 'r', "recursive", KZ_OPT_FLAG, &is_tree, NULL,
		  "directories too, with all that is in them", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-workspace", "rm", KZ_RM_SYNOPSIS, KZ_RM_WHAT, opts, 1, -1
	};
	enum kz_rc rc = KZ_OK;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	f.names = calloc((size_t)cli->operand_count, sizeof(*f.names));
	paths = calloc((size_t)cli->operand_count, sizeof(*paths));
	if (!f.names || !paths)
		rc = kz_err_set(&cli->err, KZ_E_OS, "memory is out");
	for (int i = 0; !rc && i < cli->operand_count; i++) {
		rc = kz_path_take(cli, cli->operands[i], f.names[i]);
		paths[i] = f.names[i];
	}
	if (!rc)
		rc = kz_whose_open(cli, &o, true, &w);
	if (rc)
		return kz_main_end(cli, rc);
	memcpy(before, kz_workspace_now(w)->name, sizeof(before));
	rc = kz_workspace_remove(w, paths, (size_t)cli->operand_count, is_tree, &cli->err);
	if (!rc)
		rc = kz_workspace_print(cli, w, before);
	return kz_main_end(cli, rc);
}
