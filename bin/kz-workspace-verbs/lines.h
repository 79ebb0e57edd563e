/* The verbs of kz-workspace that show and edit lines (docs/files.md, "Hashline"). */
#ifndef KZ_BIN_KZ_WORKSPACE_LINES_H
#define KZ_BIN_KZ_WORKSPACE_LINES_H

#include "cli/main.h"
#include "port/json.h"

#define KZ_READ_SYNOPSIS "[-A actor] [-C conversation] [-r FROM-TO]... [-j] PATH"
#define KZ_EDIT_SYNOPSIS "[-A actor] [-C conversation] [-j] [FILE|-]"
#define KZ_READ_WHAT "show a file by numbered lines, with the tag that edits name"
#define KZ_EDIT_WHAT "change files by the lines that were shown"

int kz_verb_read(struct kz_cli *cli, int argc, char **argv);
int kz_verb_edit(struct kz_cli *cli, int argc, char **argv);

/* Lines (each ends in LF) as a list of texts. own: new, NULL when memory is out */
struct kz_json *kz_lines_list(const char *p, size_t n);

#endif
