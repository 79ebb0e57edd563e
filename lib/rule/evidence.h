/*
 * Evidence: what counts as clean.  Pure: readings in, verdict out; a surface that
 * is missing, late or of the wrong type is not clean [RESET-4, RESET-5].
 * Layer 2; works on a flat list of readings so that it needs no JSON.
 */
#ifndef KZ_RULE_EVIDENCE_H
#define KZ_RULE_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every surface that a tenant could leave something on; all must be read. */
enum kz_surface {
#define X(name, code, what) KZ_SURFACE_##name,
#include "rule/surfaces.tbl"
#undef X
	KZ_SURFACE_COUNT
};

/* One reading: what was found now and what there was at birth. */
struct kz_reading {
	bool is_present; /* the worker reported it, well-formed */
	int64_t now;
	int64_t baseline;
	char digest[65]; /* of listings (mounts, sockets); "" when a count is enough */
	char baseline_digest[65];
	char changed[160]; /* the worker's words for what differs: told, and never judged */
};

struct kz_evidence {
	struct kz_reading surfaces[KZ_SURFACE_COUNT];
	bool init_dead;        /* the death of the tenant's first process was waited for */
	bool kill_before_wipe; /* order of the steps, by the worker's monotonic stamps [RESET-6] */
	bool names_match;      /* worker, instance and token are the ones asked for */
};

/* The verdict. out: first surface that is not clean, or -1 (order or identity); untouched when clean. */
bool kz_evidence_clean(const struct kz_evidence *e, int *bad);
/* The code of a surface ("sysv_shm"), static; and its number, -1 for none. */
const char *kz_surface_code(enum kz_surface s);
int kz_surface_find(const char *code);

#endif
