/*
 * A text as lines that keep their own line ends [HL-10].
 *
 * A line ends in LF, CRLF or CR; only the last may end in none.  A byte order mark at
 * the start is set aside.  Bytes are kept as they are: nothing here needs UTF-8.
 * The normal form, which tags and stored versions are about, has LF for every line
 * end and no byte order mark.  Layer 2, pure.
 */
#ifndef KZ_RULE_HASHLINE_TEXT_H
#define KZ_RULE_HASHLINE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define KZ_TEXT_MAX (64u << 20)      /* bytes of a text, inclusive */
#define KZ_TEXT_LINES_MAX (4u << 20) /* lines of a text, inclusive */

enum kz_eol { KZ_EOL_NONE, KZ_EOL_LF, KZ_EOL_CRLF, KZ_EOL_CR };

/* A piece of somebody's bytes. */
struct kz_row {
	const char *p;
	size_t n;
};

struct kz_line {
	const char *p;
	uint32_t n; /* without its end */
	enum kz_eol eol;
};

struct kz_text {
	struct kz_line *line; /* own array, the bytes are the caller's */
	uint32_t count;
	bool has_bom;
};

/*
 * Split p[0..n) into lines that point into it.
 * out: t, to be released. err: file_binary (a zero byte), file_too_large, KZ_E_OS
 */
enum kz_rc kz_text_split(const char *p, size_t n, struct kz_text *t, struct kz_err *err);
/* Free the array; the text is empty then. */
void kz_text_release(struct kz_text *t);
#define kz_auto_text kz_auto(kz_text_release)
/* Does the last line end in a line end? True for a text without lines. */
bool kz_text_is_ended(const struct kz_text *t);
/* Append the bytes as they were split: what kz_text_split read, exactly. err: as kz_buf_add */
enum kz_rc kz_text_join(const struct kz_text *t, struct kz_buf *out, struct kz_err *err);
/* Append the normal form. err: as kz_buf_add */
enum kz_rc kz_text_normal(const struct kz_text *t, struct kz_buf *out, struct kz_err *err);
/* The bytes of a line end ("" for none); static. */
const char *kz_eol_text(enum kz_eol e);
/* Are the two pieces the same bytes? */
bool kz_row_same(struct kz_row a, struct kz_row b);
/* A line without its end as a piece. */
static inline struct kz_row kz_line_row(const struct kz_line *l)
{
	return (struct kz_row){ l->p, l->n };
}

#endif
