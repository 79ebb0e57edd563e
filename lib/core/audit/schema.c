/* The SQL schema of the audit store, made from the table descriptions. */
#include "core/audit/store.h"

#include <stdio.h>
#include <string.h>

#include "core/audit/lookup.h"

static enum kz_rc put_check(const struct kz_audit_col *c, struct kz_buf *b, struct kz_err *err)
{
	const char *n = c->name;

	switch (c->type) {
	case KZ_AUDIT_INT: return kz_buf_printf(b, err, " CHECK (%s >= 0)", n);
	case KZ_AUDIT_FLAG: return kz_buf_printf(b, err, " CHECK (%s IN (0, 1))", n);
	case KZ_AUDIT_ID:
		return kz_buf_printf(
			b, err, " CHECK (length(%s) = 32 AND %s NOT GLOB '*[^0-9a-f]*')", n, n);
	case KZ_AUDIT_DIGEST:
		return kz_buf_printf(
			b, err, " CHECK (length(%s) = 64 AND %s NOT GLOB '*[^0-9a-f]*')", n, n);
	case KZ_AUDIT_IMAGE:
		return kz_buf_printf(b, err,
				     " CHECK (length(%s) = 71 AND %s GLOB 'sha256:*' AND "
				     "substr(%s, 8) NOT GLOB '*[^0-9a-f]*')",
				     n, n, n);
	case KZ_AUDIT_NAME:
		return kz_buf_printf(b, err,
				     " CHECK (length(%s) BETWEEN 1 AND 63 AND "
				     "%s NOT GLOB '*[^a-z0-9_-]*')",
				     n, n);
	case KZ_AUDIT_HOST:
		return kz_buf_printf(b, err,
				     " CHECK (length(%s) BETWEEN 1 AND 253 AND "
				     "%s NOT GLOB '*[^a-z0-9._:-]*')",
				     n, n);
	case KZ_AUDIT_CODE:
		return c->codes ? kz_buf_printf(b, err, " REFERENCES %s (code)", c->codes) : KZ_OK;
	}
	return KZ_OK;
}

static enum kz_rc put_col(const struct kz_audit_col *c, struct kz_buf *b, struct kz_err *err)
{
	bool is_number = c->type == KZ_AUDIT_INT || c->type == KZ_AUDIT_FLAG;
	enum kz_rc rc = kz_buf_printf(b, err, "%s %s%s", c->name, is_number ? "INTEGER" : "TEXT",
				      c->is_optional ? "" : " NOT NULL");

	return rc == KZ_OK ? put_check(c, b, err) : rc;
}

/* What is there stays: no update, no delete. */
static enum kz_rc put_triggers(const char *name, const char *may_go, struct kz_buf *b,
			       struct kz_err *err)
{
	return kz_buf_printf(b, err,
			     "CREATE TRIGGER IF NOT EXISTS %s_update BEFORE UPDATE ON %s BEGIN "
			     "SELECT RAISE(ABORT, 'append only'); END;\n"
			     "CREATE TRIGGER IF NOT EXISTS %s_delete BEFORE DELETE ON %s%s BEGIN "
			     "SELECT RAISE(ABORT, 'append only'); END;\n",
			     name, name, name, name, may_go);
}

/* INSERT OR REPLACE would remove a row without asking the delete trigger. */
static enum kz_rc put_replace_trigger(const char *name, const char *same_key, const char *or_key,
				      struct kz_buf *b, struct kz_err *err)
{
	return kz_buf_printf(b, err,
			     "CREATE TRIGGER IF NOT EXISTS %s_replace BEFORE INSERT ON %s WHEN "
			     "EXISTS (SELECT 1 FROM %s WHERE %s)%s%s%s%s%s BEGIN "
			     "SELECT RAISE(ABORT, 'append only'); END;\n",
			     name, name, name, same_key, or_key ? " OR EXISTS (SELECT 1 FROM " : "",
			     or_key ? name : "", or_key ? " WHERE " : "", or_key ? or_key : "",
			     or_key ? ")" : "");
}

/* A row may leave only when a chained row says that a closed file has it. */
#define MAY_GO " WHEN old.id > (SELECT coalesce(max(last_id), 0) FROM segment)"

static enum kz_rc put_all_cols(const struct kz_audit_table *t, struct kz_buf *b, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; rc == KZ_OK && i < t->count; i++) {
		rc = kz_buf_puts(b, ",\n ", err);
		if (rc == KZ_OK)
			rc = put_col(&t->cols[i], b, err);
	}
	return rc;
}

static enum kz_rc put_table(const struct kz_audit_table *t, bool is_child, struct kz_buf *b,
			    struct kz_err *err)
{
	enum kz_rc rc =
		kz_buf_printf(b, err, "CREATE TABLE IF NOT EXISTS %s (\n id INTEGER %s", t->name,
			      is_child ? "NOT NULL REFERENCES entry (id),\n n INTEGER NOT NULL" :
					 "PRIMARY KEY REFERENCES entry (id)");

	if (rc == KZ_OK)
		rc = put_all_cols(t, b, err);
	if (rc == KZ_OK && is_child)
		rc = kz_buf_puts(b, ",\n PRIMARY KEY (id, n)", err);
	if (rc == KZ_OK && t->extra)
		rc = kz_buf_printf(b, err, ",\n %s", t->extra);
	if (rc == KZ_OK)
		rc = kz_buf_printf(b, err, "\n) STRICT%s;\n", is_child ? ", WITHOUT ROWID" : "");
	if (rc == KZ_OK)
		rc = put_triggers(t->name, MAY_GO, b, err);
	if (rc == KZ_OK)
		rc = put_replace_trigger(t->name,
					 is_child ? "id = new.id AND n = new.n" : "id = new.id",
					 t->key, b, err);
	if (rc == KZ_OK && t->child)
		rc = put_table(t->child, true, b, err);
	return rc;
}

static enum kz_rc put_lookups(struct kz_buf *b, struct kz_err *err)
{
	enum kz_rc rc = kz_audit_lookup_sql(b, err);

	for (size_t i = 0; rc == KZ_OK && kz_audit_lookups[i]; i++)
		rc = put_triggers(kz_audit_lookups[i], "", b, err);
	return rc;
}

static enum kz_rc put_schema(struct kz_buf *b, struct kz_err *err)
{
	enum kz_rc rc = put_lookups(b, err);

	if (rc == KZ_OK)
		rc = kz_buf_puts(b,
				 "CREATE TABLE IF NOT EXISTS entry (\n id INTEGER PRIMARY KEY,\n"
				 " at_ms INTEGER NOT NULL,\n"
				 " kind TEXT NOT NULL REFERENCES kind (code),\n"
				 " hash TEXT NOT NULL CHECK (length(hash) = 64 AND "
				 "hash NOT GLOB '*[^0-9a-f]*')\n) STRICT;\n",
				 err);
	/* Rows come in order: nothing is put between, before or over what is there. */
	if (rc == KZ_OK)
		rc = put_triggers("entry", MAY_GO, b, err);
	if (rc == KZ_OK)
		rc = put_replace_trigger("entry", "id >= new.id", NULL, b, err);
	for (int k = 0; rc == KZ_OK && k < KZ_AUDIT_KINDS; k++) {
		rc = kz_buf_printf(b, err, "INSERT OR IGNORE INTO kind VALUES ('%s');\n",
				   kz_audit_table((enum kz_audit_kind)k)->name);
		if (rc == KZ_OK)
			rc = put_table(kz_audit_table((enum kz_audit_kind)k), false, b, err);
	}
	return rc;
}

static uint64_t mix(uint64_t h, const char *s)
{
	size_t n = strlen(s);
	uint64_t word;

	/* Eight bytes a step: this runs at every open. */
	for (; n >= sizeof(word); s += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, s, sizeof(word));
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	for (; n; s++, n--)
		h = (h ^ (unsigned char)*s) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ (h >> 32);
}

static uint64_t mix_table(uint64_t h, const struct kz_audit_table *t)
{
	h = mix(h, t->name);
	h = mix(h, t->extra ? t->extra : "-");
	h = mix(h, t->key ? t->key : "-") + t->later;
	for (size_t i = 0; i < t->count; i++) {
		h = mix(h, t->cols[i].name) + (uint64_t)t->cols[i].type * 2 +
		    t->cols[i].is_optional;
		h = mix(h, t->cols[i].codes ? t->cols[i].codes : "-");
	}
	return t->child ? mix_table(h, t->child) : h;
}

/*
 * The version is a digest of what the schema is made from, so that a change of
 * any table is noticed by itself.  FORM counts changes of the code in this file.
 */
#define FORM 2

static int64_t schema_version(void)
{
	uint64_t h = kz_audit_lookup_mix(FORM, mix);

	for (int k = 0; k < KZ_AUDIT_KINDS; k++)
		h = mix_table(h, kz_audit_table((enum kz_audit_kind)k));
	return (int64_t)(h & 0x7fffffff) | 1;
}

/* A file of an older form gets the columns that came since; what is in it stays and holds null there. */
static enum kz_rc grow_table(struct kz_db *db, const struct kz_audit_table *t, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = t->count - t->later; rc == KZ_OK && i < t->count; i++) {
		kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1024);
		bool has = false;

		rc = kz_audit_has(db, t->name, t->cols[i].name, &has, err);
		if (rc != KZ_OK || has)
			continue;
		rc = kz_buf_printf(&b, err, "ALTER TABLE %s ADD COLUMN ", t->name);
		if (rc == KZ_OK)
			rc = put_col(&t->cols[i], &b, err);
		if (rc == KZ_OK)
			rc = kz_db_exec(db, kz_buf_str(&b), err);
	}
	return rc == KZ_OK && t->child ? grow_table(db, t->child, err) : rc;
}

static enum kz_rc make_schema(struct kz_db *db, const char *sql, int64_t version,
			      struct kz_err *err)
{
	char done[64];
	enum kz_rc rc = kz_db_exec(db, sql, err);

	for (int k = 0; rc == KZ_OK && k < KZ_AUDIT_KINDS; k++)
		rc = grow_table(db, kz_audit_table((enum kz_audit_kind)k), err);
	snprintf(done, sizeof(done), "PRAGMA user_version=%lld; COMMIT", (long long)version);
	return rc == KZ_OK ? kz_db_exec(db, done, err) : rc;
}

enum kz_rc kz_audit_schema(struct kz_db *db, struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1 << 18);
	int64_t have = 0, want = schema_version();
	enum kz_rc rc = kz_db_int(db, "PRAGMA user_version", 0, &have, err);

	if (rc != KZ_OK || have == want)
		return rc;
	rc = put_schema(&b, err);
	if (rc == KZ_OK)
		rc = kz_db_exec(db, "BEGIN IMMEDIATE", err);
	if (rc != KZ_OK)
		return rc;
	rc = make_schema(db, kz_buf_str(&b), want, err);
	if (rc != KZ_OK)
		kz_db_exec(db, "ROLLBACK", NULL);
	return rc;
}
