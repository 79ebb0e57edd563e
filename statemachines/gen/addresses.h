/* Do not edit: made by kzgen from policy/addresses.tbl. */
#ifndef KZ_GEN_ADDRESSES_H
#define KZ_GEN_ADDRESSES_H

#include <stdint.h>

#include "gen/reasons.h"

/* Classes of internet addresses, from the mildest to the worst. */
enum kz_addr_class {
	KZ_ADDR_PUBLIC,
	KZ_ADDR_PRIVATE,
	KZ_ADDR_SHARED,
	KZ_ADDR_SPECIAL,
	KZ_ADDR_BENCHMARKING,
	KZ_ADDR_DOCUMENTATION,
	KZ_ADDR_RESERVED,
	KZ_ADDR_EMBEDDED,
	KZ_ADDR_MULTICAST,
	KZ_ADDR_LINK_LOCAL,
	KZ_ADDR_UNSPECIFIED,
	KZ_ADDR_LOOPBACK,
	KZ_ADDR_METADATA,
	KZ_ADDR_CLASS_COUNT
};

/* When a class is denied: never by itself, unless a range of the scope holds the address, in every mode. */
enum kz_addr_denied { KZ_ADDR_NEVER, KZ_ADDR_UNLESS_RANGE, KZ_ADDR_ALWAYS };

struct kz_addr_class_row {
	const char *name;
	const char *meaning;
	enum kz_reason reason; /* of refusing an address of it */
	enum kz_addr_denied denied;
};

extern const struct kz_addr_class_row kz_addr_classes[KZ_ADDR_CLASS_COUNT];

/* An address is in a block when it equals value where mask has bits. */
struct kz_addr_block {
	uint8_t family; /* 4 or 6 */
	uint8_t bits;   /* set in mask */
	uint8_t value[16], mask[16];
	enum kz_addr_class class;
};

#define KZ_ADDR_BLOCKS 75
/* By family, the longest first: the first that holds an address gives its class. */
extern const struct kz_addr_block kz_addr_blocks[KZ_ADDR_BLOCKS];

#endif
