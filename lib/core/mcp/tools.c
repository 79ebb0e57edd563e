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
		[KZ_MCP_RUN_CODE] = "run_code",
		[KZ_MCP_READ_FILE] = "read_file",
		[KZ_MCP_EDIT_FILE] = "edit_file",
		[KZ_MCP_LIST_FILES] = "list_files",
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

/* Those that a schema bounds always fit. */
static void add(struct kz_mcp_command *c, const char *word)
{
	if (word && c->count < KZ_MCP_ARGV_MAX - 1)
		c->argv[c->count++] = word;
	c->argv[c->count] = NULL;
}

static void add_option(struct kz_mcp_command *c, const char *option, const char *value)
{
	if (!value)
		return;
	add(c, option);
	add(c, value);
}

static void add_list(struct kz_mcp_command *c, const char *option, const struct kz_json *list)
{
	for (size_t i = 0; i < kz_json_count(list); i++)
		add_option(c, option, kz_json_str_value(kz_json_at(list, i)));
}

static void add_identity(struct kz_mcp_command *c, const struct kz_mcp_ask *ask)
{
	add_option(c, "--actor", ask->actor);
	add_option(c, "--conversation", ask->conversation);
	add(c, "--json");
}

static enum kz_rc run_code(struct kz_mcp_command *c, const struct kz_mcp_ask *ask,
			   const struct kz_json *a, const char *dir, struct kz_err *err)
{
	const struct kz_json *outputs = kz_json_get(a, "outputs");
	int64_t ms = kz_json_num(a, "timeout_ms", 0);

	add_identity(c, ask);
	add_option(c, "--language", kz_json_str(a, "language", "python"));
	if (ms && kz_str_format(c->number, sizeof(c->number), err, "%lld", (long long)ms))
		return err->rc;
	add_option(c, "--timeout", ms ? c->number : NULL);
	if (kz_json_flag(a, "kernel", false))
		add(c, "--kernel");
	add_list(c, "--require", kz_json_get(a, "packages"));
	add_list(c, "--output", outputs);
	add_option(c, "--output-dir", *dir ? dir : NULL);
	if (ask->is_compressed)
		add(c, "--compress");
	add(c, "--");
	add(c, "-");
	c->input = kz_json_str(a, "code", "");
	return KZ_OK;
}

static void workspace(struct kz_mcp_command *c, enum kz_mcp_tool tool, const struct kz_mcp_ask *ask,
		      const struct kz_json *a)
{
	static const char *const verbs[] = {
		[KZ_MCP_READ_FILE] = "read",
		[KZ_MCP_EDIT_FILE] = "edit",
		[KZ_MCP_LIST_FILES] = "list",
	};

	add(c, verbs[tool]);
	add_identity(c, ask);
	add_list(c, "--range", kz_json_get(a, "ranges"));
	add(c, "--");
	c->input = kz_json_str(a, "edit", NULL);
	add(c, c->input ? "-" : kz_json_str(a, "path", NULL));
}

enum kz_rc kz_mcp_command(struct kz_mcp_command *c, enum kz_mcp_tool tool,
			  const struct kz_mcp_ask *ask, const struct kz_json *arguments,
			  const char *dir, struct kz_err *err)
{
	bool is_run = tool == KZ_MCP_RUN_CODE;

	*c = (struct kz_mcp_command){ .count = 0 };
	if (kz_where_program(is_run ? "kz-run" : "kz-workspace", c->path, sizeof(c->path), err))
		return kz_err_reason(err, kz_reason_code(KZ_R_INPUT_MISSING));
	add(c, c->path);
	if (is_run)
		return run_code(c, ask, arguments, dir, err);
	workspace(c, tool, ask, arguments);
	return KZ_OK;
}
