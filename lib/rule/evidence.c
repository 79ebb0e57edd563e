/* The verdict on a reset's readings. */
#include "rule/evidence.h"

#include <string.h>

static const char *const codes[KZ_SURFACE_COUNT] = {
#define X(name, code, what) [KZ_SURFACE_##name] = code,
#include "rule/surfaces.tbl"
#undef X
};

const char *kz_surface_code(enum kz_surface s)
{
	return (int)s >= 0 && s < KZ_SURFACE_COUNT ? codes[s] : "";
}

int kz_surface_find(const char *code)
{
	for (int i = 0; i < KZ_SURFACE_COUNT; i++)
		if (strcmp(codes[i], code) == 0)
			return i;
	return -1;
}

static bool is_clean(const struct kz_reading *r)
{
	/* a baseline below 0 was never taken: nothing can equal it */
	return r->is_present && r->now >= 0 && r->baseline >= 0 && r->now == r->baseline &&
	       strncmp(r->digest, r->baseline_digest, sizeof r->digest) == 0;
}

bool kz_evidence_clean(const struct kz_evidence *e, int *bad)
{
	for (int i = 0; i < KZ_SURFACE_COUNT; i++)
		if (!is_clean(&e->surfaces[i])) {
			*bad = i;
			return false;
		}
	if (!e->init_dead || !e->kill_before_wipe || !e->names_match) {
		*bad = -1;
		return false;
	}
	return true;
}
