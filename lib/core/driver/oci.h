/*
 * The oci driver: workers as containers of an OCI runtime on this machine.
 *
 * STATE/workers/NAME is the only record of a worker: it is made whole before any
 * effect and removed after every effect is undone, so that a driver killed at any
 * step leaves something that list reports and delete removes [FENCE-4, FENCE-7].
 * bin/kz-driver-oci and the probes of kz doctor use it.  Layer 3.
 */
#ifndef KZ_CORE_DRIVER_OCI_H
#define KZ_CORE_DRIVER_OCI_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/time.h"
#include "core/conf/conf.h"
#include "core/driver/cgroup.h"
#include "port/seal.h"

struct kz_json;

#define KZ_OCI_PATH 512
#define KZ_OCI_UIDS 16  /* host uids between the bases of two workers */
#define KZ_OCI_MAPPED 3 /* of which root, tenant and nobody are mapped */
#define KZ_OCI_TENANT 1000
#define KZ_OCI_NOBODY 65534
#define KZ_OCI_CONTROL                                                                             \
	"/run" /* where a single-use worker has the directory of its control socket */
#define KZ_OCI_IMAGE (7 + KZ_SHA256_HEX) /* "sha256:" and the digest */

/* Runtimes differ in where they put cgroups and in what they can give a tenant. */
enum kz_oci_flavor { KZ_OCI_RUNC, KZ_OCI_CRUN, KZ_OCI_RUNSC, KZ_OCI_OTHER };

struct kz_oci_runtime {
	char path[256];
	char version[96]; /* first line of --version */
	enum kz_oci_flavor flavor;
	bool single_use; /* it cannot give the tenant wall */
};

struct kz_oci {
	struct kz_conf conf;
	gid_t gid;        /* of KZ_GROUP, (gid_t)-1 when there is none */
	bool is_rootless; /* the caller is not root: see oci_rootless.h */
	struct kz_err
		bad_conf; /* why the settings make no sense; then only list, get and delete work */
	char worker[256]; /* the kz-worker that becomes process 1 */
	struct kz_oci_runtime rt;
	char image[KZ_OCI_IMAGE];   /* identity of the image, "" until kz_oci_image */
	char layers[33];            /* their name: the digest of what they are made of */
	char skeleton[KZ_OCI_PATH]; /* where they are */
};

/* STATE/workers/NAME/worker.json */
struct kz_oci_record {
	char worker[64];
	char instance[KZ_ID_HEX];
	char image[KZ_OCI_IMAGE];
	char skeleton[33]; /* the directory below STATE/image that it is made of */
	uint32_t uid_base;
	uint32_t gid_base; /* another one only where the driver is not root */
	bool is_probe;
	struct kz_oci_runtime rt;
	struct kz_cg cg;
};

/* Settings, group and places. A user who lacks something gets it as bad_conf. err: as kz_conf_load */
enum kz_rc kz_oci_open(struct kz_oci *o, struct kz_err *err);
/* As kz_oci_open with settings that are loaded and a state directory of the caller's choice. */
enum kz_rc kz_oci_open_with(struct kz_oci *o, const struct kz_conf *conf, const char *state,
			    struct kz_err *err);
/* Answer one request line. out: the reply (new), never NULL when memory lasts; every failure is in it. */
struct kz_json *kz_oci_answer(struct kz_oci *o, const char *line, size_t n);

/* Verbs behind kz_oci_answer. */
enum kz_rc kz_oci_create(struct kz_oci *o, const char *worker, const char *instance, bool is_probe,
			 struct kz_json **posture, bool *is_certain, struct kz_err *err);
/* The named worker, container, cgroups, uids and directory, is gone when KZ_OK; another instance of that name is untouched. */
enum kz_rc kz_oci_delete(struct kz_oci *o, const char *worker, const char *instance,
			 struct kz_err *err);
/* Undo everything that a create did; the directory goes last. in: the worker's directory is locked */
enum kz_rc kz_oci_undo(struct kz_oci *o, const struct kz_oci_record *r, struct kz_deadline until,
		       struct kz_err *err);
/* The record of one worker and whether its process 1 lives. err: KZ_E_NOINPUT when there is none */
enum kz_rc kz_oci_get(struct kz_oci *o, const char *worker, struct kz_oci_record *r, bool *is_alive,
		      struct kz_err *err);
/* Every worker here, as the array of the list verb (new). */
enum kz_rc kz_oci_list(struct kz_oci *o, struct kz_json **out, struct kz_err *err);

/* How much is tried to choose a runtime: nothing when an outcome is kept that still holds; those up to the first that works; all. */
enum kz_oci_effort { KZ_OCI_KEPT, KZ_OCI_FIRST, KZ_OCI_EACH };
/*
 * Choose the runtime by trying [RT-6]: the first that works; the outcome is kept until something it rests on changes.
 * out: report: what was tried (new, also on error), may be NULL.  err: runtime_unavailable
 */
enum kz_rc kz_oci_probe(struct kz_oci *o, enum kz_oci_effort effort, struct kz_json **report,
			struct kz_err *err);
/* Prepare the image, and its identity, for the chosen runtime. */
enum kz_rc kz_oci_image(struct kz_oci *o, struct kz_err *err);

#endif
