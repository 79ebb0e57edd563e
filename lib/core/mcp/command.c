/* The command line of a call. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/base64.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/where.h"
#include "core/mcp/tools.h"
#include "rule/reason.h"

#define SPACE "/work/space/" /* the workspace as programs see it */
#define FIRST_FD 3

/* Those that a schema bounds always fit (tests/unit/test_mcp.c). */
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

/* A program is told its files by their whole name, so a model may say that one too. */
static const char *relative(const char *path)
{
	return kz_str_has_prefix(path ? path : "", SPACE) ? path + strlen(SPACE) : path;
}

/* A file in memory, from its start. in: n bytes. out: *fd, new */
static enum kz_rc in_memory(const void *p, size_t n, int *fd, struct kz_err *err)
{
	kz_auto_close int m = -1;
	enum kz_rc rc = kz_memory_file_of("kz-mcp", p, n, &m, err);

	*fd = -1;
	if (!rc && fchmod(m, 0644) < 0)
		rc = kz_err_sys(err, KZ_E_OS, "cannot make an input file");
	if (rc)
		return rc;
	*fd = m;
	m = -1;
	return KZ_OK;
}

/* Its content: text as it is, base64 decoded. */
static enum kz_rc content(const struct kz_json *file, const char *path, int *fd, struct kz_err *err)
{
	const char *text = kz_json_str(file, "text", NULL),
		   *code = kz_json_str(file, "base64", NULL);
	size_t n = strlen(code ? code : ""), len = 0;
	kz_auto_free char *bytes = malloc(n + 1);

	if (!text == !code)
		return kz_refuse(err, KZ_R_USAGE, "%.200s: give either text or base64", path);
	if (text)
		return in_memory(text, strlen(text), fd, err);
	if (!bytes)
		return kz_refuse(err, KZ_R_SYSTEM_FAILED, "memory is out");
	if (!kz_base64_decode(KZ_BASE64_STANDARD, code, n, bytes, n + 1, &len))
		return kz_refuse(
			err, KZ_R_USAGE,
			"%.200s: base64 has to be that of RFC 4648, padded and without blanks",
			path);
	return in_memory(bytes, len, fd, err);
}

static enum kz_rc take_file(struct kz_mcp_command *c, const struct kz_json *file,
			    struct kz_err *err)
{
	const char *path = relative(kz_json_str(file, "path", ""));
	struct kz_mcp_input *in = &c->inputs[c->input_count];
	enum kz_rc rc;

	/* as the schema has it; a table that allows more writes nowhere else */
	if (c->input_count == KZ_MCP_INPUTS)
		return kz_refuse(err, KZ_R_USAGE, "files has to be at most %d items",
				 KZ_MCP_INPUTS);
	if (strchr(path, '='))
		return kz_refuse(err, KZ_R_PATH_REJECTED,
				 "%.200s: the path of a file that is given has no =", path);
	if (kz_str_format(in->word, sizeof(in->word), err, "%s=/proc/self/fd/%zu", path,
			  c->input_count + FIRST_FD))
		return kz_err_reason(err, kz_reason_code(KZ_R_PATH_REJECTED));
	rc = content(file, path, &in->fd, err);
	c->input_count += !rc;
	return rc;
}

static enum kz_rc run_code(struct kz_mcp_command *c, const struct kz_mcp_ask *ask,
			   const struct kz_json *a, const char *dir, struct kz_err *err)
{
	const struct kz_json *files = kz_json_get(a, "files"), *outputs = kz_json_get(a, "outputs");
	int64_t ms = kz_json_num(a, "timeout_ms", 0);
	enum kz_rc rc = KZ_OK;

	add_identity(c, ask);
	add_option(c, "--language", kz_json_str(a, "language", "python"));
	if (ms && kz_str_format(c->number, sizeof(c->number), err, "%lld", (long long)ms))
		return err->rc;
	add_option(c, "--timeout", ms ? c->number : NULL);
	if (kz_json_flag(a, "kernel", false))
		add(c, "--kernel");
	for (size_t i = 0; !rc && i < kz_json_count(files); i++) {
		rc = take_file(c, kz_json_at(files, i), err);
		if (!rc)
			add_option(c, "--input", c->inputs[i].word);
	}
	add_list(c, "--require", kz_json_get(a, "packages"));
	if (!kz_json_flag(a, "infer_packages", true))
		add(c, "--no-infer");
	for (size_t i = 0; i < kz_json_count(outputs); i++)
		add_option(c, "--output", relative(kz_json_str_value(kz_json_at(outputs, i))));
	add_option(c, "--output-dir", *dir ? dir : NULL);
	if (ask->is_compressed)
		add(c, "--compress");
	add(c, "--");
	add(c, "-");
	c->input = kz_json_str(a, "code", "");
	return rc;
}

/* A cell that says so: its state is forgotten when it ends. */
static enum kz_rc reset_kernel(struct kz_mcp_command *c, const struct kz_mcp_ask *ask,
			       const struct kz_json *a)
{
	add_identity(c, ask);
	add_option(c, "--language", kz_json_str(a, "language", "python"));
	add(c, "--kernel");
	add(c, "--no-infer");
	add_option(c, "--code", "kz.reset()");
	return KZ_OK;
}

static enum kz_rc workspace(struct kz_mcp_command *c, enum kz_mcp_tool tool,
			    const struct kz_mcp_ask *ask, const struct kz_json *a,
			    struct kz_err *err)
{
	static const char *const verbs[] = {
		[KZ_MCP_READ_FILE] = "read",
		[KZ_MCP_EDIT_FILE] = "edit",
		[KZ_MCP_WRITE_FILE] = "put",
		[KZ_MCP_LIST_FILES] = "list",
	};
	enum kz_rc rc = KZ_OK;

	add(c, verbs[tool]);
	add_identity(c, ask);
	add_list(c, "--range", kz_json_get(a, "ranges"));
	add(c, "--");
	c->input = kz_json_str(a, "edit", NULL);
	if (tool == KZ_MCP_WRITE_FILE) {
		rc = take_file(c, a, err);
		add(c, c->inputs[0].word);
	} else {
		add(c, c->input ? "-" : relative(kz_json_str(a, "path", NULL)));
	}
	return rc;
}

enum kz_rc kz_mcp_command(struct kz_mcp_command *c, enum kz_mcp_tool tool,
			  const struct kz_mcp_ask *ask, const struct kz_json *arguments,
			  const char *dir, struct kz_err *err)
{
	const char *program = kz_mcp_tool_is_run(tool)     ? "kz-run" :
			      tool == KZ_MCP_NETWORK_SCOPE ? "kz-grant" :
							     "kz-workspace";

	*c = (struct kz_mcp_command){ .count = 0 };
	if (kz_where_program(program, c->path, sizeof(c->path), err))
		return kz_err_reason(err, kz_reason_code(KZ_R_INPUT_MISSING));
	add(c, c->path);
	if (tool == KZ_MCP_RUN_CODE)
		return run_code(c, ask, arguments, dir, err);
	if (tool == KZ_MCP_RESET_KERNEL)
		return reset_kernel(c, ask, arguments);
	if (tool != KZ_MCP_NETWORK_SCOPE)
		return workspace(c, tool, ask, arguments, err);
	add(c, "scope");
	add(c, "--json");
	return KZ_OK;
}

void kz_mcp_command_release(struct kz_mcp_command *c)
{
	for (size_t i = 0; i < c->input_count; i++)
		close(c->inputs[i].fd);
	c->input_count = 0;
}
