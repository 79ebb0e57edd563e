/* What a service gives up of system calls. */
#include "core/jail/service.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/auto.h"
#include "port/filter.h"

#define DENY(call)                                                                                 \
	{                                                                                          \
		.name = (call), .deny_errno = EPERM, .test = KZ_FILTER_ALWAYS                      \
	}

static const struct kz_filter_rule denied[] = {
	{ .name = "socket", .deny_errno = EPERM, .test = KZ_FILTER_LOW, .value = AF_UNIX },
	DENY("io_uring_setup"),
	DENY("execve"),
	DENY("execveat"),
	DENY("kill"),
	DENY("rt_sigqueueinfo"),
	DENY("pidfd_send_signal"),
};

enum kz_rc kz_jail_service(struct kz_err *err)
{
	kz_auto_free void *program = NULL;
	size_t n = 0;
	enum kz_rc rc = kz_filter_build(denied, sizeof denied / sizeof *denied, &program, &n, err);

	if (rc != KZ_OK)
		return rc;
	return kz_filter_install(program, n) == 0 ?
		       KZ_OK :
		       kz_err_sys(err, KZ_E_OS, "cannot install the filter");
}
