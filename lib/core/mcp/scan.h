/*
 * Who asked, of a message that is not read: one that is too long, or no JSON in some place of it.  A client that is answered
 * without its id waits for the answer until it gives up.  For core/mcp only.  Layer 3.
 */
#ifndef KZ_CORE_MCP_SCAN_H
#define KZ_CORE_MCP_SCAN_H

#include "core/mcp/message.h"

struct kz_mcp_scan {
	size_t depth;
	bool is_text, is_escaped; /* within a text, behind a backslash */
	bool is_value;            /* behind a colon of the outermost object */
	bool is_id;               /* that of the id */
	bool has_method, has_id;
	bool is_wrong; /* no object, something behind it, or two ids */
	bool is_over;  /* the object has ended */
	char word[KZ_MCP_ID_MAX + 1], id[KZ_MCP_ID_MAX + 1];
	size_t word_n; /* more than KZ_MCP_ID_MAX: it is too long */
};

/* Look at the next n bytes of a message. in: s: all zero at its beginning */
void kz_mcp_scan(struct kz_mcp_scan *s, const char *p, size_t n);
/* The id of a request that has ended. out: new, NULL when none is certain */
struct kz_json *kz_mcp_scan_id(const struct kz_mcp_scan *s);

#endif
