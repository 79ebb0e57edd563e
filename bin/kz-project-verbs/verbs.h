/* The verbs of kz-project. */
#ifndef KZ_BIN_KZ_PROJECT_VERBS_H
#define KZ_BIN_KZ_PROJECT_VERBS_H

#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/files/projection.h"

#define KZ_RESOLVE_SYNOPSIS "[-a SOURCE] [-k KEYS] [-f CODE] [-j]"
#define KZ_STAGE_SYNOPSIS "-d DIR -D DOCUMENTS [-a SOURCE] [-k KEYS] [-f CODE] [-j]"
#define KZ_VERIFY_SYNOPSIS "[-d DIR] [-k KEYS] [-j]"
#define KZ_GRANT_SYNOPSIS "[-j]"
#define KZ_GRANT_WHAT "may this reader read an item that was filed in a Project"
#define KZ_RESOLVE_WHAT "decide which files the run of a scope document may see"
#define KZ_STAGE_WHAT "decide, and write the files into an empty directory"
#define KZ_VERIFY_WHAT "verify the capability of a scope document, and a staged directory"

int kz_verb_resolve(struct kz_cli *cli, int argc, char **argv);
int kz_verb_stage(struct kz_cli *cli, int argc, char **argv);
int kz_verb_verify(struct kz_cli *cli, int argc, char **argv);
int kz_verb_grant(struct kz_cli *cli, int argc, char **argv);

/* What the verbs are given. */
struct kz_project_ask {
	const char *audience, *keys, *code, *dir, *documents;
};
/* The text of the manifest in a staged directory: no given name begins with a dot. */
#define KZ_PROJECT_MANIFEST ".manifest.json"

/* The scope document of standard input, verified. err: as kz_projection_read; setting's or key file's */
enum kz_rc kz_project_take(struct kz_cli *cli, const struct kz_project_ask *ask,
			   struct kz_projection *out);
/* kz_projection_resolve with the code of ask->code. err: usage, and as that */
enum kz_rc kz_project_resolve(struct kz_cli *cli, const struct kz_project_ask *ask, const char *dir,
			      struct kz_projection *p);
/* Print the decision, in words or as a line. returns the exit status */
int kz_project_end(struct kz_cli *cli, struct kz_projection *p, enum kz_rc rc);
/* Is a directory what stage wrote of this document? err: resource_manifest_mismatch, resource_digest_mismatch, and of reading */
enum kz_rc kz_project_check_dir(const struct kz_projection *p, const char *path,
				struct kz_err *err);

#endif
