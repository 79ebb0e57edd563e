/*
 * What a kernel cell says over its channel, and snapshots of tools.  Whatever is taken of a line is bounded,
 * has no control character, and is one of three kinds; a snapshot that is taken has only tools with a name, a class and
 * a way [KRN-16, CB-2, CB-9].
 */
#include <string.h>

#include "core/run/kernel_report.h"
#include "core/run/tools.h"
#include "fuzz.h"
#include "port/json.h"

static void check_text(const struct kz_json *o, const char *key)
{
	const char *s = kz_json_str(o, key, NULL);

	CLAIM(s && strlen(s) <= KZ_KERNEL_TEXT_MOST);
	for (; *s; s++)
		CLAIM((unsigned char)*s >= 32 && *s != 127);
}

static void check_list(const struct kz_json *list)
{
	CLAIM(kz_json_is_array(list) && kz_json_count(list) <= KZ_KERNEL_LIST_MOST);
	for (size_t i = 0; i < kz_json_count(list); i++) {
		check_text(kz_json_at(list, i), "name");
		check_text(kz_json_at(list, i), "type");
		check_text(kz_json_at(list, i), "reason");
	}
}

static void check_report(const struct kz_json *r)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(16 << 20);

	CLAIM(kz_json_num(r, "generation", -1) >= 0 && kz_json_num(r, "bytes", -1) >= 0);
	check_list(kz_json_get(r, "lost"));
	check_list(kz_json_get(r, "restore_lost"));
	CLAIM(kz_json_count(kz_json_get(r, "notes")) <= KZ_KERNEL_LIST_MOST);
	CLAIM(kz_json_write(r, &b, NULL) == KZ_OK);
}

static void check_snapshot(const char *p, size_t n)
{
	kz_auto_json struct kz_json *o = NULL;
	const struct kz_json *tools;
	char digest[KZ_SHA256_HEX];

	if (kz_json_parse(p, n, &o, NULL) != KZ_OK || kz_tools_check(o, NULL) != KZ_OK)
		return;
	tools = kz_json_get(o, "tools");
	CLAIM(kz_json_count(tools) <= KZ_TOOLS_MOST);
	for (size_t i = 0; i < kz_json_count(tools); i++) {
		const struct kz_json *t = kz_json_at(tools, i);

		CLAIM(strlen(kz_json_str(t, "name", "")) <= KZ_TOOL_NAME_MOST);
		CLAIM(!kz_json_get(t, "command") != !kz_json_get(t, "socket"));
		CLAIM(kz_tool_digest(t, digest, NULL) == KZ_OK);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kz_kernel_call call = { 0 };
	struct kz_json *report = NULL;
	int64_t generation = -1;

	switch (kz_kernel_line_read((const char *)data, size, &generation, &call, &report)) {
	case KZ_KERNEL_LINE_STATE: CLAIM(generation >= 0); break;
	case KZ_KERNEL_LINE_CALL: CLAIM(call.tool && call.line); break;
	case KZ_KERNEL_LINE_REPORT: check_report(report); break;
	case KZ_KERNEL_LINE_BAD: CLAIM(!report && !call.line && generation == -1); break;
	}
	kz_json_free(call.line);
	kz_json_free(report);
	check_snapshot((const char *)data, size);
	return 0;
}
