/*
 * Media types of outputs, from the first bytes and the extension.  A name that
 * claims a type whose bytes say otherwise is application/octet-stream, so that a
 * program cannot pass one kind of file off as another.  Layer 2, pure.
 */
#ifndef KZ_RULE_MEDIA_H
#define KZ_RULE_MEDIA_H

#include <stdbool.h>
#include <stddef.h>

/* As many first bytes as the table looks at. */
#define KZ_MEDIA_HEAD 512

/* The media type of a file; static. in: head[0..n), its first bytes (at most KZ_MEDIA_HEAD count) */
const char *kz_media_type(const char *name, const void *head, size_t n);
/* Has the name an extension of a text: one that a canvas may have [OUT-2]? */
bool kz_media_is_text_name(const char *name);
/* Do the first bytes say PDF, zip or the older Office format, whatever the name is? */
bool kz_media_is_document(const void *head, size_t n);

#endif
