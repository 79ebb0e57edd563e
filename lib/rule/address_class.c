/* Addresses and ranges: their classes, out of the generated table. */
#include "rule/address.h"

static bool block_has(const struct kz_addr_block *b, const struct kz_addr *a)
{
	if (b->family != a->family)
		return false;
	for (int i = 0; i < 16; i++)
		if ((a->bytes[i] & b->mask[i]) != b->value[i])
			return false;
	return true;
}

enum kz_addr_class kz_addr_classify(const struct kz_addr *a)
{
	for (size_t i = 0; i < KZ_ADDR_BLOCKS; i++)
		if (block_has(&kz_addr_blocks[i], a))
			return kz_addr_blocks[i].class;
	return KZ_ADDR_RESERVED;
}

const char *kz_addr_class_name(enum kz_addr_class c)
{
	return kz_addr_classes[c].name;
}

enum kz_reason kz_addr_class_reason(enum kz_addr_class c)
{
	return kz_addr_classes[c].reason;
}

bool kz_addr_class_is_protected(enum kz_addr_class c)
{
	return kz_addr_classes[c].denied == KZ_ADDR_ALWAYS;
}

/* The bits of byte i that a prefix covers. */
static uint8_t prefix_byte(int bits, int i)
{
	int left = bits - 8 * i;

	if (left >= 8)
		return 0xff;
	return left <= 0 ? 0 : (uint8_t)(0xff << (8 - left));
}

/* Are the first bits of two addresses the same? */
static bool same_prefix(const struct kz_addr *a, const struct kz_addr *b, int bits)
{
	if (a->family != b->family)
		return false;
	for (int i = 0; i < 16; i++)
		if ((a->bytes[i] ^ b->bytes[i]) & prefix_byte(bits, i))
			return false;
	return true;
}

bool kz_cidr_has(const struct kz_cidr *c, const struct kz_addr *a)
{
	return same_prefix(&c->base, a, c->bits);
}

bool kz_cidr_overlaps(const struct kz_cidr *a, const struct kz_cidr *b)
{
	return same_prefix(&a->base, &b->base, a->bits < b->bits ? a->bits : b->bits);
}

/* Does the block hold all of the range? */
static bool block_holds(const struct kz_addr_block *b, const struct kz_cidr *c)
{
	if (!block_has(b, &c->base))
		return false;
	for (int i = 0; i < 16; i++)
		if (b->mask[i] & ~prefix_byte(c->bits, i))
			return false;
	return true;
}

bool kz_cidr_is_private(const struct kz_cidr *c)
{
	for (size_t i = 0; i < KZ_ADDR_BLOCKS; i++)
		if (block_holds(&kz_addr_blocks[i], c))
			return kz_addr_classes[kz_addr_blocks[i].class].denied ==
			       KZ_ADDR_UNLESS_RANGE;
	return false;
}
