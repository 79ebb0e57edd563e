/* kz-audit check-receipt: needs no kz that runs and no state directory. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/receipt/receipt.h"
#include "verbs.h"
#include "rule/reason.h"

#define KEYS_MAX (1 << 20)

struct ask {
	const char *key, *code;
	struct kz_opt_list inputs, outputs;
};

/* The text of -k itself, the file that it names, or what kz up wrote here. */
static enum kz_rc read_keys(const char *ask, struct kz_receipt_keys **keys, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KEYS_MAX);
	char state[256], path[300];
	enum kz_rc rc;

	if (ask && kz_str_has_prefix(ask, "k4."))
		return kz_receipt_keys_parse(ask, strlen(ask), keys, err);
	if (!ask) {
		rc = kz_conf_state(state, err);
		if (rc == KZ_OK)
			rc = kz_str_format(path, sizeof(path), err, "%s/public/keys.json", state);
		if (rc != KZ_OK)
			return rc;
		ask = path;
	}
	rc = kz_file_read(AT_FDCWD, ask, &text, err);
	if (rc == KZ_E_NOINPUT && ask == path)
		return kz_err_wrap(err, "no public key was given (-k), and there is none here");
	return rc == KZ_OK ? kz_receipt_keys_parse(kz_buf_str(&text), text.len, keys, err) : rc;
}

static enum kz_rc read_token(const struct kz_cli *cli, struct kz_buf *b, struct kz_err *err)
{
	const char *given = cli->operand_count ? cli->operands[0] : "-";
	enum kz_rc rc;

	if (access(given, F_OK) == 0 && !kz_str_eq(given, "-"))
		return kz_refuse(err, KZ_R_RECEIPT_INVALID,
				 "it is the name of a file; say: check-receipt <FILE");
	rc = kz_str_eq(given, "-") ? kz_fd_read_all(STDIN_FILENO, b, err) :
				     kz_buf_puts(b, given, err);

	while (rc == KZ_OK && b->len && strchr(" \t\r\n", b->data[b->len - 1]))
		b->len--;
	return rc == KZ_E_DATA ?
		       kz_refuse(err, KZ_R_RECEIPT_INVALID, "it is longer than a receipt can be") :
		       rc;
}

static enum kz_rc compare_list(const struct kz_json *claims, enum kz_receipt_part part,
			       const struct kz_opt_list *list, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; rc == KZ_OK && i < list->count; i++) {
		const char *eq = strchr(list->items[i], '=');
		kz_auto_free char *name = kz_str_dup(list->items[i]);

		if (!eq)
			return kz_refuse(err, KZ_R_USAGE, "-i and -o need NAME=FILE");
		if (!name)
			return kz_err_set(err, KZ_E_OS, "out of memory");
		name[eq - list->items[i]] = '\0';
		rc = kz_receipt_compare(claims, part, name, eq + 1, err);
	}
	return rc;
}

static enum kz_rc compare(const struct kz_json *claims, const struct ask *a, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	if (a->code)
		rc = kz_receipt_compare(claims, KZ_RECEIPT_CODE, NULL, a->code, err);
	if (rc == KZ_OK)
		rc = compare_list(claims, KZ_RECEIPT_INPUT, &a->inputs, err);
	return rc == KZ_OK ? compare_list(claims, KZ_RECEIPT_OUTPUT, &a->outputs, err) : rc;
}

static enum kz_rc check(struct kz_cli *cli, const struct ask *a)
{
	kz_auto_receipt_keys struct kz_receipt_keys *keys = NULL;
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_RECEIPT_MAX + 16);
	kz_auto_json struct kz_json *claims = NULL;
	char kid[64];
	struct kz_json *o;
	enum kz_rc rc = read_keys(a->key, &keys, &cli->err);

	if (rc == KZ_OK)
		rc = read_token(cli, &token, &cli->err);
	if (rc == KZ_OK)
		rc = kz_receipt_check(keys, kz_buf_str(&token), token.len, kid, &claims, &cli->err);
	if (rc == KZ_OK)
		rc = compare(claims, a, &cli->err);
	if (rc != KZ_OK)
		return rc;
	o = kz_out_object("check_receipt");
	kz_json_set_str(o, "kid", kid);
	kz_json_set_int(o, "compared",
			(int64_t)(a->inputs.count + a->outputs.count + (a->code != NULL)));
	kz_json_set(o, "claims", kz_json_ref(claims));
	if (cli->json)
		return kz_out_json(cli, o);
	kz_json_free(o);
	kz_out_text(cli, "valid, signed by %s\n", kid);
	kz_print_claims(cli, claims);
	return KZ_OK;
}

int kz_verb_check_receipt(struct kz_cli *cli, int argc, char **argv)
{
	struct ask a = { NULL, NULL, { NULL, 0 }, { NULL, 0 } };
	const struct kz_opt opts[] = {
		{ 'k', "key", KZ_OPT_TEXT, &a.key, "FILE|KEY",
		  "the public key (k4.public...), or a file of such keys, or keys.json", 0, 0 },
		{ 'c', "code", KZ_OPT_TEXT, &a.code, "FILE", "is this the program?", 0, 0 },
		{ 'i', "input", KZ_OPT_LIST, &a.inputs, "NAME=FILE", "is this that input?", 0, 0 },
		{ 'o', "output", KZ_OPT_LIST, &a.outputs, "NAME=FILE", "is this that output?", 0,
		  0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { .program = "kz-audit",
					.verb = "check-receipt",
					.synopsis = KZ_CHECK_RECEIPT_SYNOPSIS,
					.what = KZ_CHECK_RECEIPT_WHAT,
					.opts = opts,
					.least = 0,
					.most = 1 };
	enum kz_rc rc = kz_opt_parse(cli, &usage, argc, argv) ? check(cli, &a) : cli->err.rc;

	kz_opt_list_release(&a.inputs);
	kz_opt_list_release(&a.outputs);
	return kz_main_end(cli, rc);
}
