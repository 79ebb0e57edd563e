/* The verbs of kz-native. */
#ifndef KZ_BIN_KZ_NATIVE_VERBS_H
#define KZ_BIN_KZ_NATIVE_VERBS_H

#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/native/native.h"

#define KZ_CHECK_SYNOPSIS "[-j] [-l LEVEL] [-n NAME] FILE..."
#define KZ_GATE_SYNOPSIS "[-j]"
#define KZ_CHECK_WHAT "say of each file whether it is a sound document of the kind its name says"
#define KZ_GATE_WHAT "read a request and attachments, and say whether an answer may claim success"

int kz_verb_check(struct kz_cli *cli, int argc, char **argv);
int kz_verb_gate(struct kz_cli *cli, int argc, char **argv);

/* Print what was found of a file. in: why: without a reason, it is sound. err: KZ_E_OS */
enum kz_rc kz_native_tell(struct kz_cli *cli, const char *name, enum kz_native_kind kind,
			  int64_t level, size_t bytes, const struct kz_native_report *r,
			  const struct kz_err *why);

#endif
