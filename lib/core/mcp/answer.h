/*
 * What a client gets: the result of a call as text for the model and as a structure, and
 * the frame around it.  For core/mcp only.  Layer 3.
 */
#ifndef KZ_CORE_MCP_ANSWER_H
#define KZ_CORE_MCP_ANSWER_H

#include "core/mcp/call.h"

/* The result of a call that has ended. out: new, NULL when memory is out */
struct kz_json *kz_mcp_answer(const struct kz_mcp_call *c);
/* The text of what a program other than kz-run said. */
void kz_mcp_text(struct kz_buf *b, const struct kz_mcp_call *c);
/* What of a run lasts: variables that were not kept or not restored, and whether files were stored. */
void kz_mcp_lasting(struct kz_buf *b, const struct kz_json *record);
/* A refusal before anything was started: isError, with its reason. in: of: the tool. out: new */
struct kz_json *kz_mcp_answer_refused(enum kz_mcp_tool of, const struct kz_err *why);
/* {"content":[{"type":"text"}],"structuredContent":...,"isError":...}. in: structured is taken. out: new */
struct kz_json *kz_mcp_answer_frame(const char *text, struct kz_json *structured, bool is_error);

#endif
