/*
 * From a worker's readings (JSON, not trusted) to evidence and verdict.  Layer 3.
 */
#ifndef KZ_CORE_RESET_JUDGE_H
#define KZ_CORE_RESET_JUDGE_H

#include <stdbool.h>

#include "core/pool/authority.h"
#include "rule/evidence.h"

struct kz_json;

/* What a readings object says; anything missing or of a wrong type stays absent. in: r may be NULL; token of this reset */
void kz_judge_read(const struct kz_json *r, const struct kz_lease *lease, const char *token,
		   struct kz_evidence *e);
/*
 * The evidence object. in: e judged. out: new {"v","type","clean","dirty","worker","lease","operation","at_ms","surfaces"};
 * dirty is the first surface that is not clean, "order" when the steps or names are wrong, null when clean
 */
struct kz_json *kz_judge_evidence(const struct kz_evidence *e, const struct kz_lease *lease,
				  const char *token, bool *clean);

#endif
