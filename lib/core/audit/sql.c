/* Statements made from the table descriptions, for the form that a file has. */
#include <stdio.h>

#include "core/audit/store.h"

enum kz_rc kz_audit_has(struct kz_db *db, const char *table, const char *col, bool *yes,
			struct kz_err *err)
{
	char sql[160];
	int64_t n = 0;
	enum kz_rc rc;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM pragma_table_info('%s')%s%s%s", table,
		 col ? " WHERE name = '" : "", col ? col : "", col ? "'" : "");
	rc = kz_db_int(db, sql, 0, &n, err);
	*yes = n > 0;
	return rc;
}

enum kz_rc kz_audit_sql_cols(const struct kz_audit_table *t, bool is_child, struct kz_buf *b,
			     struct kz_err *err)
{
	enum kz_rc rc = is_child ? kz_buf_puts(b, "n, ", err) : KZ_OK;

	for (size_t i = 0; rc == KZ_OK && i < t->count; i++)
		rc = kz_buf_printf(b, err, "%s%s", i ? ", " : "", t->cols[i].name);
	return rc;
}

enum kz_rc kz_audit_sql_insert(const struct kz_audit_table *t, bool is_child, struct kz_buf *b,
			       struct kz_err *err)
{
	enum kz_rc rc = kz_buf_printf(b, err, "INSERT INTO %s (id, ", t->name);

	if (rc == KZ_OK)
		rc = kz_audit_sql_cols(t, is_child, b, err);
	if (rc == KZ_OK)
		rc = kz_buf_puts(b, is_child ? ") VALUES (?, ?" : ") VALUES (?", err);
	for (size_t i = 0; rc == KZ_OK && i < t->count; i++)
		rc = kz_buf_puts(b, ", ?", err);
	return rc == KZ_OK ? kz_buf_puts(b, ")", err) : rc;
}

enum kz_rc kz_audit_sql_select(struct kz_db *db, const struct kz_audit_table *t, bool is_child,
			       struct kz_buf *b, struct kz_err *err)
{
	enum kz_rc rc = kz_buf_puts(b, "SELECT ", err);

	/* The number of a child row is its place; it is not selected. */
	for (size_t i = 0; rc == KZ_OK && i < t->count; i++) {
		bool has = true;

		if (i >= t->count - t->later)
			rc = kz_audit_has(db, t->name, t->cols[i].name, &has, err);
		if (rc == KZ_OK)
			rc = kz_buf_printf(b, err, "%s%s", i ? ", " : "",
					   has ? t->cols[i].name : "NULL");
	}
	return rc == KZ_OK ? kz_buf_printf(b, err, " FROM %s WHERE id = ?%s", t->name,
					   is_child ? " ORDER BY n" : "") :
			     rc;
}
