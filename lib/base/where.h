/*
 * Where the programs and shared files of this very installation are.  Derived
 * from /proc/self/exe, so that a tree can be moved.  Layer 0.
 */
#ifndef KZ_BASE_WHERE_H
#define KZ_BASE_WHERE_H

#include <stddef.h>

#include "base/err.h"

/*
 * The absolute path of a helper program: beside the calling binary, else in
 * ../libexec/kz and ../bin of it.  A name with '/' must be absolute and is taken as it is.
 * err: KZ_E_NOINPUT when there is no executable file of that name.
 */
enum kz_rc kz_where_program(const char *name, char *out, size_t size, struct kz_err *err);
/*
 * The absolute path of a shared file ("supervise", "policy/x.json"): in
 * ../share/kz of the calling binary (or of ../../bin for one in libexec/kz), else
 * in the source tree when the binary lies in its build directory.
 * err: KZ_E_NOINPUT.
 */
enum kz_rc kz_where_shared(const char *name, char *out, size_t size, struct kz_err *err);

#endif
