/*
 * One call of a tool: a program that runs, what it has told so far, and how far it is.
 * For core/mcp only.  Layer 3.
 */
#ifndef KZ_CORE_MCP_CALL_H
#define KZ_CORE_MCP_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/mcp/message.h"
#include "core/mcp/outputs.h"
#include "core/mcp/tools.h"

#define KZ_MCP_FILES_MAX 1000 /* that one answer lists */

struct kz_mcp_call {
	struct kz_json *id, *token; /* own; token NULL: nobody wants to know how far it is */
	char id_text[KZ_MCP_ID_MAX + 1];
	enum kz_mcp_tool tool;
	bool is_modern, is_cancelled;
	pid_t pid;
	int pidfd, out_fd, status;
	struct kz_buf line;    /* what came of the next line */
	bool is_overlong;      /* a line did not fit: nothing it tells is believed */
	struct kz_json *last;  /* own: the record, or what kz-workspace said; NULL: nothing yet */
	struct kz_json *error; /* own: what kz itself said of a failure */
	struct kz_json *files; /* own: of list_files */
	int64_t files_omitted;
	int64_t bytes, steps; /* of output, of other events */
	int64_t told,
		tell_at; /* progress: what was told, when it may be told again; -1: nothing yet */
	struct kz_mcp_outputs outputs;
	const struct kz_mcp_keep *keep; /* borrowed */
};

/*
 * Start it. in: a request for that tool with arguments that fit its schema.
 * out: *out new (kz_mcp_call_free). err: usage, input_missing, output_uncreatable, system_failed
 */
enum kz_rc kz_mcp_call_start(struct kz_mcp_call **out, const struct kz_mcp_ask *ask,
			     const struct kz_mcp_keep *keep, enum kz_mcp_tool tool,
			     const struct kz_json *arguments, struct kz_err *err);
/* Read what is there. wait: never */
void kz_mcp_call_read(struct kz_mcp_call *c);
/* Has the program ended (and been waited for)? wait: never */
bool kz_mcp_call_has_ended(struct kz_mcp_call *c);
/* Ask it to end; a run then still gives its worker back. */
void kz_mcp_call_cancel(struct kz_mcp_call *c);
/* Free it; a program that still runs is left alone. */
void kz_mcp_call_free(struct kz_mcp_call *c);

#endif
