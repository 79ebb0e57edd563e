/* What the two sides of share.h say to each other, as whole packets.  For share*.c only.  Layer 3. */
#ifndef KZ_CORE_BROKER_SHARE_PARTS_H
#define KZ_CORE_BROKER_SHARE_PARTS_H

#include "core/broker/share.h"

struct kz_share_question {
	uint32_t number; /* the answer has it too */
	unsigned char what;
	char at[KZ_AUTHORITY_TEXT]; /* as kz_target_print writes it, then zeros */
};

struct kz_share_answer {
	uint32_t number;
	uint32_t is_known;
	int64_t n;
};

/* The process itself, a kz_aside_fn. in: arg: the state directory */
void kz_share_keep(int fd, const void *arg);

#endif
