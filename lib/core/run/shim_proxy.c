/* lib/shim/node-proxy.cjs itself; scripts/make/driver.mk knows the dependency. */
#include "core/run/source.h"

__asm__(".section .rodata\n"
	".global kz_shim_proxy_start\n"
	"kz_shim_proxy_start:\n"
	".incbin \"lib/shim/node-proxy.cjs\"\n"
	".global kz_shim_proxy_end\n"
	"kz_shim_proxy_end:\n"
	".previous\n");

extern const char kz_shim_proxy_start[];
extern const char kz_shim_proxy_end[];

const char *kz_source_proxy(size_t *n)
{
	*n = (size_t)(kz_shim_proxy_end - kz_shim_proxy_start);
	return kz_shim_proxy_start;
}
