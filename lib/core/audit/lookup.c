/* The lookup tables of the audit store. */
#include "core/audit/lookup.h"

#include <stddef.h>

#include "core/audit/event.h"
#include "gen/machines_sql.h"
#include "gen/reasons_sql.h"
#include "rule/evidence.h"
#include "rule/result.h"

const char *const kz_audit_lookups[] = {
	"kind",      "reason",  "machine_edge", "machine_refusal", "language", "outcome",
	"end_cause", "surface", "kernel",       "egress_mode",     "snapshot", "event_code",
	NULL
};

static enum kz_rc put_codes(const char *table, const char *(*code)(int), int count,
			    struct kz_buf *b, struct kz_err *err)
{
	enum kz_rc rc = kz_buf_printf(
		b, err,
		"CREATE TABLE IF NOT EXISTS %s (code TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;\n",
		table);

	for (int i = 0; rc == KZ_OK && i < count; i++)
		if (*code(i))
			rc = kz_buf_printf(b, err, "INSERT OR IGNORE INTO %s VALUES ('%s');\n",
					   table, code(i));
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

/* Whose kernel serves a worker's system calls, as it found out itself. */
static const char *kernel(int i)
{
	static const char *const codes[] = { "shared", "gvisor", "other" };

	return codes[i];
}

/* What a grant holds; "none" for a run without one. */
static const char *egress_mode(int i)
{
	static const char *const codes[] = { "none", "public_internet", "private_network",
					     "host_allowlist" };

	return codes[i];
}

/* What became of the workspace of a run, as its record says it. */
static const char *snapshot(int i)
{
	static const char *const codes[] = { "none",   "unchanged",  "saved",
					     "failed", "over_bound", "skipped" };

	return codes[i];
}

static const char *note_names(int i)
{
	return kz_audit_event_name((enum kz_audit_event_code)i);
}

static const struct {
	const char *table;
	const char *(*code)(int);
	int count;
} lists[] = {
	{ "kind", NULL, 0 }, /* filled with the kinds of row */
	{ "language", language, 3 },
	{ "outcome", outcome, KZ_OUTCOME_UNKNOWN + 1 },
	{ "end_cause", cause, KZ_CAUSE_UNKNOWN + 1 },
	{ "surface", surface, KZ_SURFACE_COUNT },
	{ "kernel", kernel, 3 },
	{ "egress_mode", egress_mode, 4 },
	{ "snapshot", snapshot, 6 },
	{ "event_code", note_names, KZ_AUDIT_EVENT_CODES },
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

enum kz_rc kz_audit_lookup_sql(struct kz_buf *b, struct kz_err *err)
{
	enum kz_rc rc = kz_buf_puts(b, KZ_REASONS_SQL KZ_MACHINES_SQL, err);

	for (size_t i = 0; rc == KZ_OK && i < LISTS; i++)
		rc = put_codes(lists[i].table, lists[i].code, lists[i].count, b, err);
	return rc;
}

uint64_t kz_audit_lookup_mix(uint64_t h, uint64_t (*mix)(uint64_t h, const char *s))
{
	h = mix(h, KZ_REASONS_SQL KZ_MACHINES_SQL);
	for (size_t i = 0; i < LISTS; i++)
		for (int k = 0; k < lists[i].count; k++)
			h = mix(h, lists[i].code(k) ? lists[i].code(k) : "-");
	return h;
}
