/*
 * One row of the audit store in memory, and the hash that chains it [AUD-9].
 *
 * hash = SHA-256 over the previous hash and the canonical text: number, time and
 * kind, then each column of the first form as n (null), iDECIMAL or tLENGTH:bytes,
 * then each later column that is not null as +NAME and the same, then all of that
 * for each child row.  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_ROW_H
#define KZ_CORE_AUDIT_ROW_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/audit/table.h"
#include "port/db.h"
#include "port/json.h"
#include "port/seal.h"

#define KZ_AUDIT_TEXT 256 /* longest closed text, with its 0 */

struct kz_audit_value {
	enum { KZ_AUDIT_V_NULL, KZ_AUDIT_V_INT, KZ_AUDIT_V_TEXT } is;
	int64_t n;
	char text[KZ_AUDIT_TEXT];
};

struct kz_audit_row {
	int64_t id;
	int64_t at_ms;
	enum kz_audit_kind kind;
	char hash[KZ_SHA256_HEX];
	struct kz_audit_value v[KZ_AUDIT_COLS];
	struct kz_audit_value *child; /* child_count * table->child->count values */
	size_t child_count;
};

#define KZ_AUDIT_GENESIS "0000000000000000000000000000000000000000000000000000000000000000"

/* Make an empty row of a kind (all columns null). own: kz_audit_row_free */
struct kz_audit_row *kz_audit_row_new(enum kz_audit_kind kind);
void kz_audit_row_free(struct kz_audit_row *r);
KZ_AUTO(kz_auto_audit_row_, struct kz_audit_row *, kz_audit_row_free)
#define kz_auto_audit_row kz_auto(kz_auto_audit_row_)

/* Set columns by name; text "" or NULL is null; too long a text is refused at insert. */
void kz_audit_row_int(struct kz_audit_row *r, const char *col, int64_t n);
void kz_audit_row_text(struct kz_audit_row *r, const char *col, const char *text);
/* Column by name, NULL when there is none. */
const struct kz_audit_value *kz_audit_row_get(const struct kz_audit_row *r, const char *col);
/* Add a child row of nulls. out: its values, borrowed until the next one. err: KZ_E_OS, KZ_E_DATA past the maximum */
enum kz_rc kz_audit_row_child(struct kz_audit_row *r, struct kz_audit_value **out,
			      struct kz_err *err);
/* Set one value. */
void kz_audit_value_int(struct kz_audit_value *v, int64_t n);
void kz_audit_value_text(struct kz_audit_value *v, const char *text);

/* Compute r->hash after prev. */
void kz_audit_row_seal(struct kz_audit_row *r, const char *prev);
/* A row as one JSON object. out: new, NULL when memory is out */
struct kz_json *kz_audit_row_json(const struct kz_audit_row *r);

#endif
