/* Files in memory. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* A machine may allow those alone that cannot be executed (vm.memfd_noexec=2). */
enum kz_rc kz_memory_file(const char *name, int *fd, struct kz_err *err)
{
	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	if (*fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return *fd < 0 ? kz_err_sys(err, KZ_E_OS, "cannot make a memory file") : KZ_OK;
}

enum kz_rc kz_fd_rewind(int fd, struct kz_err *err)
{
	return lseek(fd, 0, SEEK_SET) < 0 ? kz_err_sys(err, KZ_E_IO, "cannot rewind a file") :
					    KZ_OK;
}

enum kz_rc kz_memory_file_of(const char *name, const void *p, size_t n, int *fd, struct kz_err *err)
{
	kz_auto_close int file = -1;
	enum kz_rc rc = kz_memory_file(name, &file, err);

	if (!rc)
		rc = kz_fd_write_all(file, p, n, err);
	if (!rc)
		rc = kz_fd_rewind(file, err);
	if (!rc)
		*fd = kz_take_fd(&file);
	return rc;
}
