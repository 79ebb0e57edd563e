/*
 * The tools: what is told of them (policy/mcp/tools.json) and how a call becomes the
 * command line of a program.  For core/mcp only.  Layer 3.
 */
#ifndef KZ_CORE_MCP_TOOLS_H
#define KZ_CORE_MCP_TOOLS_H

#include <stddef.h>

#include "core/mcp/mcp.h"
#include "port/json.h"

#define KZ_MCP_ARGV_MAX 256 /* two for each item that a schema allows, and what is always there */

enum kz_mcp_tool { KZ_MCP_RUN_CODE, KZ_MCP_READ_FILE, KZ_MCP_EDIT_FILE, KZ_MCP_LIST_FILES };

/* What is started; strings borrowed from arguments, configuration and this. */
struct kz_mcp_command {
	char path[4096], number[24];
	const char *argv[KZ_MCP_ARGV_MAX];
	size_t count;
	const char *input; /* its standard input; NULL: none */
};

/* Read the table. out: new. err: input_missing, malformed_input */
enum kz_rc kz_mcp_tools_load(struct kz_json **out, struct kz_err *err);
/* One of the table by name. out: NULL: there is none */
const struct kz_json *kz_mcp_tools_find(const struct kz_json *table, const char *name,
					enum kz_mcp_tool *which);
/* The command of a call whose arguments fit the schema. in: dir: where its outputs go, "" without any. err: usage, input_missing */
enum kz_rc kz_mcp_command(struct kz_mcp_command *c, enum kz_mcp_tool tool,
			  const struct kz_mcp_ask *ask, const struct kz_json *arguments,
			  const char *dir, struct kz_err *err);

#endif
