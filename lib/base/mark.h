/*
 * Marks of files: a number that differs once a file was changed or replaced, for who
 * looks from time to time whether something must be read again.  Layer 0.
 */
#ifndef KZ_BASE_MARK_H
#define KZ_BASE_MARK_H

#include <stdint.h>

/* The mark of one file by its name, links followed; 0 when it cannot be looked at. wait: as long as stat does */
uint64_t kz_mark_file(const char *path);
/* The mark of all files of a folder, whatever their order, names with a dot in front left out; 0 when it cannot be opened */
uint64_t kz_mark_dir(const char *path);

#endif
