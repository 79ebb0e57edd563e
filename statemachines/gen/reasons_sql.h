/* Do not edit: made by kzgen from policy/reasons.tbl. */
#ifndef KZ_GEN_REASONS_SQL_H
#define KZ_GEN_REASONS_SQL_H

/* Makes and fills the lookup table reason(code, status, kind). */
#define KZ_REASONS_SQL \
	"CREATE TABLE IF NOT EXISTS reason (code TEXT NOT NULL PRIMARY KEY, status INTEGER NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('refusal', 'fault'))) STRICT, WITHOUT ROWID;\n" \
	"INSERT OR IGNORE INTO reason VALUES ('queue_full', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('wait_timeout', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('workspace_busy', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('member_limit', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('deployment_closed', 77, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('coordination_unavailable', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('coordination_loading', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('coordination_readonly', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('coordination_memory', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('coordination_busy', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('coordination_clock', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('valkey_evicts', 78, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('url_unsupported', 78, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('library_missing', 76, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('not_reconciled', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('inventory_unavailable', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('image_unpublished', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('audit_unavailable', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('audit_conflict', 70, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('audit_broken', 1, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('not_running', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('no_permission', 77, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('setting_unknown', 78, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('setting_invalid', 78, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('key_missing', 78, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('key_invalid', 78, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('lease_lost', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('lease_mismatch', 77, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('token_superseded', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('create_unsettled', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('outbox_full', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('node_limit', 78, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('token_missing', 64, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('cancelled', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('worker_unreachable', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('worker_unauthorized', 77, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('worker_refused_bind', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('worker_refused', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('worker_fault', 70, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('transport_lost', 74, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('reset_timeout', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('reset_unclean', 1, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('runtime_unavailable', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('posture_failed', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('image_mismatch', 70, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('driver_failed', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('driver_protocol', 70, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('cgroup_unavailable', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('userns_unavailable', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('disk_unavailable', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('unsupported_language', 65, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('interpreter_missing', 69, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('code_unreadable', 66, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('input_unreadable', 66, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('input_name_invalid', 64, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('input_over_bound', 65, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('output_name_invalid', 64, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('output_missing', 65, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('output_not_regular', 65, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('output_too_large', 65, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('output_uncreatable', 73, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('output_truncated', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('path_rejected', 65, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('wall_exceeded', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('memory_exceeded', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('pids_exceeded', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('cpu_exceeded', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('cannot_execute', 65, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('outcome_unknown', 74, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('isolation_denied', 77, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('interrupted', 75, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('stdout_failed', 74, 'fault');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('usage', 64, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('malformed_input', 65, 'refusal');\n" \
	"INSERT OR IGNORE INTO reason VALUES ('internal', 70, 'fault');\n"

#endif
