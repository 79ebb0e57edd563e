/*
 * One message of JSON-RPC 2.0 as the Model Context Protocol has them: no batches, params an
 * object, an id that is a string or an integer.  For core/mcp only.  Layer 3.
 */
#ifndef KZ_CORE_MCP_MESSAGE_H
#define KZ_CORE_MCP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "port/json.h"

#define KZ_MCP_ID_MAX 256 /* bytes of an id as JSON */

#define KZ_MCP_PARSE_ERROR (-32700)
#define KZ_MCP_INVALID_REQUEST (-32600)
#define KZ_MCP_UNKNOWN_METHOD (-32601)
#define KZ_MCP_INVALID_PARAMS (-32602)
#define KZ_MCP_INTERNAL (-32603)
#define KZ_MCP_NO_RESOURCE (-32002)
#define KZ_MCP_UNSUPPORTED_VERSION (-32022)

enum kz_mcp_kind {
	KZ_MCP_REQUEST,
	KZ_MCP_NOTIFICATION,
	KZ_MCP_RESPONSE, /* nothing is asked of a client, so it answers nothing */
	KZ_MCP_BAD,      /* code and text say why */
};

struct kz_mcp_message {
	enum kz_mcp_kind kind;
	struct kz_json *root;            /* own */
	const struct kz_json *id;        /* NULL: none that could be read */
	char id_text[KZ_MCP_ID_MAX + 1]; /* the same as JSON; "" without */
	const char *method;
	const struct kz_json *params, *meta; /* objects, or NULL */
	int code;
	char text[256];
};

/* Read p[0..n). out: m, always; released by kz_mcp_message_release */
void kz_mcp_message_read(struct kz_mcp_message *m, const char *p, size_t n);
/* Free what it holds. */
void kz_mcp_message_release(struct kz_mcp_message *m);
#define kz_auto_mcp_message kz_auto(kz_mcp_message_release)
/* An id or a progress token: a string or an integer, of at most KZ_MCP_ID_MAX bytes as JSON. out: text, unless NULL */
bool kz_mcp_is_id(const struct kz_json *v, char text[KZ_MCP_ID_MAX + 1]);

#endif
