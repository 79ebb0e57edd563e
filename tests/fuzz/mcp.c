/*
 * Messages of the Model Context Protocol, and arguments against a schema: any line ends in one kind; an id that is taken is
 * written again as it came in; arguments that pass have only what the schema has.
 */
#include <string.h>

#include "core/mcp/arguments.h"
#include "core/mcp/message.h"
#include "fuzz.h"

static const char schema_text[] =
	"{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":8},"
	"\"language\":{\"type\":\"string\",\"enum\":[\"python\",\"node\"]},\"list\":{\"type\":\"array\",\"maxItems\":2,"
	"\"items\":{\"type\":\"string\",\"maxLength\":4}},\"ms\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9},"
	"\"files\":{\"type\":\"array\",\"maxItems\":2,\"items\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1}},"
	"\"required\":[\"path\"],\"additionalProperties\":false}},"
	"\"kernel\":{\"type\":\"boolean\"}},\"required\":[\"code\"],\"additionalProperties\":false}";

static void check_arguments(const struct kz_json *a)
{
	static struct kz_json *schema;
	const char *code = kz_json_str(a, "code", NULL);
	struct kz_err err = KZ_ERR_INIT;

	if (!schema)
		CLAIM(kz_json_parse(schema_text, sizeof(schema_text) - 1, &schema, NULL) == KZ_OK);
	if (kz_mcp_arguments(schema, a, "arguments", &err)) {
		CLAIM(strcmp(err.reason, "usage") == 0 && err.text[0]);
		return;
	}
	CLAIM(kz_json_is_object(a) && kz_json_count(a) <= 6);
	CLAIM(code && *code && strlen(code) <= 8);
	CLAIM(!kz_json_get(a, "actor") && !kz_json_get(a, "conversation"));
	CLAIM(kz_json_count(kz_json_get(a, "list")) <= 2);
	for (size_t i = 0; i < kz_json_count(kz_json_get(a, "files")); i++) {
		const struct kz_json *f = kz_json_at(kz_json_get(a, "files"), i);

		CLAIM(kz_json_count(f) == 1 && *kz_json_str(f, "path", ""));
	}
	CLAIM(kz_json_num(a, "ms", 1) >= 1 && kz_json_num(a, "ms", 1) <= 9);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kz_auto_mcp_message struct kz_mcp_message m;
	char *line = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */

	CLAIM(line);
	if (size)
		memcpy(line, data, size);
	kz_mcp_message_read(&m, line, size);
	CLAIM(m.kind != KZ_MCP_BAD || (m.code && m.text[0]));
	CLAIM(m.kind != KZ_MCP_REQUEST || (m.id && m.id_text[0] && m.method));
	CLAIM(m.kind != KZ_MCP_NOTIFICATION || !m.id);
	CLAIM(strlen(m.id_text) <= KZ_MCP_ID_MAX);
	if (m.kind == KZ_MCP_REQUEST)
		check_arguments(kz_json_get(m.params, "arguments"));
	free(line);
	return 0;
}
