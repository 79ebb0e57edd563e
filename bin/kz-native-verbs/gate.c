/* kz-native gate. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/fd.h"
#include "core/jail/jail.h"
#include "rule/reason.h"
#include "verbs.h"

#define INPUT_MAX (1 << 20)
#define MEMORY_BYTES (INT64_C(512) << 20)
#define CPU_SECONDS 20

static enum kz_rc malformed(struct kz_cli *cli, const char *what)
{
	return kz_refuse(&cli->err, KZ_R_MALFORMED_INPUT, "%s", what);
}

/* "pdf", "application/pdf", or a list of such; others are nobody's business here [NAT-9]. */
static enum kz_rc read_requested(struct kz_cli *cli, const struct kz_json *v,
				 bool requested[KZ_NATIVE_KINDS])
{
	bool is_list = kz_json_is_array(v);
	size_t n = is_list ? kz_json_count(v) : v && !kz_json_is_null(v) ? 1 : 0;

	for (size_t i = 0; i < n; i++) {
		const struct kz_json *item = is_list ? kz_json_at(v, i) : v;
		const char *word = kz_json_is_string(item) ? kz_json_str_value(item) : NULL;
		enum kz_native_kind kind;
		if (!word)
			return malformed(cli, "requested is a kind, a list of kinds, or null");
		kind = kz_native_kind_find(*word == '.' ? word + 1 : word);
		if (kind == KZ_NATIVE_NONE)
			kind = kz_native_kind_of_media(word);
		requested[kind] = kind != KZ_NATIVE_NONE;
	}
	return KZ_OK;
}

static bool is_text_or_absent(const struct kz_json *v)
{
	return !v || kz_json_is_null(v) || kz_json_is_string(v);
}

static bool is_bool_or_absent(const struct kz_json *v)
{
	return !v || kz_json_is_bool(v);
}

static enum kz_rc read_attachment(struct kz_cli *cli, const struct kz_json *o,
				  struct kz_native_attachment *out)
{
	if (!kz_json_is_object(o) || !is_text_or_absent(kz_json_get(o, "name")) ||
	    !is_text_or_absent(kz_json_get(o, "media_type")) ||
	    !is_bool_or_absent(kz_json_get(o, "durable")) ||
	    !is_bool_or_absent(kz_json_get(o, "validated")))
		return malformed(cli, "an attachment has name, media_type, durable and validated");
	*out = (struct kz_native_attachment){
		.name = kz_json_str(o, "name", NULL),
		.media_type = kz_json_str(o, "media_type", NULL),
		.is_durable = kz_json_flag(o, "durable", false),
		.is_validated = kz_json_flag(o, "validated", false),
	};
	return KZ_OK;
}

static enum kz_rc tell(struct kz_cli *cli, const bool requested[KZ_NATIVE_KINDS],
		       const bool missing[KZ_NATIVE_KINDS])
{
	struct kz_json *o = kz_out_object("gate"), *all = kz_json_array(),
		       *lacking = kz_json_array();
	const char *first = NULL;

	for (int k = KZ_NATIVE_PDF; k < KZ_NATIVE_KINDS; k++) {
		const char *word = kz_native_kind_word((enum kz_native_kind)k);
		if (requested[k])
			kz_json_append(all, kz_json_string(word));
		if (!missing[k])
			continue;
		kz_json_append(lacking, kz_json_string(word));
		first = first ? first : word;
	}
	kz_json_set_bool(o, "permit", !first);
	kz_json_set(o, "requested", all);
	kz_json_set(o, "missing", lacking);
	if (cli->json) {
		enum kz_rc rc = kz_out_json(cli, o);
		if (rc != KZ_OK)
			return rc;
	} else {
		kz_out_text(cli, "%s\n", first ? "deny" : "permit");
		kz_json_free(o);
	}
	return first ? kz_refuse(&cli->err, KZ_R_GATE_DENIED,
				 "no durable, validated attachment is a %s", first) :
		       KZ_OK;
}

static enum kz_rc judge(struct kz_cli *cli, const struct kz_json *o)
{
	static const char *const keys[] = { "requested", "attachments", NULL };
	const struct kz_json *list = kz_json_get(o, "attachments");
	bool requested[KZ_NATIVE_KINDS] = { false }, missing[KZ_NATIVE_KINDS] = { false };
	kz_auto_free struct kz_native_attachment *a = NULL;
	size_t n = kz_json_count(list);
	enum kz_rc rc;

	if (!kz_json_is_object(o) || kz_json_only(o, keys, NULL) != KZ_OK ||
	    !kz_json_is_array(list) || !kz_json_get(o, "requested"))
		return malformed(cli, "the input is an object of requested and attachments");
	rc = read_requested(cli, kz_json_get(o, "requested"), requested);
	a = calloc(n + 1, sizeof *a);
	if (!a)
		return kz_refuse(&cli->err, KZ_R_SYSTEM_FAILED, "no memory");
	for (size_t i = 0; rc == KZ_OK && i < n; i++)
		rc = read_attachment(cli, kz_json_at(list, i), &a[i]);
	if (rc != KZ_OK)
		return rc;
	for (int k = KZ_NATIVE_PDF; k < KZ_NATIVE_KINDS; k++)
		missing[k] = requested[k] && !kz_native_gate((enum kz_native_kind)k, a, n);
	return tell(cli, requested, missing);
}

static enum kz_rc gate(struct kz_cli *cli)
{
	static const struct kz_jail_bounds bounds = { MEMORY_BYTES, CPU_SECONDS };
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(INPUT_MAX);
	kz_auto_json struct kz_json *o = NULL;
	enum kz_rc rc = kz_jail_enter(&bounds, NULL, 0, &cli->err);

	if (rc != KZ_OK)
		return rc;
	if (kz_fd_read_all(0, &b, &cli->err) != KZ_OK ||
	    kz_json_parse(kz_buf_str(&b), b.len, &o, &cli->err) != KZ_OK)
		return cli->err.rc == KZ_E_DATA ? kz_err_reason(&cli->err, "malformed_input") :
						  cli->err.rc;
	return judge(cli, o);
}

int kz_verb_gate(struct kz_cli *cli, int argc, char **argv)
{
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = { "kz-native", "gate", KZ_GATE_SYNOPSIS, KZ_GATE_WHAT, opts,
					0,           0 };

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	return kz_main_end(cli, gate(cli));
}
