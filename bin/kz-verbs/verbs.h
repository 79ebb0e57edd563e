/*
 * The verbs of kz, one file each.  Each parses its options, makes one call into
 * core/front, prints, and returns an exit status.
 */
#ifndef KZ_BIN_KZ_VERBS_VERBS_H
#define KZ_BIN_KZ_VERBS_VERBS_H

#include "cli/main.h"
#include "core/front/front.h"

#define KZ_UP_SYNOPSIS "[--state DIR] [--set NAME=VALUE]... [--foreground]"
#define KZ_DOWN_SYNOPSIS "[-fy] [--purge]"
#define KZ_STATUS_SYNOPSIS "[-j]"
#define KZ_DOCTOR_SYNOPSIS "[-j]"
#define KZ_LOGS_SYNOPSIS "[-f] [SERVICE]"
#define KZ_CONFIG_SYNOPSIS "(show [-j] [NAME]... | check | set NAME=VALUE...)"
#define KZ_UP_WHAT "start kz and wait until it admits programs"
#define KZ_DOWN_WHAT "drain, stop, and leave nothing behind"
#define KZ_STATUS_WHAT "show whether and how kz runs"
#define KZ_DOCTOR_WHAT "tell what this machine lacks, and the fix"
#define KZ_LOGS_WHAT "show the newest log lines"
#define KZ_CONFIG_WHAT "show, check or change the settings"

int kz_verb_up(struct kz_cli *cli, int argc, char **argv);
int kz_verb_down(struct kz_cli *cli, int argc, char **argv);
int kz_verb_status(struct kz_cli *cli, int argc, char **argv);
int kz_verb_doctor(struct kz_cli *cli, int argc, char **argv);
int kz_verb_logs(struct kz_cli *cli, int argc, char **argv);
int kz_verb_config(struct kz_cli *cli, int argc, char **argv);

/* Progress goes to stderr; for kz_front.say. */
void kz_verb_say(void *ctx, const char *line);

#endif
