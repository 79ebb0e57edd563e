/* The kinds of audit rows and their columns. */
#include "core/audit/table.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
/* lt: how many columns at the end came after the first form; new ones go to the end and are optional */
#define GROWN(n, lt, ex, k, ch)                                                                    \
	{                                                                                          \
		.name = #n, .cols = n##_cols, .count = COUNT(n##_cols), .later = (lt),             \
		.extra = (ex), .key = (k), .child = (ch)                                           \
	}
#define TABLE(n, ex, k, ch) GROWN(n, 0, ex, k, ch)

static const struct kz_audit_col transition_cols[] = {
	{ "store", KZ_AUDIT_ID, false, NULL },
	{ "seq", KZ_AUDIT_INT, false, NULL },
	{ "valkey_ms", KZ_AUDIT_INT, false, NULL },
	{ "machine", KZ_AUDIT_CODE, false, NULL }, /* checked with the three that follow */
	{ "from_state", KZ_AUDIT_CODE, false, NULL },
	{ "event", KZ_AUDIT_CODE, false, NULL },
	{ "to_state", KZ_AUDIT_CODE, false, NULL },
	{ "subject", KZ_AUDIT_NAME, false, NULL },
	{ "worker", KZ_AUDIT_NAME, true, NULL },
	{ "lease", KZ_AUDIT_ID, true, NULL },
	{ "actor", KZ_AUDIT_ID, true, NULL },
	{ "cause", KZ_AUDIT_CODE, true, "reason" },
};

static const struct kz_audit_col dispatch_cols[] = {
	{ "run", KZ_AUDIT_ID, false, NULL },
	{ "lease", KZ_AUDIT_ID, false, NULL },
	{ "worker", KZ_AUDIT_NAME, false, NULL },
	{ "actor", KZ_AUDIT_ID, false, NULL },
	{ "conversation", KZ_AUDIT_ID, false, NULL },
	{ "code_sha256", KZ_AUDIT_DIGEST, false, NULL },
	{ "image", KZ_AUDIT_IMAGE, true, NULL },
	{ "language", KZ_AUDIT_CODE, false, "language" },
	{ "fence", KZ_AUDIT_INT, false, NULL },
	{ "wall_ms", KZ_AUDIT_INT, false, NULL },
	{ "memory_bytes", KZ_AUDIT_INT, false, NULL },
	{ "output_bytes", KZ_AUDIT_INT, false, NULL },
	/* later: the bounds that the worker was made with, what it said of itself, what the program was given */
	{ "pids", KZ_AUDIT_INT, true, NULL },
	{ "disk_bytes", KZ_AUDIT_INT, true, NULL },
	{ "inodes", KZ_AUDIT_INT, true, NULL },
	{ "cpus", KZ_AUDIT_INT, true, NULL },
	{ "open_files", KZ_AUDIT_INT, true, NULL },
	{ "artifact_bytes", KZ_AUDIT_INT, true, NULL },
	{ "kernel", KZ_AUDIT_CODE, true, "kernel" },
	{ "single_use", KZ_AUDIT_FLAG, true, NULL },
	{ "posture_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "arguments_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "env_count", KZ_AUDIT_INT, true, NULL },
	{ "input_count", KZ_AUDIT_INT, true, NULL },
	{ "input_bytes", KZ_AUDIT_INT, true, NULL },
	{ "inputs_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "egress_mode", KZ_AUDIT_CODE, true, "egress_mode" },
	{ "egress_reason", KZ_AUDIT_CODE, true, "reason" }, /* why there is no grant */
	{ "egress_execution", KZ_AUDIT_ID, true, NULL },
	{ "egress_revision", KZ_AUDIT_DIGEST, true, NULL },
	{ "approval_sha256", KZ_AUDIT_DIGEST, true, NULL },
	/* of the scope that it was admitted with [AUD-1] */
	{ "audience_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "capability_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "manifest_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "projected_count", KZ_AUDIT_INT, true, NULL },
	{ "projected_bytes", KZ_AUDIT_INT, true, NULL },
};
#define DISPATCH_LATER 24

/* Listed where there are few enough; inputs_sha256 covers them all. */
static const struct kz_audit_col dispatch_input_cols[] = {
	{ "name_sha256", KZ_AUDIT_DIGEST, false, NULL },
	{ "bytes", KZ_AUDIT_INT, false, NULL },
	{ "sha256", KZ_AUDIT_DIGEST, false, NULL },
};

static const struct kz_audit_col record_output_cols[] = {
	{ "bytes", KZ_AUDIT_INT, false, NULL },
	{ "sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "name_sha256", KZ_AUDIT_DIGEST, true, NULL },
};
#define RECORD_OUTPUT_LATER 1

static const struct kz_audit_col record_cols[] = {
	{ "run", KZ_AUDIT_ID, false, NULL },
	{ "outcome", KZ_AUDIT_CODE, false, "outcome" },
	{ "cause", KZ_AUDIT_CODE, true, "end_cause" },
	{ "exit_status", KZ_AUDIT_INT, true, NULL },
	{ "signal", KZ_AUDIT_INT, true, NULL },
	{ "reason", KZ_AUDIT_CODE, true, "reason" },
	{ "wall_ms", KZ_AUDIT_INT, true, NULL },
	{ "cpu_ms", KZ_AUDIT_INT, true, NULL },
	{ "peak_bytes", KZ_AUDIT_INT, true, NULL },
	{ "limit_output", KZ_AUDIT_FLAG, false, NULL },
	{ "limit_memory", KZ_AUDIT_FLAG, false, NULL },
	{ "limit_pids", KZ_AUDIT_FLAG, false, NULL },
	{ "limit_disk", KZ_AUDIT_FLAG, false, NULL },
	{ "limit_inodes", KZ_AUDIT_FLAG, false, NULL },
	{ "limit_wall", KZ_AUDIT_FLAG, false, NULL },
	{ "limit_cpu", KZ_AUDIT_FLAG, false, NULL },
	{ "limit_other", KZ_AUDIT_FLAG, false, NULL },
	{ "stdout_seen", KZ_AUDIT_INT, true, NULL },
	{ "stdout_kept", KZ_AUDIT_INT, true, NULL },
	{ "stdout_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "stderr_seen", KZ_AUDIT_INT, true, NULL },
	{ "stderr_kept", KZ_AUDIT_INT, true, NULL },
	{ "stderr_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "killed_count", KZ_AUDIT_INT, true, NULL },
	{ "not_run", KZ_AUDIT_FLAG, false, NULL },
	{ "stdin_bytes", KZ_AUDIT_INT, true, NULL },
	{ "stdin_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "refused_count", KZ_AUDIT_INT, true, NULL }, /* declared outputs that were not retained */
	/* of the workspace that is stored after it, never what is in it [AUD-2] */
	{ "snapshot", KZ_AUDIT_CODE, true, "snapshot" },
	{ "snapshot_bytes", KZ_AUDIT_INT, true, NULL },
	{ "snapshot_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "snapshot_private", KZ_AUDIT_FLAG, true, NULL },
	/* tools that a kernel cell called; each reason of a refusal has a denial beside it */
	{ "call_count", KZ_AUDIT_INT, true, NULL },
	{ "call_refused_count", KZ_AUDIT_INT, true, NULL },
	{ "call_bytes", KZ_AUDIT_INT, true, NULL },
};
#define RECORD_LATER 10

static const struct kz_audit_col denial_cols[] = {
	{ "run", KZ_AUDIT_ID, true, NULL },
	{ "actor", KZ_AUDIT_ID, true, NULL },
	{ "conversation", KZ_AUDIT_ID, true, NULL },
	{ "reason", KZ_AUDIT_CODE, false, "reason" },
	{ "audience_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "capability_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "manifest_sha256", KZ_AUDIT_DIGEST, true, NULL },
	{ "count", KZ_AUDIT_INT, true, NULL }, /* of what was refused, never its name [AUD-4] */
	{ "bytes", KZ_AUDIT_INT, true, NULL },
	/* of packages that could not be installed: why, and a digest of their names */
	{ "cause", KZ_AUDIT_CODE, true, "reason" },
	{ "packages_sha256", KZ_AUDIT_DIGEST, true, NULL },
};
#define DENIAL_LATER 7

/* What an egress denial adds [AUD-6]; one part at most. */
static const struct kz_audit_col egress_cols[] = {
	{ "host", KZ_AUDIT_HOST, true, NULL },    { "port", KZ_AUDIT_INT, true, NULL },
	{ "execution", KZ_AUDIT_ID, true, NULL }, { "revision", KZ_AUDIT_DIGEST, true, NULL },
	{ "count", KZ_AUDIT_INT, false, NULL },
};

static const struct kz_audit_col evidence_surface_cols[] = {
	{ "surface", KZ_AUDIT_CODE, false, "surface" },
	{ "present", KZ_AUDIT_FLAG, false, NULL },
	{ "now", KZ_AUDIT_INT, true, NULL },
	{ "baseline", KZ_AUDIT_INT, true, NULL },
	{ "digest", KZ_AUDIT_DIGEST, true, NULL },
	{ "baseline_digest", KZ_AUDIT_DIGEST, true, NULL },
};

static const struct kz_audit_col evidence_cols[] = {
	{ "worker", KZ_AUDIT_NAME, false, NULL },
	{ "lease", KZ_AUDIT_ID, false, NULL },
	{ "clean", KZ_AUDIT_FLAG, false, NULL },
};

static const struct kz_audit_col run_step_cols[] = {
	{ "run", KZ_AUDIT_ID, false, NULL },          { "machine", KZ_AUDIT_CODE, false, NULL },
	{ "from_state", KZ_AUDIT_CODE, false, NULL }, { "event", KZ_AUDIT_CODE, false, NULL },
	{ "to_state", KZ_AUDIT_CODE, false, NULL },
};

static const struct kz_audit_col segment_cols[] = {
	{ "first_id", KZ_AUDIT_INT, false, NULL },
	{ "last_id", KZ_AUDIT_INT, false, NULL },
	{ "last_hash", KZ_AUDIT_DIGEST, false, NULL },
	{ "file_sha256", KZ_AUDIT_DIGEST, false, NULL },
	{ "newest_ms", KZ_AUDIT_INT, false, NULL },
	{ "store", KZ_AUDIT_ID, true, NULL }, /* the last transition up to here */
	{ "seq", KZ_AUDIT_INT, true, NULL },
};

static const struct kz_audit_col removed_cols[] = {
	{ "first_id", KZ_AUDIT_INT, false, NULL },
	{ "last_id", KZ_AUDIT_INT, false, NULL },
	{ "file_sha256", KZ_AUDIT_DIGEST, false, NULL },
};

static const struct kz_audit_col broken_cols[] = {
	{ "head_id", KZ_AUDIT_INT, true, NULL },
	{ "head_hash", KZ_AUDIT_DIGEST, true, NULL },
	{ "found_id", KZ_AUDIT_INT, false, NULL },
	{ "found_hash", KZ_AUDIT_DIGEST, false, NULL },
};

static const struct kz_audit_col joined_cols[] = {
	{ "store", KZ_AUDIT_ID, false, NULL }, /* the first transition that follows */
	{ "seq", KZ_AUDIT_INT, false, NULL },
	{ "known_store", KZ_AUDIT_ID, true, NULL }, /* the newest one before */
	{ "known_seq", KZ_AUDIT_INT, true, NULL },
};

/* A grant is told by these alone, never by its text [GRANT-15]. */
static const struct kz_audit_col grant_cols[] = {
	{ "run", KZ_AUDIT_ID, false, NULL },
	{ "execution", KZ_AUDIT_ID, false, NULL },
	{ "revision", KZ_AUDIT_DIGEST, false, NULL },
};

static const struct kz_audit_col revocation_cols[] = {
	{ "serial", KZ_AUDIT_INT, false, NULL },
	{ "execution", KZ_AUDIT_ID, true, NULL },
	{ "before_ms", KZ_AUDIT_INT, true, NULL }, /* every grant that was issued before */
};

static const struct kz_audit_col note_cols[] = {
	{ "code", KZ_AUDIT_CODE, false, "event_code" }, { "run", KZ_AUDIT_ID, true, NULL },
	{ "actor", KZ_AUDIT_ID, true, NULL },           { "conversation", KZ_AUDIT_ID, true, NULL },
	{ "reason", KZ_AUDIT_CODE, false, "reason" },   { "count", KZ_AUDIT_INT, true, NULL },
	{ "bytes", KZ_AUDIT_INT, true, NULL },
};

#define STEP                                                                                       \
	"FOREIGN KEY (machine, from_state, event, to_state) REFERENCES "                           \
	"machine_edge (machine, from_state, event, to_state)"

static const struct kz_audit_table dispatch_input = TABLE(dispatch_input, NULL, NULL, NULL);
static const struct kz_audit_table record_output =
	GROWN(record_output, RECORD_OUTPUT_LATER, NULL, NULL, NULL);
static const struct kz_audit_table egress = TABLE(egress, NULL, NULL, NULL);
static const struct kz_audit_table evidence_surface = TABLE(evidence_surface, NULL, NULL, NULL);

static const struct kz_audit_table tables[KZ_AUDIT_KINDS] = {
	[KZ_AUDIT_TRANSITION] = TABLE(transition, "UNIQUE (store, seq), " STEP,
				      "store = new.store AND seq = new.seq", NULL),
	[KZ_AUDIT_DISPATCH] =
		GROWN(dispatch, DISPATCH_LATER, "UNIQUE (run)", "run = new.run", &dispatch_input),
	[KZ_AUDIT_RECORD] =
		GROWN(record, RECORD_LATER, "UNIQUE (run)", "run = new.run", &record_output),
	[KZ_AUDIT_DENIAL] = GROWN(denial, DENIAL_LATER, NULL, NULL, &egress),
	[KZ_AUDIT_EVIDENCE] = TABLE(evidence, NULL, NULL, &evidence_surface),
	[KZ_AUDIT_RUN_STEP] = TABLE(run_step, "CHECK (machine = 'run'), " STEP, NULL, NULL),
	[KZ_AUDIT_SEGMENT] = TABLE(segment, "CHECK (first_id <= last_id)", NULL, NULL),
	[KZ_AUDIT_REMOVED] = TABLE(removed, NULL, NULL, NULL),
	[KZ_AUDIT_BROKEN] = TABLE(broken, NULL, NULL, NULL),
	[KZ_AUDIT_JOINED] = TABLE(joined, "CHECK (seq > 0)", NULL, NULL),
	[KZ_AUDIT_GRANT] = TABLE(grant, "UNIQUE (execution)", "execution = new.execution", NULL),
	[KZ_AUDIT_REVOCATION] = TABLE(revocation, NULL, NULL, NULL),
	[KZ_AUDIT_EVENT] = { .name = "event", .cols = note_cols, .count = COUNT(note_cols) },
};

const struct kz_audit_table *kz_audit_table(enum kz_audit_kind kind)
{
	return &tables[kind];
}

int kz_audit_kind_find(const char *code)
{
	for (size_t i = 0; i < KZ_AUDIT_KINDS; i++)
		if (strcmp(tables[i].name, code) == 0)
			return (int)i;
	return -1;
}

int kz_audit_col_find(const struct kz_audit_table *t, const char *name)
{
	for (size_t i = 0; i < t->count; i++)
		if (strcmp(t->cols[i].name, name) == 0)
			return (int)i;
	return -1;
}
