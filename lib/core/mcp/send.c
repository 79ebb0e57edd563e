/* Messages to the client. */
#include "base/str.h"
#include "base/time.h"
#include "core/mcp/server.h"

#define PROGRESS_EVERY_MS 200

void kz_mcp_send(struct kz_mcp_server *s, struct kz_json *o)
{
	struct kz_err err = KZ_ERR_INIT;
	size_t before = s->out.len;

	if (kz_json_write(o, &s->out, &err) || kz_buf_add(&s->out, "\n", 1, &err)) {
		/* half a message would be worse than none; whoever cannot be answered is gone */
		s->out.len = before;
		s->is_gone = true;
	}
	kz_json_free(o);
}

static struct kz_json *envelope(void)
{
	struct kz_json *o = kz_json_object();

	kz_json_set_str(o, "jsonrpc", "2.0");
	return o;
}

static void set_id(struct kz_json *o, const struct kz_json *id)
{
	if (kz_json_is_string(id))
		kz_json_set_str(o, "id", kz_json_str_value(id));
	else if (id)
		kz_json_set_int(o, "id", kz_json_int_value(id));
	else
		kz_json_set(o, "id", kz_json_null());
}

void kz_mcp_send_error(struct kz_mcp_server *s, const struct kz_json *id, int code,
		       const char *text, struct kz_json *data)
{
	struct kz_json *o = envelope(), *e = kz_json_object();

	set_id(o, id);
	kz_json_set_int(e, "code", code);
	kz_json_set_str(e, "message", text);
	if (data)
		kz_json_set(e, "data", data);
	kz_json_set(o, "error", e);
	kz_mcp_send(s, o);
}

void kz_mcp_send_result(struct kz_mcp_server *s, const struct kz_json *id, bool is_modern,
			struct kz_json *result)
{
	struct kz_json *o = envelope(), *meta, *info;

	if (is_modern) {
		info = kz_json_object();
		kz_json_set_str(info, "name", "kz-mcp");
		kz_json_set_str(info, "version", KZ_VERSION);
		meta = kz_json_object();
		kz_json_set(meta, "io.modelcontextprotocol/serverInfo", info);
		kz_json_set(result, "_meta", meta);
		kz_json_set_str(result, "resultType", "complete");
	}
	set_id(o, id);
	kz_json_set(o, "result", result);
	kz_mcp_send(s, o);
}

void kz_mcp_send_progress(struct kz_mcp_server *s, struct kz_mcp_call *c)
{
	int64_t now = kz_time_boot_ms(), at = c->bytes + c->steps;
	struct kz_json *o, *p;
	char text[64];

	if (!c->token || c->is_cancelled || at <= c->told || now < c->tell_at)
		return;
	c->told = at;
	c->tell_at = now + PROGRESS_EVERY_MS;
	p = kz_json_object();
	kz_json_set(p, "progressToken", kz_json_ref(c->token));
	kz_json_set_int(p, "progress", at);
	if (at == 0)
		kz_json_set_str(p, "message", "started");
	else if (!kz_str_format(text, sizeof(text), NULL, "%lld bytes of output",
				(long long)c->bytes))
		kz_json_set_str(p, "message", text);
	o = envelope();
	kz_json_set_str(o, "method", "notifications/progress");
	kz_json_set(o, "params", p);
	kz_mcp_send(s, o);
}
