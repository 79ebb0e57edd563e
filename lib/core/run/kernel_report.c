/* Reading what a kernel cell says. */
#include "core/run/kernel_report.h"

#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"

/* A text for a terminal and a model: cut at a character, control characters as blanks. */
static void set_text(struct kz_json *o, const char *key, const char *s)
{
	char t[KZ_KERNEL_TEXT_MOST + 1];
	size_t n = strlen(s);

	if (n > KZ_KERNEL_TEXT_MOST) {
		n = KZ_KERNEL_TEXT_MOST;
		while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
			n--;
	}
	for (size_t i = 0; i < n; i++)
		t[i] = (unsigned char)s[i] < 32 || s[i] == 127 ? ' ' : s[i];
	t[n] = 0;
	kz_json_set_str(o, key, t);
}

static struct kz_json *losses(const struct kz_json *in)
{
	struct kz_json *list = kz_json_array();

	for (size_t i = 0; i < kz_json_count(in) && i < KZ_KERNEL_LIST_MOST; i++) {
		const struct kz_json *from = kz_json_at(in, i);
		struct kz_json *o = kz_json_object();

		set_text(o, "name", kz_json_str(from, "name", ""));
		set_text(o, "type", kz_json_str(from, "type", ""));
		set_text(o, "reason", kz_json_str(from, "reason", ""));
		kz_json_append(list, o);
	}
	return list;
}

static struct kz_json *notes(const struct kz_json *in)
{
	struct kz_json *list = kz_json_array();

	for (size_t i = 0; i < kz_json_count(in) && i < KZ_KERNEL_LIST_MOST; i++) {
		const char *s = kz_json_str_value(kz_json_at(in, i));
		kz_auto_json struct kz_json *o = kz_json_object();

		set_text(o, "text", s ? s : "");
		kz_json_append(list, kz_json_ref(kz_json_get(o, "text")));
	}
	return list;
}

static int64_t number(const struct kz_json *o, const char *key)
{
	int64_t n = kz_json_num(o, key, 0);

	return n > 0 ? n : 0;
}

static struct kz_json *report_of(const struct kz_json *in)
{
	const char *status = kz_json_str(in, "status", "");
	const char *reason = NULL;
	struct kz_json *o;

	if (!kz_str_eq(status, "saved") && !kz_str_eq(status, "kept_previous") &&
	    !kz_str_eq(status, "refused"))
		return NULL;
	if (kz_str_eq(kz_json_str(in, "reason", ""), kz_reason_code(KZ_R_KERNEL_STATE_OVER_BOUND)))
		reason = kz_reason_code(KZ_R_KERNEL_STATE_OVER_BOUND);
	else if (kz_json_flag(in, "damaged", false))
		reason = kz_reason_code(KZ_R_KERNEL_STATE_DAMAGED);
	o = kz_json_object();
	kz_json_set_str(o, "status", status);
	kz_json_set_int(o, "generation", number(in, "generation"));
	kz_json_set_int(o, "bytes", number(in, "bytes"));
	kz_json_set_int(o, "restored", number(in, "restored"));
	kz_json_set(o, "lost", losses(kz_json_get(in, "lost")));
	kz_json_set(o, "restore_lost", losses(kz_json_get(in, "restore_lost")));
	kz_json_set(o, "notes", notes(kz_json_get(in, "notes")));
	kz_json_set_str(o, "reason", reason);
	return o;
}

enum kz_kernel_line kz_kernel_line_read(const char *p, size_t n, int64_t *generation,
					struct kz_kernel_call *call, struct kz_json **report)
{
	kz_auto_json struct kz_json *in = NULL;
	const char *type;

	if (kz_json_parse(p, n, &in, NULL) != KZ_OK || !kz_json_is_object(in) ||
	    kz_json_num(in, "v", 0) != 1)
		return KZ_KERNEL_LINE_BAD;
	type = kz_json_str(in, "type", "");
	if (kz_str_eq(type, "state")) {
		*generation = number(in, "generation");
		return KZ_KERNEL_LINE_STATE;
	}
	if (kz_str_eq(type, "report")) {
		*report = report_of(in);
		return *report ? KZ_KERNEL_LINE_REPORT : KZ_KERNEL_LINE_BAD;
	}
	if (!kz_str_eq(type, "call") || !kz_json_is_int(kz_json_get(in, "id")) ||
	    !kz_json_is_string(kz_json_get(in, "tool")))
		return KZ_KERNEL_LINE_BAD;
	*call = (struct kz_kernel_call){ .id = kz_json_num(in, "id", 0),
					 .tool = kz_json_str(in, "tool", ""),
					 .arguments = kz_json_get(in, "arguments"),
					 .line = kz_take(in) };
	return KZ_KERNEL_LINE_CALL;
}
