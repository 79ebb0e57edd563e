/*
 * The check of native documents among outputs: kz-native, a program without keys, judges
 * the bytes before they get a name.  Without its word nothing is retained.  Layer 3.
 * src: NAT-1, NAT-5, NAT-9
 */
#ifndef KZ_CORE_RUN_DOCUMENT_H
#define KZ_CORE_RUN_DOCUMENT_H

#include <stdint.h>

#include "base/err.h"

/*
 * Judge a file that by its name is a PDF or Office document; any other is fine.
 * in: fd of the whole file, bytes long; its offset does not matter and stays.
 * err: native_invalid, native_mismatch, native_encrypted, native_bomb (text as kz-native
 * says it, bounded); native_unavailable when there is no verdict. wait: 30 s
 */
enum kz_rc kz_document_check(const char *name, int fd, int64_t bytes, struct kz_err *err);

#endif
