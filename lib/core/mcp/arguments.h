/*
 * Arguments of a tool against its schema: what the table of tools says to the client is
 * what is checked.  Of JSON Schema the words type, enum, properties, required,
 * additionalProperties: false, items, minimum, maximum, minLength, maxLength (in bytes
 * here) and maxItems; a word that is not known does not count.  For core/mcp only.  Layer 3.
 */
#ifndef KZ_CORE_MCP_ARGUMENTS_H
#define KZ_CORE_MCP_ARGUMENTS_H

#include "port/json.h"

#define KZ_MCP_ARGUMENTS "arguments" /* the name of all of them together */

/* Does the value fit? in: name: how messages call it; members of KZ_MCP_ARGUMENTS are called by their name alone. err: usage, in words that help a model to do better */
enum kz_rc kz_mcp_arguments(const struct kz_json *schema, const struct kz_json *value,
			    const char *name, struct kz_err *err);

#endif
