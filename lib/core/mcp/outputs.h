/*
 * Where the outputs of one call go, and what the client gets of them.  With a directory of
 * the operator's (core/mcp/keep.h) they stay there; without one the call has a temporary
 * directory, which is gone when the call is, and the files are resources of this server
 * only.  For core/mcp only.  Layer 3.
 */
#ifndef KZ_CORE_MCP_OUTPUTS_H
#define KZ_CORE_MCP_OUTPUTS_H

#include "core/mcp/keep.h"
#include "core/mcp/shelf.h"

struct kz_mcp_outputs {
	char dir[4096];      /* "": the call has no outputs */
	int dir_fd, mark_fd; /* own; -1: none */
	struct kz_json *
		list; /* own: content of the answer, a resource_link for each file and perhaps the file itself */
};

/* Remove the temporary directories that servers of this user left when they were killed. wait: never */
void kz_mcp_outputs_sweep(const struct kz_mcp_ask *ask);
/* Make the directory. out: o, always; released by kz_mcp_outputs_end. err: output_uncreatable, usage */
enum kz_rc kz_mcp_outputs_begin(struct kz_mcp_outputs *o, const struct kz_mcp_ask *ask,
				const struct kz_mcp_keep *keep, struct kz_err *err);
/* Take what the run retained: onto the shelf and into the list. in: outputs of its record, NULL: none */
void kz_mcp_outputs_take(struct kz_mcp_outputs *o, const struct kz_mcp_ask *ask,
			 struct kz_mcp_shelf *shelf, const struct kz_json *outputs);
/* Free it; a directory that shall not stay, or is empty, is removed. */
void kz_mcp_outputs_end(struct kz_mcp_outputs *o, const struct kz_mcp_keep *keep);

#endif
