/*
 * The state of a server, shared by the files of core/mcp and by nobody else.  Layer 3.
 */
#ifndef KZ_CORE_MCP_SERVER_H
#define KZ_CORE_MCP_SERVER_H

#include "core/mcp/call.h"
#include "core/mcp/scan.h"

#define KZ_MCP_LINE_MAX (4 << 20)  /* bytes of a message */
#define KZ_MCP_OUT_MAX (128 << 20) /* bytes that wait for the client */
#define KZ_MCP_OUT_ENOUGH                                                                          \
	(1 << 20)       /* from here on nothing more is read, so that a slow client is waited for */
#define KZ_MCP_CALLS 16 /* at one time */

#define KZ_MCP_MODERN "2026-07-28"
#define KZ_MCP_LEGACY "2025-11-25"

struct kz_mcp_server {
	const struct kz_mcp_ask *ask;
	struct kz_json *tools; /* own */
	struct kz_mcp_keep keep;
	struct kz_mcp_shelf shelf;
	struct kz_buf in, out;
	size_t sent;                /* of out, which the client has already */
	bool is_skipping;           /* the rest of a line that was too long */
	struct kz_mcp_scan skipped; /* of that line */
	bool is_initialized;        /* a client of the older revision has said what it speaks */
	bool is_ending;             /* calls are being ended, nothing more is read */
	bool is_gone;               /* the client reads no more */
	struct kz_mcp_call *calls[KZ_MCP_CALLS]; /* own */
	size_t call_count;
	int sig_fd;
};

/* Queue one message for the client; o is taken. */
void kz_mcp_send(struct kz_mcp_server *s, struct kz_json *o);
/* Queue an error. in: id NULL: null; data is taken, may be NULL */
void kz_mcp_send_error(struct kz_mcp_server *s, const struct kz_json *id, int code,
		       const char *text, struct kz_json *data);
/* Queue a result; it is taken. in: is_modern: with what every result of the newer revision has */
void kz_mcp_send_result(struct kz_mcp_server *s, const struct kz_json *id, bool is_modern,
			struct kz_json *result);
/* Tell how far a call is, when somebody wants to know and it is time. */
void kz_mcp_send_progress(struct kz_mcp_server *s, struct kz_mcp_call *c);
/* Act on one line of the client. */
void kz_mcp_handle(struct kz_mcp_server *s, const char *line, size_t n);

#endif
