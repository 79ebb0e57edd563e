/*
 * The parts of the oci driver that its files share: record, uid range, root file
 * system, bundle, runtime.  Nobody else includes this.  Layer 3.
 */
#ifndef KZ_CORE_DRIVER_OCI_PART_H
#define KZ_CORE_DRIVER_OCI_PART_H

#include "core/driver/oci.h"
#include "rule/way.h"

/* STATE/format into out. */
enum kz_rc kz_oci_path(const struct kz_oci *o, char out[KZ_OCI_PATH], struct kz_err *err,
		       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The name of a worker's container and cgroup, unique among the deployments of this machine. */
enum kz_rc kz_oci_unit(const struct kz_oci *o, const char *worker, char out[128],
		       struct kz_err *err);

/*
 * Take a free uid range and make STATE/workers/NAME with its record in one step.
 * in: all of r but uid_base. out: lock, an exclusive lock on the directory for as long as it is open.
 * err: worker_exists, userns_unavailable
 */
enum kz_rc kz_oci_record_make(struct kz_oci *o, struct kz_oci_record *r, int *lock,
			      struct kz_err *err);
/* A damaged record is salvaged as far as deleting needs. err: KZ_E_NOINPUT when there is no such worker */
enum kz_rc kz_oci_record_read(const struct kz_oci *o, const char *worker, struct kz_oci_record *r,
			      struct kz_err *err);
/* Lock the directory of a worker. err: KZ_E_NOINPUT when it is gone, KZ_E_TEMPFAIL */
enum kz_rc kz_oci_record_lock(const struct kz_oci *o, const char *worker, struct kz_deadline until,
			      int *lock, struct kz_err *err);
/* Remove what killed drivers left of directories that were not workers yet, or no longer. */
void kz_oci_drafts_remove(const struct kz_oci *o);
/* Free the uid range and remove the directory. */
enum kz_rc kz_oci_record_remove(const struct kz_oci *o, const struct kz_oci_record *r,
				struct kz_err *err);

/* Claim the lowest free uid range, of the user's own ranges where that is not root; target is the file that keeps the claim alive. Call with kz_uid_lock held. */
enum kz_rc kz_uid_lock(struct kz_deadline until, int *lock, struct kz_err *err);
enum kz_rc kz_uid_claim(int64_t first, const char *target, uint32_t *base, uint32_t *gid_base,
			struct kz_err *err);
/* Give back what was claimed for target. */
void kz_uid_drop(const char *target);

/* What one create needs in the child that becomes the runtime. */
struct kz_oci_launch {
	const struct kz_oci *o;
	const struct kz_oci_record *r;
	const char *unit;
	const char *bundle;
	const char *root; /* where the root file system is mounted */
	const char *
		control; /* where the directory of the control socket is, for a single-use worker */
	const char *state_dir; /* the runtime's own --root */
	const int *fds;        /* become 3, 4, ... */
	int fd_count;
	int ways_at; /* which of them is the first directory of a way out; -1: none */
	int output;  /* stdout and stderr */
};

/* Size of the file system of packages: as much as is stored, and the rest of each file's last page. */
int64_t kz_oci_packages_bytes(const struct kz_settings *s);
/* Memory bound of process 1's group. */
int64_t kz_oci_worker_memory(const struct kz_settings *s);
/* Bounds of the tenant's group, or of the one group of a single-use worker. */
struct kz_cg_limits kz_oci_limits(const struct kz_settings *s, bool single_use);
/* config.json of one worker into its bundle directory. */
enum kz_rc kz_oci_bundle_write(const struct kz_oci *o, const struct kz_oci_record *r,
			       const char *bundle, const char *root, const char *control,
			       struct kz_err *err);
/* Two existing directories that everybody may enter and that hide nothing the runtime needs: for the root, for the control socket. */
enum kz_rc kz_oci_root_place(const struct kz_oci *o, char root[64], char control[64],
			     struct kz_err *err);
/* In a child with a private mount namespace: put the read-only root together at root. */
enum kz_rc kz_oci_root_mount(const struct kz_oci *o, const char *root, struct kz_err *err);
/* After kz_oci_root_mount: put the directory of a single-use worker's control socket at control. */
enum kz_rc kz_oci_control_mount(const struct kz_oci *o, const struct kz_oci_record *r,
				const char *control, struct kz_err *err);
/* Lend that directory to the worker's root, so that process 1 can make its socket; take both back when it has. */
enum kz_rc kz_oci_control_lend(const struct kz_oci *o, const struct kz_oci_record *r,
			       struct kz_err *err);
enum kz_rc kz_oci_control_take(const struct kz_oci *o, const struct kz_oci_record *r,
			       struct kz_err *err);
/* Make the directory of a way's socket when it is missing, and open it. out: dir. err: driver_failed */
enum kz_rc kz_oci_way_open(const struct kz_oci *o, enum kz_way way, int *dir, struct kz_err *err);
/* After kz_oci_root_mount: put in place of that descriptor one of a read-only mount of the directory that stands nowhere. */
enum kz_rc kz_oci_way_detach(const struct kz_oci *o, enum kz_way way, int dir, struct kz_err *err);
/* Run the runtime to the end of its "run --detach". err: runtime_unavailable with its last words */
enum kz_rc kz_oci_runtime_start(const struct kz_oci_launch *l, struct kz_deadline until,
				struct kz_err *err);
/* Have the runtime forget the container, killing it; an unknown container is fine. */
enum kz_rc kz_oci_runtime_delete(const struct kz_oci *o, const struct kz_oci_record *r,
				 struct kz_deadline until, struct kz_err *err);
/* Path, flavor and version of a runtime by name or path. err: runtime_unavailable */
enum kz_rc kz_oci_runtime_find(const char *name, struct kz_oci_runtime *rt, struct kz_err *err);
const char *kz_oci_flavor_name(enum kz_oci_flavor f);
/* Bound the host-wide per-user counters inside the worker's namespaces. in: a process of it */
enum kz_rc kz_oci_limit_namespaces(pid_t pid, struct kz_err *err);
/* Digest of what an open file holds, to its end. err: KZ_E_IO */
enum kz_rc kz_oci_hash(int fd, char out[KZ_SHA256_HEX], struct kz_err *err);
/*
 * Is the directory of KZ_IMAGE what its manifest says, entry by entry? A tree that was read once is read again
 * only when an entry was touched since. err: image_invalid, image_architecture, KZ_E_IO. wait: while all of it is read
 */
enum kz_rc kz_oci_tree_verify(const struct kz_oci *o, struct kz_err *err);
/* The made /etc of image host below dir. */
enum kz_rc kz_oci_etc_make(int dir, struct kz_err *err);

#endif
