/*
 * Lines as they are shown: "N:text".
 *
 * What cannot stand in a terminal or in JSON is shown as \xNN, and a line too long is
 * cut; such a line was not shown exactly, so it does not count as seen and cannot be
 * an anchor of an edit.  Shown as \xNN are bytes that are not UTF-8 and control
 * characters other than the tab.  Layer 2, pure.
 * src: HL-11
 */
#ifndef KZ_RULE_HASHLINE_SHOW_H
#define KZ_RULE_HASHLINE_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "rule/hashline_spans.h"
#include "rule/hashline_text.h"

#define KZ_SHOW_LINES 1000       /* of a text without ranges */
#define KZ_SHOW_BYTES (1u << 20) /* of all rows of an answer */
#define KZ_SHOW_ROW (64u << 10)  /* bytes of a row before it is cut */
#define KZ_SHOW_BEFORE 1         /* lines around a range that was asked for */
#define KZ_SHOW_AFTER 3

/* Append "N:text" and LF. in: max: bytes of the text. out: *exact. err: as kz_buf_add */
enum kz_rc kz_show_row(uint32_t number, struct kz_row text, size_t max, struct kz_buf *out,
		       bool *exact, struct kz_err *err);

/* An answer to a read. */
struct kz_shown {
	struct kz_buf rows;      /* "N:text" and LF each; a row "..." stands between ranges */
	struct kz_spans seen;    /* shown exactly */
	struct kz_spans altered; /* shown, but not exactly */
	struct kz_spans left;    /* asked for and not shown: too much for one answer */
};
void kz_shown_release(struct kz_shown *s);
#define kz_auto_shown kz_auto(kz_shown_release)
/*
 * Show the lines asked for with some around them, or without any ranges the first
 * KZ_SHOW_LINES.
 * out: s, to be released in any case. err: line_out_of_range (a range begins behind the last line), KZ_E_OS
 */
enum kz_rc kz_show(const struct kz_text *t, const struct kz_spans *asked, struct kz_shown *s,
		   struct kz_err *err);

#endif
