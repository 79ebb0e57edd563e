/*
 * The oci driver for a user who is not root.
 *
 * Each worker gets a user namespace of the user's own around it: 0 there is the
 * user, and the worker's three ids keep their numbers.  The runtime runs as root
 * of that namespace; the driver stays outside, where its owner may do everything
 * to what is inside.  newuidmap and newgidmap (package uidmap) give the ids, out
 * of the user's ranges in /etc/subuid and /etc/subgid.  Layer 3.
 */
#ifndef KZ_CORE_DRIVER_OCI_ROOTLESS_H
#define KZ_CORE_DRIVER_OCI_ROOTLESS_H

#include "core/driver/oci.h"

struct kz_oci_launch;

#define KZ_ROOTLESS_FINDS 5

/* Something that this user lacks, and the command that helps. */
struct kz_rootless_find {
	char text[200];
	char fix[120];
};

/* Everything that is missing. out: finds[KZ_ROOTLESS_FINDS]; returns how many */
size_t kz_rootless_look(struct kz_rootless_find *finds);
/* The first that is missing as a refusal. err: userns_unavailable */
enum kz_rc kz_rootless_check(struct kz_err *err);
/*
 * Is there no place here where this user may make cgroups?
 * in: self, mounts: as kz_cg_find takes them. out: f, when there is none
 */
bool kz_rootless_cgroup_look(const char *self, const char *mounts, struct kz_rootless_find *f);
/* The same of this process, as a refusal. err: cgroup_unavailable */
enum kz_rc kz_rootless_cgroup_check(struct kz_err *err);
/*
 * The n-th block of KZ_OCI_UIDS ids of the user.
 * out: uid and gid: its first ids; done: there is no such block (KZ_OK too). err: userns_unavailable
 */
enum kz_rc kz_rootless_block(size_t n, uint32_t *uid, uint32_t *gid, bool *done,
			     struct kz_err *err);
/* How many blocks there are. */
size_t kz_rootless_blocks(void);
/* The folder where this user's blocks are claimed, made when it is missing: one for all deployments of a user. */
enum kz_rc kz_rootless_claims(char *out, size_t size, struct kz_err *err);
/* In the child that becomes the runtime, and in the worker's cgroup: enter the namespace as its root. err: userns_unavailable */
enum kz_rc kz_rootless_enter(const struct kz_oci_launch *l, struct kz_err *err);

#endif
