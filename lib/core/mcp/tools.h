/*
 * The tools: what is told of them (policy/mcp/tools.json) and how a call becomes the
 * command line of a program.  For core/mcp only.  Layer 3.
 */
#ifndef KZ_CORE_MCP_TOOLS_H
#define KZ_CORE_MCP_TOOLS_H

#include <stddef.h>

#include "core/mcp/mcp.h"
#include "port/json.h"

#define KZ_MCP_ARGV_MAX 320 /* two for each item that a schema allows, and what is always there */

#define KZ_MCP_INPUTS 32 /* files that a call brings */

enum kz_mcp_tool {
	KZ_MCP_RUN_CODE,
	KZ_MCP_RESET_KERNEL,
	KZ_MCP_READ_FILE,
	KZ_MCP_EDIT_FILE,
	KZ_MCP_WRITE_FILE,
	KZ_MCP_LIST_FILES,
	KZ_MCP_NETWORK_SCOPE,
};

/* A file that comes with the arguments: descriptor 3, 4, ... of the program, in order. */
struct kz_mcp_input {
	char word[1100]; /* NAME=FILE for the command line */
	int fd;          /* own */
};

/* What is started; strings borrowed from arguments, configuration and this. */
struct kz_mcp_command {
	char path[4096], number[24];
	const char *argv[KZ_MCP_ARGV_MAX];
	size_t count;
	const char *input; /* its standard input; NULL: none */
	struct kz_mcp_input inputs[KZ_MCP_INPUTS];
	size_t input_count;
};

/* Read the table. out: new. err: input_missing, malformed_input */
enum kz_rc kz_mcp_tools_load(struct kz_json **out, struct kz_err *err);
/* One of the table by name. out: NULL: there is none */
const struct kz_json *kz_mcp_tools_find(const struct kz_json *table, const char *name,
					enum kz_mcp_tool *which);
/* Does the tool run a program (kz-run), so that its end is a record? */
bool kz_mcp_tool_is_run(enum kz_mcp_tool tool);
/* The command of a call whose arguments fit the schema; released by kz_mcp_command_release, after a failure too. in: dir: where its outputs go, "" without any. err: usage, path_rejected, input_missing, system_failed */
enum kz_rc kz_mcp_command(struct kz_mcp_command *c, enum kz_mcp_tool tool,
			  const struct kz_mcp_ask *ask, const struct kz_json *arguments,
			  const char *dir, struct kz_err *err);
/* Close the files of a command. */
void kz_mcp_command_release(struct kz_mcp_command *c);

#endif
