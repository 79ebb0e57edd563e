/*
 * What the parts of core/run/install share; included by nobody else.  Layer 3.
 */
#ifndef KZ_CORE_RUN_INSTALL_PARTS_H
#define KZ_CORE_RUN_INSTALL_PARTS_H

#include "core/run/install.h"
#include "rule/imports.h"
#include "rule/requirement.h"

#define KZ_INSTALL_ASKS 64 /* requirements of one run */
#define KZ_INSTALL_VERSION 64
#define KZ_INSTALL_LOCK "kz-lock.json" /* in the packages, made by the installing step */
#define KZ_INSTALL_SHIM ".kz-install"  /* beside the program: what runs the installer */
#define KZ_INSTALL_LOCK_MAX (1 << 20)

struct kz_install {
	enum kz_ecosystem eco;
	bool is_for_code; /* the language has packages at all */
	struct kz_requirement asked[KZ_INSTALL_ASKS];
	size_t asked_count;
	bool is_satisfied[KZ_INSTALL_ASKS]; /* by image or lock */
	bool is_baked[KZ_INSTALL_ASKS];     /* by the image */
	struct kz_imports found;
	bool is_wanted[KZ_IMPORTS_MOST]; /* an import that nothing has */
	struct kz_json *lock;            /* of the packages in the worker; NULL: there is none */
	bool has_tree;                   /* there are packages in the worker */
	/* What came of it, for the record. */
	struct kz_json *named; /* names as they were asked for */
	enum kz_reason cause;  /* KZ_R_NONE: nothing failed */
	bool is_unreachable, is_timed_out;
};

/* -- the image (install_baked.c) */

/* The version of a package in the worker's image. in: key as kz_requirement_key. out: false when it has none */
bool kz_baked_version(const struct kz_conf *conf, enum kz_ecosystem eco, const char *key,
		      char out[KZ_INSTALL_VERSION]);
/* Can a program of the image import this module? */
bool kz_baked_module(const struct kz_conf *conf, enum kz_ecosystem eco, const char *module);
/* The well-known packages that the image has, for a sentence: "numpy 1.24.2, pandas 1.5.3". */
void kz_baked_stack(const struct kz_conf *conf, enum kz_ecosystem eco, char *out, size_t size);

/* -- the lock (install_lock.c) */

/* Read a lock; what is none is no lock. out: new or NULL */
struct kz_json *kz_lock_read(const char *p, size_t n);
/* The version of a package in it; NULL: it has none. own: borrowed */
const char *kz_lock_version(const struct kz_json *lock, enum kz_ecosystem eco, const char *key);
/* Was exactly this asked for before, and is still there? */
bool kz_lock_has_request(const struct kz_json *lock, const struct kz_requirement *r);
/* What the record tells of it. out: new */
struct kz_json *kz_lock_list(const struct kz_json *lock);

/* -- moving (install_keep.c) */

/* Bring what is kept into the worker, and read its lock. err: packages_damaged, packages_over_bound, those of the store and the worker */
enum kz_rc kz_packages_restore(struct kz_job *j, struct kz_err *err);
/* Store what is in the worker now. err: packages_over_bound, those of the store */
enum kz_rc kz_packages_keep(struct kz_job *j, struct kz_err *err);

/* -- the step (install_step.c) */

/* Run the installer. err: dependency_install_failed with the cause in j->install, cancelled, those of the worker */
enum kz_rc kz_install_step(struct kz_job *j, struct kz_err *err);
/* The program that runs it: its text. */
const char *kz_install_shim(enum kz_ecosystem eco, size_t *n);

/* -- words (install_tell.c) */

/* Say why nothing could be installed, with the cause kept for the record. err: dependency_install_failed */
enum kz_rc kz_install_failed(struct kz_job *j, enum kz_reason cause, struct kz_err *err);

#endif
