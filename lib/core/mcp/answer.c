/* What a call came to. */
#include "core/mcp/answer.h"

#include "base/str.h"
#include "rule/reason.h"

#define TEXT_MAX (4 << 20)

struct kz_json *kz_mcp_answer_frame(const char *text, struct kz_json *structured, bool is_error)
{
	struct kz_json *o = kz_json_object(), *list = kz_json_array(), *t = kz_json_object();

	kz_json_set_str(t, "type", "text");
	kz_json_set_str(t, "text", text);
	kz_json_append(list, t);
	kz_json_set(o, "content", list);
	kz_json_set(o, "structuredContent", structured);
	kz_json_set_bool(o, "isError", is_error);
	return o;
}

static struct kz_json *refused(enum kz_mcp_tool of, const char *reason, const char *words)
{
	struct kz_json *s = kz_json_object();
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(TEXT_MAX);

	if (kz_mcp_tool_is_run(of))
		kz_json_set_str(s, "outcome", "refused");
	kz_json_set_str(s, "reason", reason);
	kz_json_set_str(s, "text", words);
	(void)kz_buf_printf(&text, NULL, "%s: %s", reason, words);
	return kz_mcp_answer_frame(kz_buf_str(&text), s, true);
}

struct kz_json *kz_mcp_answer_refused(enum kz_mcp_tool of, const struct kz_err *why)
{
	return refused(of, why->reason[0] ? why->reason : kz_reason_code(KZ_R_INTERNAL), why->text);
}

static void copy(struct kz_json *to, const struct kz_json *from, const char *key)
{
	struct kz_json *v = kz_json_get(from, key);

	kz_json_set(to, key, v ? kz_json_ref(v) : kz_json_null());
}

static int64_t omitted(const struct kz_json *view, const char *key)
{
	return kz_json_num(kz_json_get(view, key), "omitted_bytes", 0);
}

static void add_stream(struct kz_buf *b, const struct kz_json *view, const char *key,
		       const char *title)
{
	const struct kz_json *s = kz_json_get(view, key);
	const char *head = kz_json_str(s, "head", ""), *tail = kz_json_str(s, "tail", "");

	if (!*head && !*tail)
		return;
	(void)kz_buf_printf(b, NULL, "%s%s%s", b->len && b->data[b->len - 1] != '\n' ? "\n" : "",
			    title, head);
	if (*tail)
		(void)kz_buf_printf(b, NULL, "\n[... %lld bytes left out ...]\n%s",
				    (long long)omitted(view, key), tail);
}

/* The last lines: what is not in the streams. */
static void add_end(struct kz_buf *b, const struct kz_mcp_call *c, const char *words)
{
	const struct kz_json *record = c->last, *links = c->outputs.list,
			     *list = kz_json_get(kz_json_get(record, "model_view"), "diagnostics");
	const char *reason = kz_json_str(record, "reason", NULL);
	int64_t status = kz_json_num(record, "exit", 0), sig = kz_json_num(record, "signal", 0);

	if (b->len && b->data[b->len - 1] != '\n')
		(void)kz_buf_puts(b, "\n", NULL);
	if (sig)
		(void)kz_buf_printf(b, NULL, "[ended by signal %lld]\n", (long long)sig);
	else if (status)
		(void)kz_buf_printf(b, NULL, "[exit status %lld]\n", (long long)status);
	if (reason)
		(void)kz_buf_printf(b, NULL, "[%s: %s: %s]\n", kz_json_str(record, "outcome", ""),
				    reason, words ? words : "");
	kz_mcp_lasting(b, record);
	for (size_t i = 0; i < kz_json_count(list); i++) {
		const struct kz_json *d = kz_json_at(list, i);

		if (kz_json_str(d, "output", NULL))
			(void)kz_buf_printf(b, NULL, "[not handed out: %s]\n",
					    kz_json_str(d, "text", ""));
	}
	for (size_t i = 0; i < kz_json_count(links); i++) {
		const struct kz_json *l = kz_json_at(links, i);

		if (kz_str_eq(kz_json_str(l, "type", ""), "resource_link"))
			(void)kz_buf_printf(b, NULL, "[handed out: %s, %lld bytes: %s]\n",
					    kz_json_str(l, "name", ""),
					    (long long)kz_json_num(l, "size", 0),
					    kz_json_str(l, "uri", ""));
	}
	if (!b->len)
		(void)kz_buf_puts(b,
				  c->tool == KZ_MCP_RESET_KERNEL ? "[variables are forgotten]\n" :
								   "[no output]\n",
				  NULL);
}

/* A program that ended with another status is a result; everything else that went wrong is an error. */
static bool is_error(const struct kz_json *record)
{
	const char *outcome = kz_json_str(record, "outcome", "");

	return kz_json_str(record, "reason", NULL) ||
	       (!kz_str_eq(outcome, "completed") && !kz_str_eq(outcome, "failed"));
}

static struct kz_json *answer_run(const struct kz_mcp_call *c)
{
	static const char *const fields[] = { "exit",     "signal", "cause",    "wall_ms",
					      "outputs",  "kernel", "packages", "not_run",
					      "snapshot", NULL };
	const struct kz_json *view = kz_json_get(c->last, "model_view");
	const char *words = kz_json_str(c->error, "text", NULL);
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(TEXT_MAX);
	struct kz_json *s = kz_json_object(), *o;

	kz_json_set_str(s, "outcome", kz_json_str(c->last, "outcome", ""));
	copy(s, c->last, "reason");
	kz_json_set_str(s, "text", words);
	for (size_t i = 0; fields[i]; i++)
		copy(s, c->last, fields[i]);
	kz_json_set_bool(s, "truncated", omitted(view, "stdout") || omitted(view, "stderr"));
	copy(s, view, "stdout");
	copy(s, view, "stderr");
	copy(s, view, "diagnostics");
	add_stream(&text, view, "stdout", "");
	add_stream(&text, view, "stderr", "[standard error]\n");
	add_end(&text, c, words);
	o = kz_mcp_answer_frame(kz_buf_str(&text), s, is_error(c->last));
	for (size_t i = 0; i < kz_json_count(c->outputs.list); i++)
		kz_json_append(kz_json_get(o, "content"),
			       kz_json_ref(kz_json_at(c->outputs.list, i)));
	return o;
}

static struct kz_json *answer_workspace(const struct kz_mcp_call *c)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(TEXT_MAX);
	struct kz_json *s = kz_json_object();

	for (size_t i = 0; i < kz_json_count(c->last); i++) {
		const char *key = kz_json_key(c->last, i);

		if (!kz_str_eq(key, "v") && !kz_str_eq(key, "type"))
			copy(s, c->last, key);
	}
	if (c->tool == KZ_MCP_LIST_FILES) {
		kz_json_set(s, "files", c->files ? kz_json_ref(c->files) : kz_json_array());
		kz_json_set_int(s, "omitted", c->files_omitted);
	}
	kz_mcp_text(&text, c);
	return kz_mcp_answer_frame(kz_buf_str(&text), s, false);
}

struct kz_json *kz_mcp_answer(const struct kz_mcp_call *c)
{
	bool is_list = c->tool == KZ_MCP_LIST_FILES, is_run = kz_mcp_tool_is_run(c->tool);
	bool is_fresh = is_list && kz_str_eq(kz_json_str(c->error, "reason", ""),
					     kz_reason_code(KZ_R_WORKSPACE_MISSING));

	if (is_run && c->last && !c->is_overlong)
		return answer_run(c);
	/* before the first file is kept there is no workspace, which is none of a model's business */
	if (is_fresh)
		return answer_workspace(c);
	if (c->error)
		return refused(c->tool,
			       kz_json_str(c->error, "reason", kz_reason_code(KZ_R_INTERNAL)),
			       kz_json_str(c->error, "text", ""));
	/* a run without a record is one whose end nobody knows */
	if (is_run || c->status || (!c->last && !is_list) || c->is_overlong)
		return refused(c->tool, kz_reason_code(KZ_R_OUTCOME_UNKNOWN),
			       "the program that does it ended without a word");
	return answer_workspace(c);
}
