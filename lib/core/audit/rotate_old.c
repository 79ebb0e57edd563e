/* Removing closed segments by age. */
#include <stdio.h>
#include <unistd.h>

#include "core/audit/rotate_parts.h"
#include "core/audit/view.h"

static enum kz_rc segment_facts(struct kz_audit *a, const char *name, int64_t *last,
				int64_t *newest, struct kz_err *err)
{
	kz_auto_db struct kz_db *db = NULL;
	char path[96];
	enum kz_rc rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", a->dir, name);
	rc = kz_db_open(&db, path, KZ_DB_READ, KZ_AUDIT_BUSY, err);
	if (rc == KZ_OK)
		rc = kz_db_int(db, "SELECT max(id) FROM entry", 0, last, err);
	return rc == KZ_OK ? kz_db_int(db, "SELECT max(at_ms) FROM entry", 0, newest, err) : rc;
}

static enum kz_rc remove_segment(struct kz_audit *a, int64_t first, int64_t last, const char *name,
				 struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_REMOVED);
	char sha[KZ_SHA256_HEX] = "";
	enum kz_rc rc = kz_audit_file_sha256(a->dir, name, sha, err);

	if (rc != KZ_OK)
		return rc;
	if (r) {
		kz_audit_row_int(r, "first_id", first);
		kz_audit_row_int(r, "last_id", last);
		kz_audit_row_text(r, "file_sha256", sha);
	}
	rc = kz_audit_add(a, r, err);
	if (rc == KZ_OK && unlinkat(a->dir, name, 0) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot remove an old segment");
	return rc;
}

enum kz_rc kz_audit_remove_old(struct kz_audit *a, int64_t keep_days, struct kz_audit_rotated *out,
			       struct kz_err *err)
{
	kz_auto_free int64_t *list = NULL;
	size_t count = 0;
	int64_t open_first = 0;
	enum kz_rc rc = kz_audit_segments(a->dir, &list, &count, err);

	if (rc == KZ_OK)
		rc = kz_db_int(a->db, "SELECT min(id) FROM entry", 0, &open_first, err);
	for (size_t i = 0; rc == KZ_OK && i < count && list[i] < open_first; i++) {
		int64_t last = 0, newest = 0;
		char name[48];

		kz_audit_segment_name(list[i], name);
		rc = segment_facts(a, name, &last, &newest, err);
		/* Only from the old end: what is kept has no hole. */
		if (rc != KZ_OK || kz_time_wall_ms() - newest < keep_days * KZ_AUDIT_DAY_MS)
			break;
		rc = remove_segment(a, list[i], last, name, err);
		out->removed_count += rc == KZ_OK;
	}
	return rc;
}
