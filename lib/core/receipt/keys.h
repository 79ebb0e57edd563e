/*
 * The public keys that receipts are checked with, inside.  For the files of
 * core/receipt only.  Layer 3.
 */
#ifndef KZ_CORE_RECEIPT_KEYS_H
#define KZ_CORE_RECEIPT_KEYS_H

#include "core/receipt/receipt.h"
#include "port/seal-token.h"

#define KZ_RECEIPT_KEYS 256 /* no file has more */

struct kz_receipt_keys {
	struct kz_public keys[KZ_RECEIPT_KEYS];
	size_t count;
};

/* The key of that name, NULL for none. */
const struct kz_public *kz_receipt_key_find(const struct kz_receipt_keys *k, const char *kid);

#endif
