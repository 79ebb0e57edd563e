/*
 * The verbs of kz-audit.  Each parses its options, makes one call into
 * core/audit or core/receipt, prints, and returns an exit status.
 */
#ifndef KZ_BIN_KZ_AUDIT_VERBS_H
#define KZ_BIN_KZ_AUDIT_VERBS_H

#include "cli/main.h"
#include "core/conf/conf.h"
#include "port/json.h"

#define KZ_LIST_SYNOPSIS                                                                           \
	"[-j] [-k KIND] [-r RUN] [-w WORKER] [-L LEASE] [-a ID] [-R CODE] [-s MS] [-l N]"
#define KZ_SHOW_SYNOPSIS "[-j] RUN"
#define KZ_VERIFY_SYNOPSIS "[-j]"
#define KZ_EXPORT_SYNOPSIS "[-j]"
#define KZ_RECEIPT_SYNOPSIS "[-j] RUN"
#define KZ_CHECK_RECEIPT_SYNOPSIS                                                                  \
	"[-j] [-k FILE|KEY] [-c FILE] [-i NAME=FILE] [-o NAME=FILE] [TOKEN|-]"
#define KZ_ROTATE_SYNOPSIS "[-fj]"
#define KZ_LIST_WHAT "print the rows, oldest first"
#define KZ_SHOW_WHAT "print everything about one run"
#define KZ_VERIFY_WHAT "check the chain from its first row to the head outside it"
#define KZ_EXPORT_WHAT "print every row of every segment as JSON lines"
#define KZ_RECEIPT_WHAT "print a signed receipt of a run that has ended"
#define KZ_CHECK_RECEIPT_WHAT "check a receipt with the public key alone, and print what it says"
#define KZ_ROTATE_WHAT "close a large or old segment, remove those past KZ_AUDIT_KEEP_DAYS"

int kz_verb_list(struct kz_cli *cli, int argc, char **argv);
int kz_verb_show(struct kz_cli *cli, int argc, char **argv);
int kz_verb_verify(struct kz_cli *cli, int argc, char **argv);
int kz_verb_export(struct kz_cli *cli, int argc, char **argv);
int kz_verb_receipt(struct kz_cli *cli, int argc, char **argv);
int kz_verb_check_receipt(struct kz_cli *cli, int argc, char **argv);
int kz_verb_rotate(struct kz_cli *cli, int argc, char **argv);

/* The claims of a receipt that was checked, as lines "name: value". */
void kz_print_claims(struct kz_cli *cli, const struct kz_json *claims);

/* Set "detail" of a row: all that has no column of its own, for people. */
void kz_row_detail(struct kz_json *row);

/* The settings and the store's path. */
struct kz_audit_place {
	struct kz_conf conf;
	char path[512];
};
/* Find them, and ask whether the caller may. */
enum kz_rc kz_audit_place(struct kz_cli *cli, struct kz_audit_place *p);

#endif
