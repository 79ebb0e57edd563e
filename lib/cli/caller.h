/*
 * Who calls, and whether they may; readiness of services.  Layer 4.
 */
#ifndef KZ_CLI_CALLER_H
#define KZ_CLI_CALLER_H

#include "base/err.h"

/*
 * May the caller use the kz of this state directory?  Root, the directory's
 * owner, and members of group may.
 * in: group is the setting KZ_GROUP, "" for none.
 * err: no_permission with the command that fixes it.
 */
enum kz_rc kz_caller_check(const char *state, const char *group, struct kz_err *err);
/* The calling user's name (the number when it has none), the default actor. */
void kz_caller_user(char out[64]);
/* Tell s6 that the service is ready: one newline to the notification descriptor, which is closed. -1: nothing to do */
enum kz_rc kz_ready_tell(int fd, struct kz_err *err);

#endif
