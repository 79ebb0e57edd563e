/* What of a run lasts, in words for the model: of variables and of files. */
#include "base/str.h"
#include "core/mcp/answer.h"
#include "rule/reason.h"

#define MOST 50 /* lines of one list: a model reads all of it */

static void add_more(struct kz_buf *b, const struct kz_json *list, const char *what)
{
	if (kz_json_count(list) > MOST)
		(void)kz_buf_printf(b, NULL, "[%s: %zu more]\n", what, kz_json_count(list) - MOST);
}

static void add_names(struct kz_buf *b, const struct kz_json *list, const char *what)
{
	for (size_t i = 0; i < kz_json_count(list) && i < MOST; i++)
		(void)kz_buf_printf(b, NULL, "[%s: %s: %s]\n", what,
				    kz_json_str(kz_json_at(list, i), "name", ""),
				    kz_json_str(kz_json_at(list, i), "reason", ""));
	add_more(b, list, what);
}

static void add_notes(struct kz_buf *b, const struct kz_json *list)
{
	for (size_t i = 0; i < kz_json_count(list) && i < MOST; i++)
		(void)kz_buf_printf(b, NULL, "[note: %s]\n",
				    kz_json_str_value(kz_json_at(list, i)));
	add_more(b, list, "note");
}

/* Why, where the reason of the whole run does not say it. */
static const char *why(const struct kz_json *record, const struct kz_json *kernel)
{
	enum kz_reason r;

	if (kz_json_str(record, "reason", NULL) ||
	    !kz_reason_find(kz_json_str(kernel, "reason", ""), &r))
		return NULL;
	return kz_reason_text(r);
}

/* Which variables the next cell will not have, and which this one had not. */
static void add_kernel(struct kz_buf *b, const struct kz_json *record)
{
	const struct kz_json *kernel = kz_json_get(record, "kernel");
	const char *text = why(record, kernel);

	if (!kz_json_is_object(kernel))
		return;
	add_names(b, kz_json_get(kernel, "lost"), "not kept");
	add_names(b, kz_json_get(kernel, "restore_lost"), "kept, but not restored now");
	add_notes(b, kz_json_get(kernel, "notes"));
	if (!kz_str_eq(kz_json_str(kernel, "status", ""), "saved"))
		(void)kz_buf_printf(b, NULL, "[variables stay as they were before this cell%s%s]\n",
				    text ? ": " : "", text ? text : "");
	else if (text)
		(void)kz_buf_printf(b, NULL, "[variables: %s]\n", text);
}

/* Files that a run wrote are gone where the workspace was not stored after it. */
static void add_files(struct kz_buf *b, const struct kz_json *record)
{
	static const char *const not_stored[] = { "skipped", "over_bound", "failed" };
	const char *snapshot = kz_json_str(record, "snapshot", "");

	if (kz_json_is_object(kz_json_get(record, "not_run")) ||
	    kz_str_eq(kz_json_str(record, "outcome", ""), "refused"))
		return;
	for (size_t i = 0; i < sizeof(not_stored) / sizeof(*not_stored); i++)
		if (kz_str_eq(snapshot, not_stored[i]))
			(void)kz_buf_puts(
				b, "[files of the workspace stay as they were before this run]\n",
				NULL);
	if (kz_str_eq(snapshot, "none"))
		(void)kz_buf_puts(b, "[this server keeps no files after a run]\n", NULL);
}

void kz_mcp_lasting(struct kz_buf *b, const struct kz_json *record)
{
	add_kernel(b, record);
	add_files(b, record);
}
