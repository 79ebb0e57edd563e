/* What turn.c and turn_list.c share and nobody else includes.  Layer 3. */
#ifndef KZ_CORE_FILES_TURN_PARTS_H
#define KZ_CORE_FILES_TURN_PARTS_H

#include "core/files/turn.h"

#define KZ_TURN_TEXT 255 /* bytes of an id */
#define KZ_TURN_POSITION_MOST 9007199254740991LL
#define KZ_TURN_SIZE_MOST (1LL << 40)

/* A string of 1 to most bytes without control characters, borrowed; NULL when it is not one. */
const char *kz_turn_text(const struct kz_json *o, const char *key, size_t most);
/* 64 lower-case hex digits? */
bool kz_turn_is_digest(const char *s);

/* Lists, own by free of ->at (NULL for an absent one). out: false when malformed */
bool kz_turn_ids(const struct kz_json *list, size_t most, struct kz_prj_ids *out);
bool kz_turn_docs(const struct kz_json *list, bool has_turn, struct kz_prj_docs *out);
bool kz_turn_links(const struct kz_json *list, struct kz_prj_links *out);

#endif
