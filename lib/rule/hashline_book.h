/*
 * What one conversation was shown: for each path the newest texts of it in normal
 * form, which lines of them were shown, and the named registers [HL-2].
 *
 * This is the record in memory.  Every function here changes it at once; whoever fails
 * later throws it away, so that nothing of a failed operation is kept [WS-12].
 * Layer 2, pure.
 * src: HL-2, HL-3, HL-9, HL-11
 */
#ifndef KZ_RULE_HASHLINE_BOOK_H
#define KZ_RULE_HASHLINE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "rule/hashline_spans.h"
#include "rule/hashline_text.h"

#define KZ_BOOK_PAGES 256
#define KZ_BOOK_VERSIONS 4
#define KZ_BOOK_REGISTERS 32
#define KZ_REGISTER_NAME 64         /* bytes of a name: [A-Za-z0-9_-] */
#define KZ_REGISTER_MAX (1u << 20)  /* bytes of one register, inclusive */
#define KZ_REGISTERS_MAX (8u << 20) /* bytes of all registers, inclusive */

/* A text of a file that was shown, wholly or in part. */
struct kz_version {
	uint16_t tag;
	bool has_bom, is_ended;
	uint32_t lines;
	uint64_t seq; /* when it came, in the book's own count */
	const char *text;
	size_t n;
	char *own; /* the memory of text, NULL: borrowed */
	struct kz_spans seen;
};

struct kz_page {
	char *path; /* own, in normal form */
	uint64_t used;
	struct kz_version version[KZ_BOOK_VERSIONS]; /* newest first */
	unsigned count;
};

struct kz_register {
	char name[KZ_REGISTER_NAME + 1];
	uint64_t seq;
	uint32_t lines;
	const char *text; /* each line ends in LF */
	size_t n;
	char *own; /* NULL: borrowed */
};

struct kz_book {
	struct kz_page *page[KZ_BOOK_PAGES]; /* in no order */
	size_t pages;
	struct kz_register reg[KZ_BOOK_REGISTERS]; /* in order of names */
	size_t registers;
	uint64_t seq;  /* the last number given */
	char *backing; /* what borrowed texts point into; own */
};

/* Free everything; the book is empty then. */
void kz_book_release(struct kz_book *b);
#define kz_auto_book kz_auto(kz_book_release)

/* The page of a path, NULL when there is none. borrowed */
struct kz_page *kz_book_find(const struct kz_book *b, const char *path);
/* The one page whose path has this last component and a version of this tag; NULL when none or several have. borrowed */
const struct kz_page *kz_book_alike(const struct kz_book *b, const char *base, uint16_t tag);
/*
 * Note a text of a path as its newest, with lines that were shown; lines shown of the
 * same text before stay known.  A fifth text drops the oldest, a path too many the one
 * longest unused.
 * in: text in normal form, lines as it splits. own: copies text.
 * out: *v the version, borrowed, NULL allowed. err: KZ_E_OS
 */
enum kz_rc kz_book_show(struct kz_book *b, const char *path, const char *text, size_t n,
			bool has_bom, uint32_t lines, const struct kz_spans *seen,
			struct kz_version **v, struct kz_err *err);
/* Forget a path; unknown is fine. */
void kz_book_forget(struct kz_book *b, const char *path);
/* The page of a path belongs to another from now on, whose own is forgotten. err: KZ_E_OS */
enum kz_rc kz_book_move(struct kz_book *b, const char *path, const char *to, struct kz_err *err);
/* Make the record smaller: drop the oldest text that no path of this use needs. in: since: pages used at or after it keep their newest text. out: false when nothing can go */
bool kz_book_shrink(struct kz_book *b, uint64_t since);

/* Is it a register's name? */
bool kz_register_is_name(const char *p, size_t n);
/* A register by name, NULL when there is none. borrowed */
const struct kz_register *kz_book_register(const struct kz_book *b, const char *name);
/* Keep rows under a name, in place of what it had. own: copies. err: register_full, KZ_E_OS */
enum kz_rc kz_book_keep(struct kz_book *b, const char *name, const struct kz_row *rows,
			size_t count, struct kz_err *err);

#endif
