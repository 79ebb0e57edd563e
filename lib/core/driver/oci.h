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
#define KZ_OCI_UIDS 16   /* host uids between the bases of two workers */
#define KZ_OCI_MAPPED 3  /* of which root, tenant and nobody are mapped */
#define KZ_OCI_TENANT 1000
#define KZ_OCI_NOBODY 65534
#define KZ_OCI_IMAGE (7 + KZ_SHA256_HEX) /* "sha256:" and the digest */

/* Runtimes differ in where they put cgroups and in what they can give a tenant. */
enum kz_oci_flavor { KZ_OCI_RUNC, KZ_OCI_CRUN, KZ_OCI_RUNSC, KZ_OCI_OTHER };

struct kz_oci_runtime {
	char path[256];
	char version[96]; /* first line of --version */
	enum kz_oci_flavor flavor;
	bool single_use;  /* it cannot give the tenant wall */
};

struct kz_oci {
	struct kz_conf conf;
	gid_t gid;          /* of KZ_GROUP, (gid_t)-1 when there is none */
	char worker[256];   /* the kz-worker that becomes process 1 */
	struct kz_oci_runtime rt;
	char image[KZ_OCI_IMAGE];  /* identity of the image, "" until kz_oci_image */
	char skeleton[KZ_OCI_PATH]; /* where its layers are */
};

/* STATE/workers/NAME/worker.json */
struct kz_oci_record {
	char worker[64];
	char instance[KZ_ID_HEX];
	char image[KZ_OCI_IMAGE];
	uint32_t uid_base;
	bool is_probe;
	struct kz_oci_runtime rt;
	struct kz_cg cg;
};

/* Settings, group and places. err: as kz_conf_load; userns_unavailable when the caller is not root */
enum kz_rc kz_oci_open(struct kz_oci *o, struct kz_err *err);
/* Answer one request line. out: the reply (new), never NULL when memory lasts; every failure is in it. */
struct kz_json *kz_oci_answer(struct kz_oci *o, const char *line, size_t n);

/* Verbs behind kz_oci_answer. */
enum kz_rc kz_oci_create(struct kz_oci *o, const char *worker, const char *instance, bool is_probe,
			 struct kz_json **posture, bool *is_certain, struct kz_err *err);
/* The named worker, container, cgroups, uids and directory, is gone when KZ_OK; another instance of that name is untouched. */
enum kz_rc kz_oci_delete(struct kz_oci *o, const char *worker, const char *instance, struct kz_err *err);
/* Undo everything that a create did; the directory goes last. in: the worker's directory is locked */
enum kz_rc kz_oci_undo(struct kz_oci *o, const struct kz_oci_record *r, struct kz_deadline until, struct kz_err *err);
/* The record of one worker and whether its process 1 lives. err: KZ_E_NOINPUT when there is none */
enum kz_rc kz_oci_get(struct kz_oci *o, const char *worker, struct kz_oci_record *r, bool *is_alive, struct kz_err *err);
/* Every worker here, as the array of the list verb (new). */
enum kz_rc kz_oci_list(struct kz_oci *o, struct kz_json **out, struct kz_err *err);

/* Choose the runtime by trying [RT-6]; the outcome is kept until something it rests on changes. err: runtime_unavailable */
enum kz_rc kz_oci_probe(struct kz_oci *o, struct kz_json **report, struct kz_err *err);
/* Prepare the image, and its identity, for the chosen runtime. */
enum kz_rc kz_oci_image(struct kz_oci *o, struct kz_err *err);

/* --- parts --- */

/* STATE/format into out. */
enum kz_rc kz_oci_path(const struct kz_oci *o, char out[KZ_OCI_PATH], struct kz_err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The name of a worker's container and cgroup, unique among the deployments of this machine. */
enum kz_rc kz_oci_unit(const struct kz_oci *o, const char *worker, char out[128], struct kz_err *err);

/*
 * Take a free uid range and make STATE/workers/NAME with its record in one step.
 * in: all of r but uid_base. out: lock, an exclusive lock on the directory for as long as it is open.
 * err: worker_exists, userns_unavailable
 */
enum kz_rc kz_oci_record_make(struct kz_oci *o, struct kz_oci_record *r, int *lock, struct kz_err *err);
/* A damaged record is salvaged as far as deleting needs. err: KZ_E_NOINPUT when there is no such worker */
enum kz_rc kz_oci_record_read(const struct kz_oci *o, const char *worker, struct kz_oci_record *r, struct kz_err *err);
/* Lock the directory of a worker. err: KZ_E_NOINPUT when it is gone, KZ_E_TEMPFAIL */
enum kz_rc kz_oci_record_lock(const struct kz_oci *o, const char *worker, struct kz_deadline until, int *lock, struct kz_err *err);
/* Free the uid range and remove the directory. */
enum kz_rc kz_oci_record_remove(const struct kz_oci *o, const char *worker, struct kz_err *err);

/* Claim the lowest free uid range; target is the file that keeps the claim alive. Call with kz_uid_lock held. */
enum kz_rc kz_uid_lock(struct kz_deadline until, int *lock, struct kz_err *err);
enum kz_rc kz_uid_claim(int64_t first, const char *target, uint32_t *base, struct kz_err *err);
void kz_uid_drop(uint32_t base);

/* What one create needs in the child that becomes the runtime. */
struct kz_oci_launch {
	const struct kz_oci *o;
	const struct kz_oci_record *r;
	const char *unit;
	const char *bundle;
	const char *root;      /* where the root file system is mounted */
	const char *state_dir; /* the runtime's own --root */
	const int *fds;        /* become 3, 4, ... */
	int fd_count;
	int output;            /* stdout and stderr */
};

/* config.json of one worker into its bundle directory. */
enum kz_rc kz_oci_bundle_write(const struct kz_oci *o, const struct kz_oci_record *r, const char *bundle, const char *root, struct kz_err *err);
/* An existing directory that everybody may enter and that hides nothing the runtime needs. */
enum kz_rc kz_oci_root_place(const struct kz_oci *o, char out[64], struct kz_err *err);
/* In a child with a private mount namespace: put the read-only root together at root. */
enum kz_rc kz_oci_root_mount(const struct kz_oci *o, const char *root, struct kz_err *err);
/* Run the runtime to the end of its "run --detach". err: runtime_unavailable with its last words */
enum kz_rc kz_oci_runtime_start(const struct kz_oci_launch *l, struct kz_deadline until, struct kz_err *err);
/* Have the runtime forget the container, killing it; an unknown container is fine. */
enum kz_rc kz_oci_runtime_delete(const struct kz_oci *o, const struct kz_oci_record *r, struct kz_deadline until, struct kz_err *err);
/* Path, flavor and version of a runtime by name or path. err: runtime_unavailable */
enum kz_rc kz_oci_runtime_find(const char *name, struct kz_oci_runtime *rt, struct kz_err *err);
const char *kz_oci_flavor_name(enum kz_oci_flavor f);
/* Bound the host-wide per-user counters inside the worker's namespaces. in: a process of it */
enum kz_rc kz_oci_limit_namespaces(pid_t pid, struct kz_err *err);
/* The made /etc of image host below dir. */
enum kz_rc kz_oci_etc_make(int dir, struct kz_err *err);

#endif
