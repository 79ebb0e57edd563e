/* Reading what a kernel cell says. */
#include "core/run/kernel_report.h"

#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"

/* How many bytes at p (of valid UTF-8, n of them) are a character that steers a terminal or turns a line around: controls of
 * C0 and C1, ends of lines and paragraphs, marks of direction. out: 0: it is none */
static size_t steers(const unsigned char *p, size_t n)
{
	if (*p < 32 || *p == 127)
		return 1;
	if (n >= 2 && p[0] == 0xc2 && p[1] < 0xa0)
		return 2;
	if (n >= 2 && p[0] == 0xd8 && p[1] == 0x9c) /* U+061C */
		return 2;
	if (n >= 3 && p[0] == 0xe2 && p[1] == 0x80 && /* U+200E, U+200F, U+2028 to U+202E */
	    (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae)))
		return 3;
	if (n >= 3 && p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa6 &&
	    p[2] <= 0xa9) /* U+2066 to U+2069 */
		return 3;
	return 0;
}

/* A text for a terminal and a model: cut at a character, what steers as blanks. */
static void set_text(struct kz_json *o, const char *key, const char *s)
{
	char t[KZ_KERNEL_TEXT_MOST + 1];
	size_t n = strlen(s), at = 0, skip;

	if (n > KZ_KERNEL_TEXT_MOST) {
		n = KZ_KERNEL_TEXT_MOST;
		while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
			n--;
	}
	for (size_t i = 0; i < n; i += skip ? skip : 1) {
		skip = steers((const unsigned char *)s + i, n - i);
		t[at++] = skip ? ' ' : s[i];
	}
	t[at] = 0;
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
