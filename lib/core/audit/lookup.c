/* The lookup tables of the audit store. */
#include "core/audit/lookup.h"

#include <stddef.h>

#include "gen/machines_sql.h"
#include "gen/reasons_sql.h"
#include "rule/evidence.h"
#include "rule/result.h"

const char *const kz_audit_lookups[] = { "kind",     "reason",  "machine_edge", "machine_refusal",
					 "language", "outcome", "end_cause",	"surface",
					 NULL };

static enum kz_rc put_codes(const char *table, const char *(*code)(int), int count, struct kz_buf *b,
			    struct kz_err *err)
{
	enum kz_rc rc = kz_buf_printf(
		b, err,
		"CREATE TABLE IF NOT EXISTS %s (code TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;\n",
		table);

	for (int i = 0; rc == KZ_OK && i < count; i++)
		if (*code(i))
			rc = kz_buf_printf(b, err, "INSERT OR IGNORE INTO %s VALUES ('%s');\n", table,
					   code(i));
	return rc;
}

static const char *language(int i)
{
	static const char *const codes[] = { "python", "node", "shell" };

	return codes[i];
}

static const char *outcome(int i)
{
	return kz_outcome_name((enum kz_outcome)i);
}

static const char *cause(int i)
{
	return kz_cause_name((enum kz_cause)i);
}

static const char *surface(int i)
{
	return kz_surface_code((enum kz_surface)i);
}

enum kz_rc kz_audit_lookup_sql(struct kz_buf *b, struct kz_err *err)
{
	enum kz_rc rc = put_codes("kind", NULL, 0, b, err);

	if (rc == KZ_OK)
		rc = kz_buf_puts(b, KZ_REASONS_SQL, err);
	if (rc == KZ_OK)
		rc = kz_buf_puts(b, KZ_MACHINES_SQL, err);
	if (rc == KZ_OK)
		rc = put_codes("language", language, 3, b, err);
	if (rc == KZ_OK)
		rc = put_codes("outcome", outcome, KZ_OUTCOME_UNKNOWN + 1, b, err);
	if (rc == KZ_OK)
		rc = put_codes("end_cause", cause, KZ_CAUSE_UNKNOWN + 1, b, err);
	if (rc == KZ_OK)
		rc = put_codes("surface", surface, KZ_SURFACE_COUNT, b, err);
	return rc;
}
