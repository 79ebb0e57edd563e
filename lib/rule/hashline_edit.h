/*
 * An edit: sections of files, each with operations on lines [HL-3].
 *
 *	[PATH#TAG]
 *	PUT 2.=3:      replace lines 2 and 3 by the rows that follow
 *	+row
 *	PUT <2:        insert before line 2; <1 is the head of the file
 *	PUT >2:        insert after line 2; >$ is the end of the file
 *	CUT 2.=3 @R    delete, and keep in register R (or in the nameless one)
 *	PUT >2 @R      insert what the register holds;  PUT 2.=3 @R  puts it over a range
 *	REM            remove the file;  MV NAME  gives it another name
 *
 * Line numbers are those of the text that the tag names, whatever other operations do.
 * The text form forgives what models often get wrong, with a warning each; the JSON
 * form (core/files/lines.h) builds the same by the functions below and forgives
 * nothing.  Layer 2, pure.
 */
#ifndef KZ_RULE_HASHLINE_EDIT_H
#define KZ_RULE_HASHLINE_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "rule/hashline_book.h"
#include "rule/hashline_text.h"
#include "rule/path.h"

#define KZ_EDIT_MAX (16u << 20) /* bytes of an edit, inclusive */
#define KZ_EDIT_SECTIONS 256
#define KZ_EDIT_HUNKS 10000
#define KZ_EDIT_RANGE 100000      /* lines of a range, inclusive */
#define KZ_EDIT_NOTES (16u << 10) /* bytes of the warnings of a section */

enum kz_hunk_kind { KZ_HUNK_REPLACE, KZ_HUNK_CUT, KZ_HUNK_BEFORE, KZ_HUNK_AFTER };

struct kz_hunk {
	enum kz_hunk_kind kind;
	bool is_edge;      /* head (BEFORE) or end (AFTER) of the file: from and to are 0 */
	bool has_register; /* the rows come from a register, or go into one */
	uint32_t from, to; /* a gap has one line: from == to */
	char reg[KZ_REGISTER_NAME + 1]; /* "": the nameless one */
	size_t row, rows;               /* in the edit's rows */
	size_t old, olds;               /* "-" rows: must be lines of the range */
	size_t order;                   /* among all hunks of the edit */
	size_t at;                      /* line of the edit, or number of the operation in JSON */
};

struct kz_section {
	char path[KZ_PATH_MAX + 1];
	uint16_t tag;
	struct kz_hunk *hunk; /* own */
	size_t hunks, room;
	bool removes;
	bool moves;
	char dest[KZ_PATH_MAX + 1];
	struct kz_buf notes; /* warnings, each ends in LF */
};

/* Rows point into the bytes that it was made from. */
struct kz_edit {
	struct kz_section **section; /* own */
	size_t sections;
	struct kz_row *row; /* own */
	size_t rows, row_room;
	size_t hunks;
};

/* Free everything; it is empty then. */
void kz_edit_release(struct kz_edit *e);
#define kz_auto_edit kz_auto(kz_edit_release)

/*
 * Read the text form.
 * in: text[0..n) is used as long as the edit is. out: e, to be released in any case.
 * err: edit_malformed, missing_tag, conflicting_tags, bad_range, block_unsupported, path_rejected, KZ_E_OS; the text names the line
 */
enum kz_rc kz_edit_parse(const char *text, size_t n, struct kz_edit *e, struct kz_err *err);

/* For readers of a form. The section of a path, the one that it has already if so. in: at: where in the edit. err: path_rejected, conflicting_tags, edit_malformed (too many) */
enum kz_rc kz_edit_section(struct kz_edit *e, struct kz_row path, uint16_t tag, size_t at,
			   struct kz_section **out, struct kz_err *err);
/* Read "2.=3", "<2", ">2", ">$" into kind, from, to and is_edge. in: is_lenient: other forms of ranges too, noted in notes. err: edit_malformed, bad_range, block_unsupported */
enum kz_rc kz_edit_address(struct kz_row a, bool is_lenient, struct kz_hunk *h,
			   struct kz_buf *notes, struct kz_err *err);
/* Append an operation; its rows are those added from row on. out: *h borrowed until the next. err: edit_malformed (too many, or beside REM) */
enum kz_rc kz_edit_add(struct kz_edit *e, struct kz_section *s, const struct kz_hunk *h,
		       struct kz_err *err);
/* Append a row. err: edit_malformed (CR, LF or zero byte, not UTF-8) */
enum kz_rc kz_edit_row(struct kz_edit *e, struct kz_row row, size_t at, struct kz_err *err);
/* REM. err: edit_malformed (not alone) */
enum kz_rc kz_edit_remove(struct kz_section *s, size_t at, struct kz_err *err);
/* MV. err: edit_malformed (twice, or beside REM), path_rejected */
enum kz_rc kz_edit_move(struct kz_section *s, struct kz_row dest, size_t at, struct kz_err *err);
/* A warning of a section; past KZ_EDIT_NOTES they are dropped. */
void kz_edit_note(struct kz_buf *notes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
