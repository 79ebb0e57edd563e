/*
 * Applying an edit to files held in memory.
 *
 * A section is taken only when its tag was given for this path in this conversation,
 * and every line it touches was shown in a text of that tag [HL-3, HL-11].  The file as
 * it is then has to be that very text, byte for byte, or to hold the same lines at
 * places that leave no doubt; otherwise the section is stale [HL-7, HL-12].  One
 * refusal refuses the whole edit.
 *
 * Lines that an edit does not touch keep their bytes and their ends; new lines get the
 * end of their neighbour.  Layer 2, pure.
 * src: HL-3, HL-6, HL-7, HL-11 to HL-13
 */
#ifndef KZ_RULE_HASHLINE_APPLY_H
#define KZ_RULE_HASHLINE_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "rule/hashline_book.h"
#include "rule/hashline_edit.h"

/* A file as it is now: each that a section names, and each name that MV gives. */
struct kz_edit_file {
	const char *path; /* in normal form */
	bool exists;
	const char *bytes; /* not needed for a name that only MV gives */
	size_t n;
};

enum kz_effect_op { KZ_EFFECT_EDIT, KZ_EFFECT_REMOVE, KZ_EFFECT_MOVE };

/* What one section did. */
struct kz_effect {
	enum kz_effect_op op;
	const char *path, *dest; /* borrowed from the edit; dest "" unless moved */
	const char *old;         /* the bytes before, borrowed from the file */
	size_t old_n;
	struct kz_buf bytes; /* the file's new content; nothing when removed */
	uint16_t tag;        /* of the new content */
	uint32_t lines;
	uint32_t first_changed; /* line of the new text, 0: content unchanged */
	struct kz_buf context;  /* "N:text" around the change, LF each */
	struct kz_buf notes;    /* warnings, LF each */
};

struct kz_effects {
	struct kz_effect *effect; /* own, one a section, in order */
	size_t count;
};
/* Free everything; it is empty then. */
void kz_effects_release(struct kz_effects *x);
#define kz_auto_effects kz_auto(kz_effects_release)

/*
 * Apply it, and note in the book what the caller knows of the new texts: lines it has
 * seen before, those it wrote, and those of the context.
 * in: files: everything the edit names. out: x, to be released in any case; b is to be
 *   thrown away after a failure.
 * err: file_missing, unknown_tag, stale_anchor, ambiguous_anchor, unseen_lines, line_out_of_range, edit_overlap, edit_noop, edit_malformed,
 *   edit_echo, register_empty, register_ambiguous, register_full, target_exists, file_binary, file_too_large, KZ_E_OS
 */
enum kz_rc kz_edit_apply(const struct kz_edit *e, struct kz_book *b,
			 const struct kz_edit_file *files, size_t count, struct kz_effects *x,
			 struct kz_err *err);

#endif
