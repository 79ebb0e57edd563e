/* The parts of lib/shim/kernel, put together in the folder of the build; scripts/make/driver.mk knows the dependency. */
#include "core/run/kernel.h"

__asm__(".section .rodata\n"
	".global kz_shim_kernel_py_start\n"
	"kz_shim_kernel_py_start:\n"
	".incbin \"shim/kernel.py\"\n"
	".global kz_shim_kernel_py_end\n"
	"kz_shim_kernel_py_end:\n"
	".global kz_shim_kernel_mjs_start\n"
	"kz_shim_kernel_mjs_start:\n"
	".incbin \"shim/kernel.mjs\"\n"
	".global kz_shim_kernel_mjs_end\n"
	"kz_shim_kernel_mjs_end:\n"
	".previous\n");

extern const char kz_shim_kernel_py_start[];
extern const char kz_shim_kernel_py_end[];
extern const char kz_shim_kernel_mjs_start[];
extern const char kz_shim_kernel_mjs_end[];

const char *kz_kernel_shim(enum kz_language l, size_t *n)
{
	const char *start = l == KZ_LANG_NODE ? kz_shim_kernel_mjs_start : kz_shim_kernel_py_start;
	const char *end = l == KZ_LANG_NODE ? kz_shim_kernel_mjs_end : kz_shim_kernel_py_end;

	*n = (size_t)(end - start);
	return start;
}
