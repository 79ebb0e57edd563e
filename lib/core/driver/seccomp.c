#include "core/driver/seccomp.h"

/* The file itself, so that no copy of it can differ; scripts/make/driver.mk knows the dependency. */
__asm__(".section .rodata\n"
	".global kz_seccomp_worker_start\n"
	"kz_seccomp_worker_start:\n"
	".incbin \"policy/seccomp/worker.json\"\n"
	".global kz_seccomp_worker_end\n"
	"kz_seccomp_worker_end:\n"
	".previous\n");

extern const char kz_seccomp_worker_start[];
extern const char kz_seccomp_worker_end[];

const char *kz_seccomp_worker(void)
{
	return kz_seccomp_worker_start;
}

size_t kz_seccomp_worker_size(void)
{
	return (size_t)(kz_seccomp_worker_end - kz_seccomp_worker_start);
}
