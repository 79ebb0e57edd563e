/* What a client asks for. */
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "core/mcp/answer.h"
#include "core/mcp/arguments.h"
#include "core/mcp/server.h"
#include "rule/reason.h"

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define CACHE_MS                                                                                   \
	3600000 /* the table changes with the program only, and a file that was handed out never */

static struct kz_json *versions(void)
{
	struct kz_json *list = kz_json_array();

	kz_json_append(list, kz_json_string(KZ_MCP_MODERN));
	kz_json_append(list, kz_json_string(KZ_MCP_LEGACY));
	return list;
}

static struct kz_json *capabilities(void)
{
	struct kz_json *o = kz_json_object();

	kz_json_set(o, "tools", kz_json_object());
	kz_json_set(o, "resources", kz_json_object());
	return o;
}

static void set_cache(struct kz_json *o, int64_t ms)
{
	kz_json_set_int(o, "ttlMs", ms);
	kz_json_set_str(o, "cacheScope", "private");
}

static void discover(struct kz_mcp_server *s, const struct kz_mcp_message *m, bool is_modern)
{
	struct kz_json *o = kz_json_object();

	kz_json_set(o, "supportedVersions", versions());
	kz_json_set(o, "capabilities", capabilities());
	kz_json_set_str(o, "instructions", kz_json_str(s->tools, "instructions", ""));
	set_cache(o, CACHE_MS);
	kz_mcp_send_result(s, m->id, is_modern, o);
}

/* Of the handshake there is one revision; who speaks another one is told so, and decides. */
static void initialize(struct kz_mcp_server *s, const struct kz_mcp_message *m)
{
	struct kz_json *o, *info;

	if (!kz_json_is_string(kz_json_get(m->params, "protocolVersion"))) {
		kz_mcp_send_error(s, m->id, KZ_MCP_INVALID_PARAMS, "protocolVersion is missing",
				  NULL);
		return;
	}
	s->is_initialized = true;
	info = kz_json_object();
	kz_json_set_str(info, "name", "kz-mcp");
	kz_json_set_str(info, "version", KZ_VERSION);
	o = kz_json_object();
	kz_json_set_str(o, "protocolVersion", KZ_MCP_LEGACY);
	kz_json_set(o, "capabilities", capabilities());
	kz_json_set(o, "serverInfo", info);
	kz_json_set_str(o, "instructions", kz_json_str(s->tools, "instructions", ""));
	kz_mcp_send_result(s, m->id, false, o);
}

/* A list, whole in one page; it is taken. */
static void list(struct kz_mcp_server *s, const struct kz_mcp_message *m, bool is_modern,
		 const char *name, struct kz_json *items, int64_t cache_ms)
{
	struct kz_json *o;

	if (kz_json_get(m->params, "cursor")) {
		kz_json_free(items);
		kz_mcp_send_error(s, m->id, KZ_MCP_INVALID_PARAMS, "there is no such cursor", NULL);
		return;
	}
	o = kz_json_object();
	kz_json_set(o, name, items);
	if (is_modern)
		set_cache(o, cache_ms);
	kz_mcp_send_result(s, m->id, is_modern, o);
}

/* The older revision has a code of its own for what is not there. */
static void read_resource(struct kz_mcp_server *s, const struct kz_mcp_message *m, bool is_modern)
{
	const char *uri = kz_json_str(m->params, "uri", "");
	const struct kz_mcp_file *f = kz_mcp_shelf_find(&s->shelf, uri);
	struct kz_json *o, *contents, *list;
	struct kz_err err = KZ_ERR_INIT;

	if (!f) {
		o = kz_json_object();
		kz_json_set_str(o, "uri", uri);
		kz_mcp_send_error(s, m->id, is_modern ? KZ_MCP_INVALID_PARAMS : KZ_MCP_NO_RESOURCE,
				  "there is no such resource (any more)", o);
		return;
	}
	if (kz_mcp_file_contents(f, &contents, &err)) {
		kz_mcp_send_error(s, m->id, KZ_MCP_INTERNAL, err.text, NULL);
		return;
	}
	list = kz_json_array();
	kz_json_append(list, contents);
	o = kz_json_object();
	kz_json_set(o, "contents", list);
	if (is_modern)
		set_cache(o, CACHE_MS);
	kz_mcp_send_result(s, m->id, is_modern, o);
}

static struct kz_mcp_call *find_call(struct kz_mcp_server *s, const char *id_text)
{
	for (size_t i = 0; i < s->call_count; i++)
		if (!s->calls[i]->is_cancelled && kz_str_eq(s->calls[i]->id_text, id_text))
			return s->calls[i];
	return NULL;
}

static enum kz_rc start(struct kz_mcp_server *s, const struct kz_mcp_message *m, bool is_modern,
			const struct kz_json *tool, enum kz_mcp_tool which, struct kz_err *err)
{
	const struct kz_json *given = kz_json_get(m->params, "arguments"),
			     *token = kz_json_get(m->meta, "progressToken");
	kz_auto_json struct kz_json *none = given ? NULL : kz_json_object();
	const struct kz_json *arguments = given ? given : none;
	struct kz_mcp_call *c;
	enum kz_rc rc;

	if (s->call_count == KZ_MCP_CALLS)
		return kz_refuse(err, KZ_R_QUEUE_FULL, "%d calls are under way, which is the most",
				 KZ_MCP_CALLS);
	rc = kz_mcp_arguments(kz_json_get(tool, "inputSchema"), arguments, KZ_MCP_ARGUMENTS, err);
	if (!rc)
		rc = kz_mcp_call_start(&c, s->ask, &s->keep, which, arguments, err);
	if (rc)
		return rc;
	c->is_modern = is_modern;
	c->id = kz_json_ref(kz_json_get(m->root, "id"));
	(void)kz_str_copy(c->id_text, sizeof(c->id_text), m->id_text, NULL);
	if (kz_mcp_is_id(token, NULL))
		c->token = kz_json_ref(kz_json_get(m->meta, "progressToken"));
	s->calls[s->call_count++] = c;
	kz_mcp_send_progress(s, c);
	return KZ_OK;
}

static void call_tool(struct kz_mcp_server *s, const struct kz_mcp_message *m, bool is_modern)
{
	const char *name = kz_json_str(m->params, "name", "");
	enum kz_mcp_tool which = KZ_MCP_RUN_CODE;
	const struct kz_json *tool = kz_mcp_tools_find(s->tools, name, &which);
	struct kz_err err = KZ_ERR_INIT;
	char text[128];

	if (!tool) {
		if (kz_str_format(text, sizeof(text), NULL, "unknown tool: %.80s", name))
			text[0] = 0;
		kz_mcp_send_error(s, m->id, KZ_MCP_INVALID_PARAMS, text, NULL);
		return;
	}
	if (start(s, m, is_modern, tool, which, &err))
		kz_mcp_send_result(s, m->id, is_modern, kz_mcp_answer_refused(which, &err));
}

static void notification(struct kz_mcp_server *s, const struct kz_mcp_message *m)
{
	char id[KZ_MCP_ID_MAX + 1];
	struct kz_mcp_call *c;

	if (!kz_str_eq(m->method, "notifications/cancelled") ||
	    !kz_mcp_is_id(kz_json_get(m->params, "requestId"), id))
		return;
	c = find_call(s, id);
	if (!c)
		return;
	kz_log(KZ_LOG_INFO, "call cancelled", "id", id, NULL);
	kz_mcp_call_cancel(c);
}

/* Does a request say what it speaks, as the newer revision wants it, and do we speak it? */
static bool is_spoken(struct kz_mcp_server *s, const struct kz_mcp_message *m)
{
	const struct kz_json *version = kz_json_get(m->meta, META_VERSION);
	struct kz_json *data;

	if (!kz_json_is_string(version)) {
		kz_mcp_send_error(s, m->id, KZ_MCP_INVALID_PARAMS, META_VERSION " is no string",
				  NULL);
		return false;
	}
	if (!kz_str_eq(kz_json_str_value(version), KZ_MCP_MODERN)) {
		data = kz_json_object();
		kz_json_set(data, "supported", versions());
		kz_json_set_str(data, "requested", kz_json_str_value(version));
		kz_mcp_send_error(s, m->id, KZ_MCP_UNSUPPORTED_VERSION,
				  "unsupported protocol version", data);
		return false;
	}
	if (!kz_json_is_object(kz_json_get(m->meta, META_CAPABILITIES))) {
		kz_mcp_send_error(s, m->id, KZ_MCP_INVALID_PARAMS, META_CAPABILITIES " is missing",
				  NULL);
		return false;
	}
	return true;
}

/* What is spoken is known; both revisions have these. */
static void method(struct kz_mcp_server *s, const struct kz_mcp_message *m, bool is_modern)
{
	const char *name = m->method;

	if (kz_str_eq(name, "tools/list"))
		list(s, m, is_modern, "tools", kz_json_ref(kz_json_get(s->tools, "tools")),
		     CACHE_MS);
	else if (kz_str_eq(name, "tools/call"))
		call_tool(s, m, is_modern);
	else if (kz_str_eq(name, "resources/list"))
		list(s, m, is_modern, "resources", kz_mcp_shelf_list(&s->shelf), 0);
	else if (kz_str_eq(name, "resources/templates/list"))
		list(s, m, is_modern, "resourceTemplates", kz_json_array(), CACHE_MS);
	else if (kz_str_eq(name, "resources/read"))
		read_resource(s, m, is_modern);
	else if (is_modern && kz_str_eq(name, "server/discover"))
		discover(s, m, is_modern);
	else
		kz_mcp_send_error(s, m->id, KZ_MCP_UNKNOWN_METHOD, "unknown method", NULL);
}

static void request(struct kz_mcp_server *s, const struct kz_mcp_message *m)
{
	bool is_modern = kz_json_get(m->meta, META_VERSION) != NULL;

	if (find_call(s, m->id_text)) {
		kz_mcp_send_error(s, m->id, KZ_MCP_INVALID_REQUEST,
				  "a request with this id is under way", NULL);
	} else if (is_modern && !is_spoken(s, m)) {
		return;
	} else if (!is_modern && kz_str_eq(m->method, "initialize")) {
		initialize(s, m);
	} else if (!is_modern && kz_str_eq(m->method, "ping")) {
		kz_mcp_send_result(s, m->id, false, kz_json_object());
	} else if (!is_modern && !s->is_initialized) {
		kz_mcp_send_error(s, m->id, KZ_MCP_INVALID_PARAMS,
				  META_VERSION " is missing, and there was no initialize", NULL);
	} else {
		method(s, m, is_modern);
	}
}

void kz_mcp_handle(struct kz_mcp_server *s, const char *line, size_t n)
{
	kz_auto_mcp_message struct kz_mcp_message m;

	kz_mcp_message_read(&m, line, n);
	switch (m.kind) {
	case KZ_MCP_REQUEST: request(s, &m); break;
	case KZ_MCP_NOTIFICATION: notification(s, &m); break;
	case KZ_MCP_RESPONSE: break;
	case KZ_MCP_BAD: kz_mcp_send_error(s, m.id, m.code, m.text, NULL); break;
	}
}
