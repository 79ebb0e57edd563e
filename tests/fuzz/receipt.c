/*
 * Receipts as a stranger checks them: keys out of any text; a token; and the claims of one that is signed here.  What
 * passes is of the known form: it compares with files or says why not, and signed again it passes again [AUD-9].
 */
#include <string.h>

#include "core/receipt/receipt.h"
#include "fuzz.h"
#include "port/json.h"
#include "port/seal-sign.h"

static struct kz_secret key = { .bytes = { 3, 2, 1 }, .is_set = true };
static struct kz_receipt_keys *keys;
static char footer[80];

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char text[KZ_PASERK_PUBLIC_TEXT], kid[KZ_PASERK_PID_TEXT];
	struct kz_public public;

	(void)argc;
	(void)argv;
	CLAIM(kz_seal_init(NULL) == KZ_OK);
	kz_sign_public(&key, &public);
	kz_paserk_public(&public, text);
	kz_paserk_pid(&public, kid);
	snprintf(footer, sizeof footer, "{\"kid\":\"%s\"}", kid);
	CLAIM(kz_receipt_keys_parse(text, strlen(text), &keys, NULL) == KZ_OK);
	return 0;
}

static void check_keys(const char *p, size_t n)
{
	struct kz_receipt_keys *other = NULL;

	if (kz_receipt_keys_parse(p, n, &other, NULL) == KZ_OK)
		CLAIM(other);
	kz_receipt_keys_free(other);
}

/* in: is_again: it was signed out of claims that passed once */
static void check_token(const char *p, size_t n, bool is_again)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_RECEIPT_MAX);
	struct kz_json *claims = NULL;
	char kid[64];

	if (kz_receipt_check(keys, p, n, kid, &claims, NULL) != KZ_OK) {
		CLAIM(!claims && !is_again);
		return;
	}
	for (int part = KZ_RECEIPT_CODE; part <= KZ_RECEIPT_OUTPUT; part++)
		CLAIM(kz_receipt_compare(claims, (enum kz_receipt_part)part, part ? "a.csv" : NULL,
					 "/dev/null", NULL) != KZ_E_SOFTWARE);
	if (!is_again) {
		CLAIM(kz_receipt_sign(&key, claims, &token, NULL) == KZ_OK);
		check_token(token.data, token.len, true);
	}
	kz_json_free(claims);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_RECEIPT_MAX);
	const char *p = (const char *)data;

	check_keys(p, size);
	check_token(p, size, false);
	if (kz_token_sign(&key, p, size, footer, KZ_RECEIPT_ASSERTION, &token, NULL) == KZ_OK)
		check_token(token.data, token.len, false);
	return 0;
}
