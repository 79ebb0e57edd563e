/*
 * Bytes of anybody's in a line for a terminal or a model.  Layer 0.
 */
#ifndef KZ_BASE_ESCAPE_H
#define KZ_BASE_ESCAPE_H

#include <stddef.h>

/* Text of bytes for a terminal: control characters, backslashes and what is not UTF-8 as \xNN. own: new, NULL when memory is out */
char *kz_escape(const char *p, size_t n);

#endif
