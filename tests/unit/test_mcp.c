/* core/mcp: what a line from a client is, and arguments against the schemas that clients are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/mcp/arguments.h"
#include "core/mcp/message.h"
#include "core/mcp/tools.h"

/* -- messages -- */

static void each_line_is_of_one_kind(void **state)
{
	static const struct {
		const char *line;
		enum kz_mcp_kind kind;
		int code;
		const char *id;
	} cases[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", KZ_MCP_REQUEST, 0, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":-9007199254740993,\"method\":\"m\"}", KZ_MCP_REQUEST,
		  0, "-9007199254740993" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"method\":\"m\",\"params\":{}}",
		  KZ_MCP_REQUEST, 0, "\"a\\\"b\"" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"\"}", KZ_MCP_REQUEST, 0, "\"\"" },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", KZ_MCP_NOTIFICATION, 0, "" },
		/* nobody is told of a notification that makes no sense */
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[]}", KZ_MCP_NOTIFICATION, 0,
		  "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", KZ_MCP_RESPONSE, 0, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"error\":{}}", KZ_MCP_RESPONSE, 0, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", KZ_MCP_BAD,
		  KZ_MCP_INVALID_PARAMS, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}", KZ_MCP_BAD,
		  KZ_MCP_INVALID_PARAMS, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":1}}",
		  KZ_MCP_BAD, KZ_MCP_INVALID_PARAMS, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}", KZ_MCP_BAD,
		  KZ_MCP_INVALID_REQUEST, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", KZ_MCP_BAD, KZ_MCP_INVALID_REQUEST, "1" },
		{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", KZ_MCP_BAD,
		  KZ_MCP_INVALID_REQUEST, "1" },
		{ "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", KZ_MCP_BAD, KZ_MCP_INVALID_REQUEST,
		  "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", KZ_MCP_BAD,
		  KZ_MCP_INVALID_REQUEST, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"m\"}", KZ_MCP_BAD,
		  KZ_MCP_INVALID_REQUEST, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}", KZ_MCP_BAD,
		  KZ_MCP_INVALID_REQUEST, "" },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}]", KZ_MCP_BAD,
		  KZ_MCP_INVALID_REQUEST, "" },
		{ "\"m\"", KZ_MCP_BAD, KZ_MCP_INVALID_REQUEST, "" },
		{ "", KZ_MCP_BAD, KZ_MCP_PARSE_ERROR, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"m\"}", KZ_MCP_BAD,
		  KZ_MCP_PARSE_ERROR, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}x", KZ_MCP_BAD,
		  KZ_MCP_PARSE_ERROR, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", KZ_MCP_BAD,
		  KZ_MCP_PARSE_ERROR, "1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		kz_auto_mcp_message struct kz_mcp_message m;

		kz_mcp_message_read(&m, cases[i].line, strlen(cases[i].line));
		if (m.kind != cases[i].kind || (m.kind == KZ_MCP_BAD && m.code != cases[i].code))
			fail_msg("%s: kind %d, code %d", cases[i].line, (int)m.kind, m.code);
		assert_string_equal(m.id_text, cases[i].id);
		assert_int_equal(m.id != NULL, cases[i].id[0] != '\0');
		assert_true(m.kind != KZ_MCP_BAD || m.text[0]);
	}
}

static void a_request_has_what_its_line_has(void **state)
{
	static const char line[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		"{\"name\":\"run_code\",\"_meta\":{\"progressToken\":7}}}";
	kz_auto_mcp_message struct kz_mcp_message m;

	(void)state;
	kz_mcp_message_read(&m, line, sizeof(line) - 1);
	assert_int_equal(m.kind, KZ_MCP_REQUEST);
	assert_string_equal(m.method, "tools/call");
	assert_string_equal(kz_json_str(m.params, "name", ""), "run_code");
	assert_int_equal(kz_json_num(m.meta, "progressToken", 0), 7);
	/* once more is no harm */
	kz_mcp_message_release(&m);
}

static void an_id_is_as_long_as_it_may_be_and_no_longer(void **state)
{
	char line[KZ_MCP_ID_MAX + 100], text[KZ_MCP_ID_MAX];

	(void)state;
	for (int more = 0; more < 2; more++) {
		kz_auto_mcp_message struct kz_mcp_message m;

		memset(text, 'x', sizeof(text));
		text[KZ_MCP_ID_MAX - 2 + more] = '\0'; /* its quotes count */
		snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"m\"}",
			 text);
		kz_mcp_message_read(&m, line, strlen(line));
		assert_int_equal(m.kind, more ? KZ_MCP_BAD : KZ_MCP_REQUEST);
		assert_int_equal(m.code, more ? KZ_MCP_INVALID_REQUEST : 0);
		assert_int_equal(strlen(m.id_text), more ? 0 : KZ_MCP_ID_MAX);
	}
}

/* -- arguments -- */

static const char schema_text[] =
	"{\"type\":\"object\",\"properties\":{"
	"\"code\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":8},"
	"\"language\":{\"type\":\"string\",\"enum\":[\"python\",\"node\"]},"
	"\"list\":{\"type\":\"array\",\"maxItems\":2,\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4}},"
	"\"ms\":{\"type\":\"integer\",\"minimum\":-1,\"maximum\":9},"
	"\"files\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1}},"
	"\"required\":[\"path\"],\"additionalProperties\":false}},"
	"\"kernel\":{\"type\":\"boolean\"},"
	"\"odd\":{\"type\":\"number\"}},"
	"\"required\":[\"code\"],\"additionalProperties\":false}";

/* in: says: what the refusal has in it; NULL: there is none */
static void fits(const struct kz_json *schema, const char *arguments, const char *says)
{
	kz_auto_json struct kz_json *a = NULL;
	struct kz_err err = KZ_ERR_INIT;
	enum kz_rc rc;

	assert_int_equal(kz_json_parse(arguments, strlen(arguments), &a, NULL), KZ_OK);
	rc = kz_mcp_arguments(schema, a, "arguments", &err);
	if ((rc == KZ_OK) != (says == NULL) || (says && !strstr(err.text, says)))
		fail_msg("%s: %d %s", arguments, (int)rc, err.text);
	if (says)
		assert_string_equal(err.reason, "usage");
}

static void arguments_are_what_the_schema_says(void **state)
{
	static const char *const cases[][2] = {
		{ "{\"code\":\"x\"}", NULL },
		{ "{\"code\":\"12345678\",\"language\":\"node\",\"list\":[],\"ms\":-1,\"kernel\":false}",
		  NULL },
		{ "{\"code\":\"x\",\"list\":[\"a\",\"bcde\"],\"ms\":9}", NULL },
		{ "[]", "arguments has to be of type object" },
		{ "\"x\"", "arguments has to be of type object" },
		{ "{}", "code is missing" },
		{ "{\"code\":null}", "code has to be of type string" },
		{ "{\"code\":7}", "code has to be of type string" },
		{ "{\"code\":\"\"}", "code is empty" },
		{ "{\"code\":\"123456789\"}", "code has to be at most 8 bytes" },
		/* bytes count, not characters */
		{ "{\"code\":\"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\"}", NULL },
		{ "{\"code\":\"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4x\"}",
		  "code has to be at most 8 bytes" },
		{ "{\"code\":\"x\",\"language\":\"Python\"}",
		  "language has to be one of: python, node" },
		{ "{\"code\":\"x\",\"language\":\"\"}", "language has to be one of: python, node" },
		{ "{\"code\":\"x\",\"list\":\"a\"}", "list has to be of type array" },
		{ "{\"code\":\"x\",\"list\":[\"a\",\"b\",\"c\"]}",
		  "list has to be at most 2 items" },
		{ "{\"code\":\"x\",\"list\":[\"a\",7]}", "list[1] has to be of type string" },
		{ "{\"code\":\"x\",\"list\":[\"a\",\"bcdef\"]}",
		  "list[1] has to be at most 4 bytes" },
		{ "{\"code\":\"x\",\"list\":[\"\"]}", "list[0] is empty" },
		{ "{\"code\":\"x\",\"ms\":-2}", "ms has to be at least -1" },
		{ "{\"code\":\"x\",\"ms\":10}", "ms has to be at most 9" },
		{ "{\"code\":\"x\",\"ms\":1.5}", "ms has to be of type integer" },
		{ "{\"code\":\"x\",\"ms\":true}", "ms has to be of type integer" },
		{ "{\"code\":\"x\",\"kernel\":1}", "kernel has to be of type boolean" },
		{ "{\"code\":\"x\",\"files\":[{\"path\":\"a\"}]}", NULL },
		{ "{\"code\":\"x\",\"files\":[{\"path\":\"a\"},7]}",
		  "files[1] has to be of type object" },
		{ "{\"code\":\"x\",\"files\":[{}]}", "files[0].path is missing" },
		{ "{\"code\":\"x\",\"files\":[{\"path\":\"\"}]}", "files[0].path is empty" },
		{ "{\"code\":\"x\",\"files\":[{\"path\":\"a\",\"x\":1}]}",
		  "there is no argument x" },
		{ "{\"code\":\"x\",\"files\":[{\"path\":\"a\",\"actor\":\"b\"}]}",
		  "the server's configuration" },
		/* a type that is not known is never fitted */
		{ "{\"code\":\"x\",\"odd\":1}", "odd has to be of type number" },
		{ "{\"code\":\"x\",\"Code\":\"y\"}",
		  "there is no argument Code; there are: code, language" },
		{ "{\"code\":\"x\",\"actor\":\"a\"}", "the server's configuration" },
		{ "{\"code\":\"x\",\"conversation\":\"a\"}", "the server's configuration" },
	};
	kz_auto_json struct kz_json *schema = NULL;

	(void)state;
	assert_int_equal(kz_json_parse(schema_text, sizeof(schema_text) - 1, &schema, NULL), KZ_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		fits(schema, cases[i][0], cases[i][1]);
}

/* A name of the caller's choice is cut in what is said of it, and says nothing else. */
static void a_strange_name_makes_one_clean_line(void **state)
{
	static const char text[] = "{\"code\":\"x\",\"%s\\n\\u001b[2J\":1}";
	kz_auto_json struct kz_json *schema = NULL, *a = NULL;
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	assert_int_equal(kz_json_parse(schema_text, sizeof(schema_text) - 1, &schema, NULL), KZ_OK);
	assert_int_equal(kz_json_parse(text, sizeof(text) - 1, &a, NULL), KZ_OK);
	assert_int_not_equal(kz_mcp_arguments(schema, a, "arguments", &err), KZ_OK);
	assert_non_null(strstr(err.text, "there is no argument %s"));
	assert_false(kz_str_has_control(err.text));
}

/* -- the table -- */

#define ALWAYS 24 /* words of a command that no list brings */

static int64_t most(const struct kz_json *tool, const char *list)
{
	const struct kz_json *p = kz_json_get(kz_json_get(tool, "inputSchema"), "properties");

	return kz_json_num(kz_json_get(p, list), "maxItems", 0);
}

/* What the table allows has room in a command. */
static void what_a_schema_allows_fits(void **state)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(1 << 20);
	kz_auto_json struct kz_json *table = NULL;
	const struct kz_json *tools;

	(void)state;
	assert_int_equal(kz_file_read(AT_FDCWD, "policy/mcp/tools.json", &text, NULL), KZ_OK);
	assert_int_equal(kz_json_parse(text.data, text.len, &table, NULL), KZ_OK);
	tools = kz_json_get(table, "tools");
	assert_true(kz_json_count(tools) > 0);
	for (size_t i = 0; i < kz_json_count(tools); i++) {
		const struct kz_json *tool = kz_json_at(tools, i);
		int64_t files = most(tool, "files");

		assert_true(files <= KZ_MCP_INPUTS);
		assert_true(ALWAYS + 2 * (files + most(tool, "packages") + most(tool, "outputs") +
					  most(tool, "ranges")) <
			    KZ_MCP_ARGV_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_is_of_one_kind),
		cmocka_unit_test(a_request_has_what_its_line_has),
		cmocka_unit_test(an_id_is_as_long_as_it_may_be_and_no_longer),
		cmocka_unit_test(arguments_are_what_the_schema_says),
		cmocka_unit_test(a_strange_name_makes_one_clean_line),
		cmocka_unit_test(what_a_schema_allows_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
