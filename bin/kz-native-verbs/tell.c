/* kz-native check: a file's line. */
#include "verbs.h"

#define NAME_SHOWN 1025

/* Printable ASCII; it may be a name that a tenant chose. */
static const char *shown(const char *name, char out[NAME_SHOWN])
{
	size_t i = 0;

	for (; name[i] && i < NAME_SHOWN - 1; i++)
		out[i] = name[i] >= ' ' && name[i] < 0x7f ? name[i] : '?';
	out[i] = '\0';
	return out;
}

static void set_count(struct kz_json *o, const char *key, int64_t n)
{
	kz_json_set(o, key, n < 0 ? kz_json_null() : kz_json_int(n));
}

static enum kz_rc tell_json(struct kz_cli *cli, const char *name, enum kz_native_kind kind,
			    int64_t level, size_t bytes, const struct kz_native_report *r,
			    const struct kz_err *why)
{
	struct kz_json *o = kz_out_object("native"), *warnings = kz_json_array();
	const char *word = kz_native_kind_word(kind);

	for (int64_t i = 0; i < r->warnings && i < KZ_NATIVE_WARNINGS; i++)
		kz_json_append(warnings, kz_json_string(r->warning[i]));
	kz_json_set_str(o, "name", name);
	kz_json_set_str(o, "kind", word);
	kz_json_set_int(o, "level", level);
	kz_json_set_bool(o, "sound", !*why->reason);
	kz_json_set_str(o, "reason", *why->reason ? why->reason : NULL);
	kz_json_set_str(o, "text", *why->reason ? why->text : NULL);
	kz_json_set_bool(o, "encrypted", r->is_encrypted);
	kz_json_set_int(o, "bytes", (int64_t)bytes);
	set_count(o, "pages", r->pages);
	set_count(o, "parts", r->parts);
	kz_json_set(o, "warnings", warnings);
	kz_json_set_int(o, "warning_count", r->warnings);
	return kz_out_json(cli, o);
}

static void tell_text(struct kz_cli *cli, const char *name, enum kz_native_kind kind,
		      const struct kz_native_report *r, const struct kz_err *why)
{
	if (kind == KZ_NATIVE_NONE)
		kz_out_text(cli, "%s: ok, not judged\n", name);
	else if (*why->reason)
		kz_out_text(cli, "%s: %s: %s\n", name, why->reason, why->text);
	else if (r->warnings > 0)
		kz_out_text(cli, "%s: ok, %s%s, %lld warnings: %s\n", name,
			    kz_native_kind_word(kind), r->is_encrypted ? ", encrypted" : "",
			    (long long)r->warnings, r->warning[0]);
	else
		kz_out_text(cli, "%s: ok, %s\n", name, kz_native_kind_word(kind));
}

enum kz_rc kz_native_tell(struct kz_cli *cli, const char *name, enum kz_native_kind kind,
			  int64_t level, size_t bytes, const struct kz_native_report *r,
			  const struct kz_err *why)
{
	char text[NAME_SHOWN];

	(void)shown(name, text);
	if (cli->json)
		return tell_json(cli, text, kind, level, bytes, r, why);
	tell_text(cli, text, kind, r, why);
	return KZ_OK;
}
