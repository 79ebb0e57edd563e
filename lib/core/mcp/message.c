/* One line in, one message out. */
#include "core/mcp/message.h"

#include <string.h>

#include "base/str.h"
#include "core/mcp/scan.h"

static void bad(struct kz_mcp_message *m, int code, const char *text)
{
	m->kind = KZ_MCP_BAD;
	m->code = code;
	(void)kz_str_copy(m->text, sizeof(m->text), text, NULL);
}

bool kz_mcp_is_id(const struct kz_json *v, char text[KZ_MCP_ID_MAX + 1])
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(KZ_MCP_ID_MAX);

	if ((!kz_json_is_string(v) && !kz_json_is_int(v)) || kz_json_write(v, &b, NULL))
		return false;
	return !text || !kz_str_copy(text, KZ_MCP_ID_MAX + 1, kz_buf_str(&b), NULL);
}

static void judge_call(struct kz_mcp_message *m, const struct kz_json *id)
{
	const struct kz_json *method = kz_json_get(m->root, "method"),
			     *params = kz_json_get(m->root, "params");

	if (!kz_json_is_string(method)) {
		bad(m, KZ_MCP_INVALID_REQUEST, "method is no string");
		return;
	}
	m->method = kz_json_str_value(method);
	m->kind = id ? KZ_MCP_REQUEST : KZ_MCP_NOTIFICATION;
	m->params = kz_json_is_object(params) ? params : NULL;
	m->meta = kz_json_get(m->params, "_meta");
	if (params && !m->params)
		bad(m, KZ_MCP_INVALID_PARAMS, "params is no object");
	else if (m->meta && !kz_json_is_object(m->meta))
		bad(m, KZ_MCP_INVALID_PARAMS, "_meta is no object");
	/* nobody is told of a notification that makes no sense */
	if (!id)
		m->kind = KZ_MCP_NOTIFICATION;
}

static void judge(struct kz_mcp_message *m)
{
	const struct kz_json *id = kz_json_get(m->root, "id");

	if (id && kz_mcp_is_id(id, m->id_text))
		m->id = id;
	if (kz_json_is_array(m->root)) {
		bad(m, KZ_MCP_INVALID_REQUEST, "batches are no part of this protocol");
		return;
	}
	if (!kz_json_is_object(m->root) || !kz_str_eq(kz_json_str(m->root, "jsonrpc", ""), "2.0")) {
		bad(m, KZ_MCP_INVALID_REQUEST, "not a message of JSON-RPC 2.0");
		return;
	}
	if (!kz_json_get(m->root, "method") &&
	    (kz_json_get(m->root, "result") || kz_json_get(m->root, "error")))
		m->kind = KZ_MCP_RESPONSE;
	else if (id && !m->id)
		bad(m, KZ_MCP_INVALID_REQUEST, "an id is a string or an integer, and short");
	else
		judge_call(m, id);
}

/* Who asked is told apart from what cannot be read, where that is certain. */
static void find_id(struct kz_mcp_message *m, const char *p, size_t n)
{
	struct kz_mcp_scan s = { .depth = 0 };

	kz_mcp_scan(&s, p, n);
	m->root = kz_mcp_scan_id(&s);
	if (kz_mcp_is_id(m->root, m->id_text))
		m->id = m->root;
}

void kz_mcp_message_read(struct kz_mcp_message *m, const char *p, size_t n)
{
	struct kz_err err = KZ_ERR_INIT;

	*m = (struct kz_mcp_message){ .kind = KZ_MCP_BAD };
	if (kz_json_parse(p, n, &m->root, &err)) {
		bad(m, KZ_MCP_PARSE_ERROR, err.text);
		find_id(m, p, n);
	} else {
		judge(m);
	}
}

void kz_mcp_message_release(struct kz_mcp_message *m)
{
	kz_json_free(m->root);
	m->root = NULL;
}
