/* Shared by json.c and json_write.c: values are jansson's, seen through our own pointer type.  Layer 1. */
#ifndef KZ_PORT_JSON_PARTS_H
#define KZ_PORT_JSON_PARTS_H

#include <jansson.h>
#include <stdint.h>

#include "port/json.h"

/*
 * struct kz_json is never defined: a pointer to it is jansson's json_t.  A failed
 * setter leaves a member of this name in the tree, which reading refuses, so
 * that only a builder's failure can put it there.
 */
#define KZ_JSON_BROKEN "\x01kz-broken"

static inline json_t *native(const struct kz_json *j)
{
	/* jansson counts references through const too. */
	return (json_t *)(uintptr_t)j;
}

static inline struct kz_json *wrapped(json_t *j)
{
	return (struct kz_json *)j;
}

#endif
