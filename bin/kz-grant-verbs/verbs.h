/* The verbs of kz-grant. */
#ifndef KZ_BIN_KZ_GRANT_VERBS_H
#define KZ_BIN_KZ_GRANT_VERBS_H

#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/conf/conf.h"
#include "core/egress/grant.h"

#define KZ_SCOPE_SYNOPSIS "[--approve ID] [-j]"
#define KZ_EXPLAIN_SYNOPSIS "[-r ADDRESS,...] [-j] URL"
#define KZ_MINT_SYNOPSIS "[OPTION...] [-j]"
#define KZ_VERIFY_SYNOPSIS "[-j] [TOKEN]"
#define KZ_REVOKE_SYNOPSIS "[-j] [--before TIME] [EXECUTION]"
#define KZ_KEYS_SYNOPSIS "[-w] [--rotate] [-j]"
#define KZ_SCOPE_WHAT "show the configured and the effective scope, and what is lacking"
#define KZ_EXPLAIN_WHAT "say what would be decided of a destination, without connecting"
#define KZ_MINT_WHAT "make a grant by hand"
#define KZ_VERIFY_WHAT "verify a grant and show its claims"
#define KZ_REVOKE_WHAT "revoke one execution's grant, or all that were issued before a time"
#define KZ_KEYS_WHAT "show the public keys"

int kz_verb_scope(struct kz_cli *cli, int argc, char **argv);
int kz_verb_explain(struct kz_cli *cli, int argc, char **argv);
int kz_verb_mint(struct kz_cli *cli, int argc, char **argv);
int kz_verb_verify(struct kz_cli *cli, int argc, char **argv);
int kz_verb_revoke(struct kz_cli *cli, int argc, char **argv);
int kz_verb_keys(struct kz_cli *cli, int argc, char **argv);

/* The claims of a grant as an object, and its columns for people. in: token NULL: left out. own: new */
struct kz_json *kz_grant_object(const struct kz_grant *g, const char *token);
extern const struct kz_column kz_grant_columns[];
/* An array as "a, b, c", or "-"; for kz_column.format. */
void kz_format_list(const struct kz_json *value, char *out, size_t size);
/* STATE/suffix, read as a keyring. err: as kz_keyring_read */
enum kz_rc kz_grant_ring(const struct kz_conf *c, struct kz_keyring **out, struct kz_err *err);
/* A point of time: ISO 8601 in UTC. err: usage */
enum kz_rc kz_grant_time(const char *text, int64_t *s, struct kz_err *err);
/* Open the audit store of a state directory. err: audit_unavailable */
struct kz_audit;
enum kz_rc kz_grant_audit(const struct kz_conf *c, struct kz_audit **out, struct kz_err *err);

#endif
