/*
 * Control groups of one worker: a directory UNIT in each hierarchy, with the
 * children worker (process 1, placed by the runtime) and tenant (the program).
 *
 * On version 1 every controller has its own place, the one that
 * /proc/self/cgroup names on its own line; version 2 has one tree.  The paths are
 * kept in the worker's record, because another process may live elsewhere.  Layer 3.
 */
#ifndef KZ_CORE_DRIVER_CGROUP_H
#define KZ_CORE_DRIVER_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/time.h"

struct kz_json;

#define KZ_CG_TREES 20
#define KZ_CG_NONE ((size_t)-1)

struct kz_cg_tree {
	char controllers[64]; /* as /proc/self/cgroup writes them; "" for version 2 */
	char dir[320];        /* UNIT in this hierarchy, absolute */
};

struct kz_cg {
	struct kz_cg_tree trees[KZ_CG_TREES];
	size_t count;
	bool is_v2;        /* the needed controllers are in version 2 */
	char mount_v2[64]; /* where that is mounted; "" on version 1 */
};

struct kz_cg_limits {
	int64_t memory_bytes;
	int64_t pids;
	int64_t cpu_thousandths;
	int64_t unit_bytes; /* memory of UNIT, all children together; 0: no bound of its own */
};

/* Descriptors of the tenant's files for kz-worker; -1 where this host has none. */
enum kz_cg_file {
	KZ_CG_PROCS_0, /* cgroup.procs to write, one a hierarchy */
	KZ_CG_PROCS_1,
	KZ_CG_PROCS_2,
	KZ_CG_PROCS_3,
	KZ_CG_PROCS_READ,
	KZ_CG_PIDS_CURRENT,
	KZ_CG_PIDS_EVENTS,
	KZ_CG_MEMORY_CURRENT,
	KZ_CG_MEMORY_EVENTS,
	KZ_CG_MEMORY_PEAK,
	KZ_CG_CPU_USAGE,
	KZ_CG_MEMORY_MAX,
	KZ_CG_SWAP_MAX, /* of memory and swap together: version 1 with swap accounting */
	KZ_CG_FILES
};

/*
 * Find where unit has to be, without making anything.
 * in: self is /proc/self/cgroup, mounts /proc/self/mountinfo (paths, so that tests bring their own).
 * err: cgroup_unavailable naming the controller that is missing
 */
enum kz_rc kz_cg_find(struct kz_cg *cg, const char *unit, const char *self, const char *mounts,
		      struct kz_err *err);
/* Version 2: move UNIT to the nearest place whose controllers can be handed down; before the record is written. */
enum kz_rc kz_cg_place(struct kz_cg *cg, struct kz_err *err);
/* Is controller among the comma-separated list? */
bool kz_cg_has(const char *list, const char *controller);
/* The hierarchy that carries a controller; KZ_CG_NONE when there is none. */
size_t kz_cg_tree_of(const struct kz_cg *cg, const char *controller);
/* Does the tenant need a group of its own in this hierarchy? */
bool kz_cg_is_counted(const struct kz_cg *cg, const struct kz_cg_tree *t);
/* Make UNIT everywhere and UNIT/child (tenant, or worker), both with their limits where they count. err: cgroup_unavailable */
enum kz_rc kz_cg_make(const struct kz_cg *cg, const char *child, const struct kz_cg_limits *l,
		      struct kz_err *err);
/* What config.json calls UNIT/worker. */
enum kz_rc kz_cg_container_path(const struct kz_cg *cg, char *out, size_t size, struct kz_err *err);
/* Put the limits on UNIT/child (made by kz_cg_make or the runtime). */
enum kz_rc kz_cg_limit(const struct kz_cg *cg, const char *child, const struct kz_cg_limits *l,
		       struct kz_err *err);
/* Open the tenant's files, close-on-exec. out: fds[KZ_CG_FILES]; nothing is open after a failure */
enum kz_rc kz_cg_open(const struct kz_cg *cg, int fds[KZ_CG_FILES], struct kz_err *err);
/* Move the calling process into UNIT (version 2: UNIT/runtime), so that ending UNIT ends it too. */
enum kz_rc kz_cg_join(const struct kz_cg *cg, struct kz_err *err);
/* Move the calling process into UNIT/worker everywhere: for a runtime that leaves cgroups alone. */
enum kz_rc kz_cg_join_worker(const struct kz_cg *cg, struct kz_err *err);
/* Process 1 of the worker as seen from here, 0 when none lives. in: any: any process of it counts (runsc) */
pid_t kz_cg_init(const struct kz_cg *cg, bool any);
/* Thaw, kill everything below UNIT, remove UNIT; fine when it is gone. err: cgroup_unavailable when something stays */
enum kz_rc kz_cg_end(const struct kz_cg *cg, struct kz_deadline until, struct kz_err *err);

/* Say with errno what could not be done to a file of a cgroup; returns cgroup_unavailable. */
enum kz_rc kz_cg_fail(struct kz_err *err, const char *what, const char *path);
/* As JSON for the record (new), and back. err: KZ_E_DATA */
struct kz_json *kz_cg_to_json(const struct kz_cg *cg);
enum kz_rc kz_cg_from_json(const struct kz_json *j, struct kz_cg *cg, struct kz_err *err);

#endif
