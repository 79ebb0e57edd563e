/*
 * What kz doctor asks of this machine: one function each, which looks, changes
 * nothing that it does not put back, and names the command that helps.  Layer 3.
 */
#ifndef KZ_CORE_DRIVER_DOCTOR_H
#define KZ_CORE_DRIVER_DOCTOR_H

#include "core/conf/conf.h"

#define KZ_CHECK_USER_LINES 5

enum kz_check_level { KZ_CHECK_OK, KZ_CHECK_WARN, KZ_CHECK_FAIL };

struct kz_check {
	enum kz_check_level level;
	char text[400]; /* what was found, one line */
	char fix[200];  /* a command, or "" */
};

/*
 * Make, check and remove a whole worker under each runtime that may be used.  Without
 * keys in the state directory (kz was never up) this happens in a temporary one.
 * wait: some seconds
 */
void kz_check_runtime(const struct kz_conf *c, struct kz_check *out);
/* Are memory, pids and cpu there, and may this process make groups? */
void kz_check_cgroups(const struct kz_conf *c, struct kz_check *out);
/* Can a user namespace with ids of its own be made, and are ids free?  For root. */
void kz_check_userns(const struct kz_conf *c, struct kz_check *out);
/*
 * The same for a user who is not root: a line for each thing that is missing, or one
 * that says for how many workers there are ids.
 * out: lines[KZ_CHECK_USER_LINES]; returns how many
 */
size_t kz_check_user(const struct kz_conf *c, struct kz_check *lines);
/* Does the kernel filter system calls, with the actions the profiles use? */
void kz_check_seccomp(const struct kz_conf *c, struct kz_check *out);
/* Has the kernel Landlock, and if not, what goes without it? */
void kz_check_landlock(const struct kz_conf *c, struct kz_check *out);
/* Can the state directory carry the image's layers, and has it room? */
void kz_check_disk(const struct kz_conf *c, struct kz_check *out);

#endif
