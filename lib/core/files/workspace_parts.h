/*
 * Parts of core/files/workspace, included by nobody else: names and texts.  Layer 3.
 */
#ifndef KZ_CORE_FILES_WORKSPACE_PARTS_H
#define KZ_CORE_FILES_WORKSPACE_PARTS_H

#include <stddef.h>

#include "base/buf.h"
#include "core/files/workspace.h"

/* Most bytes of a generation object. */
#define KZ_GENERATION_MAX 8192

/* The names of all generations of a workspace, in order. */
struct kz_generations {
	char (*names)[KZ_GENERATION_TEXT];
	size_t count;
};
void kz_generations_release(struct kz_generations *l);
#define kz_auto_generations kz_auto(kz_generations_release)
/* out: filled anew. err: those of the store */
enum kz_rc kz_generations_list(struct kz_objects *o, const char *key, struct kz_generations *out,
			       struct kz_deadline until, struct kz_err *err);

/* Is it FENCE-SEQ? out: both */
bool kz_generation_name_parse(const char *name, int64_t *fence, int64_t *seq);
void kz_generation_name(int64_t fence, int64_t seq, char out[KZ_GENERATION_TEXT]);
/* Names of objects. */
void kz_generation_object(const char *key, const char *name, char out[KZ_OBJECT_NAME_MAX + 1]);
void kz_blob_object(const char *key, const char *id, char out[KZ_OBJECT_NAME_MAX + 1]);

/* The one text of a generation, with its digest and a final newline. out: appended. err: KZ_E_OS */
enum kz_rc kz_generation_write(const struct kz_generation *g, const char *key, struct kz_buf *out,
			       struct kz_err *err);
/*
 * Read it back: exactly the text that kz_generation_write makes, under this key and name.
 * out: is_cut: its line has no end. err: object_damaged
 */
enum kz_rc kz_generation_read(const char *p, size_t n, const char *key, const char *name,
			      struct kz_generation *out, bool *is_cut, struct kz_err *err);
/* Fetch and read one. err: object_missing, object_damaged, and those of the store */
enum kz_rc kz_generation_get(struct kz_objects *o, const char *key, const char *name,
			     struct kz_generation *out, bool *is_cut, struct kz_deadline until,
			     struct kz_err *err);

#endif
