/* The verbs of kz-workspace. */
#ifndef KZ_BIN_KZ_WORKSPACE_VERBS_H
#define KZ_BIN_KZ_WORKSPACE_VERBS_H

#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/files/session.h"
#include "rule/path.h"
#include "rule/reason.h"

#define KZ_LIST_SYNOPSIS "[-A actor] [-C conversation] [-l] [-a] [-j] [PATH]"
#define KZ_GET_SYNOPSIS "[-A actor] [-C conversation] [-o FILE] [-j] PATH"
#define KZ_PUT_SYNOPSIS "[-A actor] [-C conversation] [-j] [PATH=]FILE..."
#define KZ_RM_SYNOPSIS "[-A actor] [-C conversation] [-r] [-j] PATH..."
#define KZ_EXPORT_SYNOPSIS "[-A actor] [-C conversation] [-o FILE] [-j]"
#define KZ_IMPORT_SYNOPSIS "[-A actor] [-C conversation] [-j] (FILE | -)"
#define KZ_PRUNE_SYNOPSIS "[-n] [-j] --older-than AGE"
#define KZ_LIST_WHAT "list files"
#define KZ_GET_WHAT "read a file out"
#define KZ_PUT_WHAT "put files in"
#define KZ_RM_WHAT "remove files"
#define KZ_EXPORT_WHAT "write all files as a tar"
#define KZ_IMPORT_WHAT "replace all files by those of a tar"
#define KZ_PRUNE_WHAT "remove workspaces that nobody changed for long"

int kz_verb_list(struct kz_cli *cli, int argc, char **argv);
int kz_verb_get(struct kz_cli *cli, int argc, char **argv);
int kz_verb_put(struct kz_cli *cli, int argc, char **argv);
int kz_verb_rm(struct kz_cli *cli, int argc, char **argv);
int kz_verb_export(struct kz_cli *cli, int argc, char **argv);
int kz_verb_import(struct kz_cli *cli, int argc, char **argv);
int kz_verb_prune(struct kz_cli *cli, int argc, char **argv);

/* -A and -C, which all but prune share. */
struct kz_whose {
	const char *actor, *conversation;
};
#define KZ_WHOSE_OPTIONS(o)                                                                        \
	{ 'A',         "actor", KZ_OPT_TEXT,                                                       \
	  &(o)->actor, "ACTOR", "whose workspace (default: the calling user's)",                   \
	  0,           0 },                                                                        \
	{                                                                                          \
		'C', "conversation", KZ_OPT_TEXT, &(o)->conversation, "NAME",                      \
			"its conversation (default: that of the lease in KZ_LEASE)", 0, 0          \
	}

/* Open the session; KZ_LEASE of the environment counts. err: as kz_workspace_open */
enum kz_rc kz_whose_open(struct kz_cli *cli, const struct kz_whose *o, bool writes,
			 struct kz_workspace **out);
/* The same to read what must be there. err: workspace_missing too */
enum kz_rc kz_whose_read(struct kz_cli *cli, const struct kz_whose *o, struct kz_workspace **out);
/* A path of the workspace in its normal form. err: path_rejected */
enum kz_rc kz_path_take(struct kz_cli *cli, const char *path, char out[KZ_PATH_MAX + 1]);
/* Copy a file of the caller's ("-": standard input) into a memory file. out: fd (new), size, mode -1 where it has none. err: input_unreadable, input_over_bound */
enum kz_rc kz_file_take(struct kz_cli *cli, const char *file, int *fd, int64_t *size,
			int64_t *mode);
/* Print what the workspace is now: {"type":"workspace",...}, nothing for people. in: before: the generation it was */
enum kz_rc kz_workspace_print(struct kz_cli *cli, const struct kz_workspace *w, const char *before);
/* Print n bytes of fd, from its start, to standard output. */
enum kz_rc kz_print_file(struct kz_cli *cli, int fd, int64_t n);
/* Set KEY, or KEY_base64 where it is not UTF-8. */
void kz_set_bytes(struct kz_json *o, const char *key, const char *p, size_t n);

#endif
