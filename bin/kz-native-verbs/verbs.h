/* The verbs of kz-native. */
#ifndef KZ_BIN_KZ_NATIVE_VERBS_H
#define KZ_BIN_KZ_NATIVE_VERBS_H

#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"

#define KZ_CHECK_SYNOPSIS "[-j] [-l LEVEL] [-n NAME] FILE..."
#define KZ_GATE_SYNOPSIS "[-j]"
#define KZ_CHECK_WHAT "say of each file whether it is a sound document of the kind its name says"
#define KZ_GATE_WHAT "read a request and attachments, and say whether an answer may claim success"

int kz_verb_check(struct kz_cli *cli, int argc, char **argv);
int kz_verb_gate(struct kz_cli *cli, int argc, char **argv);

#endif
