/* Tools and the commands that do their work. */
#include "core/mcp/tools.h"

#include <fcntl.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/where.h"
#include "rule/reason.h"

#define TABLE "policy/mcp/tools.json"
#define TABLE_MAX (1 << 20)

enum kz_rc kz_mcp_tools_load(struct kz_json **out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(TABLE_MAX);
	char path[4096];
	enum kz_rc rc = kz_where_shared(TABLE, path, sizeof(path), err);

	if (!rc)
		rc = kz_file_read(AT_FDCWD, path, &text, err);
	if (rc)
		return kz_err_reason(err, kz_reason_code(KZ_R_INPUT_MISSING));
	if (kz_json_parse(text.data, text.len, out, err))
		return kz_err_reason(err, kz_reason_code(KZ_R_MALFORMED_INPUT));
	return KZ_OK;
}

const struct kz_json *kz_mcp_tools_find(const struct kz_json *table, const char *name,
					enum kz_mcp_tool *which)
{
	static const char *const names[] = {
		[KZ_MCP_RUN_CODE] = "run_code",           [KZ_MCP_RESET_KERNEL] = "reset_kernel",
		[KZ_MCP_READ_FILE] = "read_file",         [KZ_MCP_EDIT_FILE] = "edit_file",
		[KZ_MCP_WRITE_FILE] = "write_file",       [KZ_MCP_LIST_FILES] = "list_files",
		[KZ_MCP_NETWORK_SCOPE] = "network_scope",
	};
	const struct kz_json *tools = kz_json_get(table, "tools");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!kz_str_eq(names[i], name))
			continue;
		*which = (enum kz_mcp_tool)i;
		for (size_t k = 0; k < kz_json_count(tools); k++)
			if (kz_str_eq(kz_json_str(kz_json_at(tools, k), "name", ""), name))
				return kz_json_at(tools, k);
	}
	return NULL;
}

bool kz_mcp_tool_is_run(enum kz_mcp_tool tool)
{
	return tool == KZ_MCP_RUN_CODE || tool == KZ_MCP_RESET_KERNEL;
}
