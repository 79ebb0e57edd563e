/* What a service gives up of system calls. */
#include "core/jail/service.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "core/jail/others.h"

enum kz_rc kz_jail_service(struct kz_err *err)
{
	const struct kz_filter_rule denied[] = {
		DENY_WHEN("socket", KZ_FILTER_LOW, 0, AF_UNIX),
		DENY("io_uring_setup"),
		DENY("execve"),
		DENY("execveat"),
		DENY_OTHERS(getpid()),
	};
	kz_auto_free void *program = NULL;
	size_t n = 0;
	enum kz_rc rc = kz_filter_build(denied, sizeof denied / sizeof *denied, &program, &n, err);

	if (rc != KZ_OK)
		return rc;
	return kz_filter_install(program, n) == 0 ?
		       KZ_OK :
		       kz_err_sys(err, KZ_E_OS, "cannot install the filter");
}
