/* The claims of a receipt as text, one a line. */
#include <stdio.h>

#include "base/str.h"
#include "cli/out.h"
#include "verbs.h"

static void print_value(struct kz_cli *cli, const char *name, const struct kz_json *v)
{
	if (kz_json_is_string(v))
		kz_out_text(cli, "%s: %s\n", name, kz_json_str_value(v));
	else if (kz_json_is_int(v))
		kz_out_text(cli, "%s: %lld\n", name, (long long)kz_json_int_value(v));
	else
		kz_out_text(cli, "%s: -\n", name);
}

static void print_list(struct kz_cli *cli, const char *name, const struct kz_json *list)
{
	for (size_t i = 0; i < kz_json_count(list); i++) {
		const struct kz_json *v = kz_json_at(list, i);

		if (kz_json_is_object(v))
			kz_out_text(cli, "%s: %.64s of %lld bytes, named %.64s\n", name,
				    kz_json_str(v, "sha256", ""),
				    (long long)kz_json_num(v, "bytes", 0),
				    kz_json_str(v, "name_sha256", ""));
		else
			print_value(cli, name, v);
	}
}

static void print_object(struct kz_cli *cli, const char *prefix, const struct kz_json *o)
{
	const char *key;
	char name[128];

	for (size_t i = 0; (key = kz_json_key(o, i)); i++) {
		const struct kz_json *v = kz_json_get(o, key);

		snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", key);
		if (kz_json_is_object(v))
			print_object(cli, name, v);
		else if (kz_json_is_array(v))
			print_list(cli, name, v);
		else if (kz_json_is_bool(v))
			kz_out_text(cli, "%s: %s\n", name,
				    kz_json_flag(o, key, false) ? "yes" : "no");
		else
			print_value(cli, name, v);
	}
}

void kz_print_claims(struct kz_cli *cli, const struct kz_json *claims)
{
	print_object(cli, "", claims);
}
