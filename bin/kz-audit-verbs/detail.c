/* A row of the audit in one line. */
#include <string.h>

#include "base/str.h"
#include "verbs.h"

/* "key=value" of each member that is set, for people. Not those that have a column, nor also. */
static void put_members(struct kz_buf *b, const struct kz_json *o, const char *also)
{
	static const char *const own[] = { "v", "type", "id", "at_ms", "kind", "hash", "store" };
	const char *key;

	for (size_t i = 0; (key = kz_json_key(o, i)); i++) {
		const struct kz_json *v = kz_json_get(o, key);
		bool is_own = strcmp(key, also) == 0;

		for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
			is_own |= strcmp(own[k], key) == 0;
		if (is_own)
			continue;
		if (kz_json_is_string(v))
			kz_buf_printf(b, NULL, "%s%s=%s", b->len ? " " : "", key,
				      kz_json_str_value(v));
		else if (kz_json_is_int(v))
			kz_buf_printf(b, NULL, "%s%s=%lld", b->len ? " " : "", key,
				      (long long)kz_json_int_value(v));
		else if (kz_json_flag(o, key, false))
			kz_buf_printf(b, NULL, "%s%s", b->len ? " " : "", key);
	}
}

void kz_row_detail(struct kz_json *row)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4096);
	const struct kz_json *refused = kz_json_get(row, "egress");

	put_members(&b, row, "");
	/* the policy's revision would crowd out the rest */
	for (size_t i = 0; i < kz_json_count(refused); i++)
		put_members(&b, kz_json_at(refused, i), "revision");
	kz_json_set_str(row, "detail", kz_buf_str(&b));
}
