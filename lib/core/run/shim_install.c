/* lib/shim/install.py and install.cjs themselves; scripts/make/driver.mk knows the dependency. */
#include "core/run/install_parts.h"

__asm__(".section .rodata\n"
	".global kz_shim_install_py_start\n"
	"kz_shim_install_py_start:\n"
	".incbin \"lib/shim/install.py\"\n"
	".global kz_shim_install_py_end\n"
	"kz_shim_install_py_end:\n"
	".global kz_shim_install_cjs_start\n"
	"kz_shim_install_cjs_start:\n"
	".incbin \"lib/shim/install.cjs\"\n"
	".global kz_shim_install_cjs_end\n"
	"kz_shim_install_cjs_end:\n"
	".previous\n");

extern const char kz_shim_install_py_start[];
extern const char kz_shim_install_py_end[];
extern const char kz_shim_install_cjs_start[];
extern const char kz_shim_install_cjs_end[];

const char *kz_install_shim(enum kz_ecosystem eco, size_t *n)
{
	const char *start =
		eco == KZ_ECO_NODE ? kz_shim_install_cjs_start : kz_shim_install_py_start;
	const char *end = eco == KZ_ECO_NODE ? kz_shim_install_cjs_end : kz_shim_install_py_end;

	*n = (size_t)(end - start);
	return start;
}
