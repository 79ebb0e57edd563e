/*
 * The hashline record of a workspace: what its conversation was shown.
 *
 * It is an object beside the tree of the same generation, read and written by the
 * programs of this side alone; nothing of it ever reaches a worker [HL-1, HL-4].  All
 * numbers are little-endian.
 *
 *   "KZHL" u16 version=1 u16 flags=0 u64 body_len sha256[32] of the body
 *   u64 seq u32 pages u32 registers
 *   page      u32 len path  u64 used  u8 versions (1 to 4), newest first
 *     version u16 tag u64 seq u8 bom u8 ended u32 lines u32 len text (LF, no BOM)
 *             u32 ranges {u32 from u32 to}...       lines that were shown
 *   register  u8 len name u64 seq u32 lines u32 len text
 *
 * A record that is not exactly so is damaged, and everything that needs it fails; it is
 * never taken for an empty one.  Layer 3.
 * src: HL-1, HL-2, HL-4, HL-8, BOUND-7, INV-36
 */
#ifndef KZ_CORE_FILES_LINES_H
#define KZ_CORE_FILES_LINES_H

#include "base/buf.h"
#include "core/files/session.h"
#include "port/json.h"
#include "rule/hashline_apply.h"
#include "rule/hashline_book.h"
#include "rule/hashline_show.h"

#define KZ_LINES_MAX                                                                               \
	(64 << 20) /* bytes of a record; SANDBOX_HASHLINE_STATE_MAX_BYTES is at most this */

/*
 * Read a record.
 * in: p[0..n), malloc'd. own: takes p, also on failure. out: b, to be released in any case.
 * err: object_damaged, KZ_E_OS
 */
enum kz_rc kz_lines_decode(char *p, size_t n, struct kz_book *b, struct kz_err *err);
/*
 * Write a record of at most max bytes.  Texts of other files, those longest unused
 * first, and then older texts make room for it.
 * in: since: pages used at or after it are kept. err: lines_over_bound, KZ_E_OS
 */
enum kz_rc kz_lines_encode(struct kz_book *b, uint64_t since, int64_t max, struct kz_buf *out,
			   struct kz_err *err);
/* Read the JSON form of an edit. in: j is used as long as the edit is. err: as kz_edit_parse */
enum kz_rc kz_lines_edit_json(const struct kz_json *j, struct kz_edit *e, struct kz_err *err);

/* What a read answers. */
struct kz_lines_answer {
	struct kz_shown shown;
	uint16_t tag;
	uint32_t lines;
	bool has_bom, is_ended;
	bool ends[4]; /* by enum kz_eol: there are lines that end so */
};
/* Free everything. */
void kz_lines_answer_release(struct kz_lines_answer *a);
/*
 * Show lines of a file, and note in the record that they were shown; both or neither.
 * in: w open for writing; path in normal form; asked empty: the beginning.
 * err: those of kz_workspace_file, kz_show, kz_lines_encode and kz_workspace_change; object_damaged
 */
enum kz_rc kz_lines_read(struct kz_workspace *w, const char *path, const struct kz_spans *asked,
			 struct kz_lines_answer *a, struct kz_err *err);

/* What an edit answers; keeps what the effects point into. */
struct kz_lines_change {
	struct kz_edit edit;
	struct kz_effects effects;
	struct kz_book book; /* as it is now: for the names of registers */
	struct kz_lines_file {
		char path[KZ_PATH_MAX + 1];
		struct kz_buf bytes;
		uint32_t mode;
	} * file;                  /* own */
	struct kz_edit_file *view; /* own */
	size_t files;
	struct kz_json *json;
};
/* Free everything; it is empty then. */
void kz_lines_change_release(struct kz_lines_change *c);
/*
 * Apply an edit to the workspace: files and record in one generation, or nothing.
 * in: w open for writing; text[0..n) of either form (JSON begins with "{"), used as long
 *   as c is. out: c, to be released in any case.
 * err: those of kz_edit_parse, kz_edit_apply, kz_workspace_file, kz_lines_encode and kz_workspace_change; object_damaged
 */
enum kz_rc kz_lines_edit(struct kz_workspace *w, const char *text, size_t n,
			 struct kz_lines_change *c, struct kz_err *err);

#endif
