/*
 * Putting one file into the caller's own places, whole or not at all.  Layer 3.
 */
#ifndef KZ_CORE_FILES_PLACE_H
#define KZ_CORE_FILES_PLACE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Make the file path of what fd holds from its start: a temporary name beside it, then
 * a rename.  A link of that name is replaced itself, its target is not touched; anything
 * else that is no regular file is left alone.
 * in: size bytes; mode is set exactly. err: output_uncreatable; then nothing is left
 */
enum kz_rc kz_place_file(const char *path, int fd, int64_t size, mode_t mode, struct kz_err *err);

#endif
