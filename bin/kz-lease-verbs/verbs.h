/* The verbs of kz-lease. */
#ifndef KZ_BIN_KZ_LEASE_VERBS_H
#define KZ_BIN_KZ_LEASE_VERBS_H

#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/run/hold.h"

#define KZ_ACQUIRE_SYNOPSIS "-A actor -C conversation [-t MS] [-j]"
#define KZ_RENEW_SYNOPSIS "[--token-fd FD] [-j] LEASE"
#define KZ_RELEASE_SYNOPSIS "[--token-fd FD] [-j] LEASE"
#define KZ_SHOW_SYNOPSIS "[-j] LEASE"
#define KZ_LIST_SYNOPSIS "[-j]"
#define KZ_WITH_SYNOPSIS "-A actor -C conversation [-t MS] -- prog [ARG...]"
#define KZ_ACQUIRE_WHAT "acquire a worker"
#define KZ_RENEW_WHAT "renew a lease"
#define KZ_RELEASE_WHAT "reset the worker and give it back"
#define KZ_SHOW_WHAT "show a lease in force"
#define KZ_LIST_WHAT "list the leases in force"
#define KZ_WITH_WHAT "hold a lease around a program"

int kz_verb_acquire(struct kz_cli *cli, int argc, char **argv);
int kz_verb_renew(struct kz_cli *cli, int argc, char **argv);
int kz_verb_release(struct kz_cli *cli, int argc, char **argv);
int kz_verb_show(struct kz_cli *cli, int argc, char **argv);
int kz_verb_list(struct kz_cli *cli, int argc, char **argv);
int kz_verb_with(struct kz_cli *cli, int argc, char **argv);

/* -A, -C and -t, which acquire and with share. */
struct kz_who_options {
	const char *actor, *conversation;
	int64_t wait_ms;
};
#define KZ_WHO_OPTIONS(o)                                                                          \
	{ 'A',         "actor", KZ_OPT_TEXT,                                                       \
	  &(o)->actor, "ACTOR", "who the lease is for (default: the calling user)",                \
	  0,           0 },                                                                        \
		{ 'C',         "conversation",                                                     \
		  KZ_OPT_TEXT, &(o)->conversation,                                                 \
		  "NAME",      "its conversation (default: one of its own)",                       \
		  0,           0 },                                                                \
	{                                                                                          \
		't', "timeout", KZ_OPT_INT, &(o)->wait_ms, "MS",                                   \
			"lower the longest wait for a worker", 0, INT64_MAX                        \
	}

/* The wait that -t asks for, in *store; NULL without -t. */
const struct kz_ms *kz_wait_of(const struct kz_who_options *o, struct kz_ms *store);
/* One lease as an object, and its columns for people. own: new */
struct kz_json *kz_lease_object(const struct kz_lease *l, bool has_token);
extern const struct kz_column kz_lease_columns[];

#endif
