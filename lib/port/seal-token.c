/* v4.public tokens: form, verification and the texts of public keys. */
#include "port/seal-token.h"

#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"

#define HEADER_BYTES (sizeof(KZ_TOKEN_HEADER) - 1)
#define PID_HASH_BYTES 33
#define BASE64 sodium_base64_VARIANT_URLSAFE_NO_PADDING

_Static_assert(crypto_sign_PUBLICKEYBYTES == KZ_PUBLIC_BYTES, "Ed25519 keys have 32 bytes");
_Static_assert(crypto_sign_BYTES == KZ_SIGNATURE_BYTES, "Ed25519 signatures have 64 bytes");
_Static_assert(sodium_base64_ENCODED_LEN(KZ_PUBLIC_BYTES, BASE64) + 10 == KZ_PASERK_PUBLIC_TEXT,
	       "k4.public");
_Static_assert(sodium_base64_ENCODED_LEN(PID_HASH_BYTES, BASE64) + 7 == KZ_PASERK_PID_TEXT,
	       "k4.pid");

static enum kz_rc not_a_token(struct kz_err *err)
{
	return kz_err_set(err, KZ_E_DATA, "not a v4.public token");
}

/*
 * Replace what is in out by the bytes that text[0..n) spells in its one form.
 * Tokens are no secret from who presents them, so decoding need not take constant time:
 * the library's does, which costs a tenth of a signature, and 1.0.18 takes every byte from
 * 0x80 on for a digit.
 */
static enum kz_rc decode(const char *text, size_t n, struct kz_buf *out, struct kz_err *err)
{
	kz_auto_free unsigned char *bytes = malloc(n + 1);
	size_t len = 0;

	kz_buf_clear(out);
	if (!bytes)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	if (!kz_base64_decode(KZ_BASE64_URL, text, n, bytes, n + 1, &len))
		return not_a_token(err);
	return kz_buf_add(out, bytes, len, err);
}

/* Where body and footer lie; no footer: footer is NULL. */
struct parts {
	const char *body, *footer;
	size_t body_len, footer_len;
};

static enum kz_rc split(const char *p, size_t n, struct parts *out, struct kz_err *err)
{
	const char *dot;

	if (n <= HEADER_BYTES || memcmp(p, KZ_TOKEN_HEADER, HEADER_BYTES) != 0)
		return not_a_token(err);
	out->body = p + HEADER_BYTES;
	out->body_len = n - HEADER_BYTES;
	out->footer = NULL;
	out->footer_len = 0;
	dot = memchr(out->body, '.', out->body_len);
	if (!dot)
		return KZ_OK;
	out->footer = dot + 1;
	out->footer_len = out->body_len - (size_t)(dot - out->body) - 1;
	out->body_len = (size_t)(dot - out->body);
	return out->footer_len > 0 ? KZ_OK : not_a_token(err);
}

static enum kz_rc decode_footer(const struct parts *t, struct kz_buf *footer, struct kz_err *err)
{
	kz_buf_clear(footer);
	return t->footer ? decode(t->footer, t->footer_len, footer, err) : KZ_OK;
}

enum kz_rc kz_token_footer(const char *p, size_t n, struct kz_buf *footer, struct kz_err *err)
{
	struct parts t;
	enum kz_rc rc = split(p, n, &t, err);

	kz_buf_clear(footer);
	return rc ? rc : decode_footer(&t, footer, err);
}

static enum kz_rc add_piece(struct kz_buf *out, const void *p, size_t n, struct kz_err *err)
{
	unsigned char len[8];
	enum kz_rc rc;

	for (size_t i = 0; i < sizeof(len); i++)
		len[i] = (unsigned char)((uint64_t)n >> (8 * i));
	rc = kz_buf_add(out, len, sizeof(len), err);
	return rc ? rc : kz_buf_add(out, p, n, err);
}

static enum kz_rc message(const void *payload, size_t n, const void *footer, size_t footer_len,
			  const char *implicit, struct kz_buf *out, struct kz_err *err)
{
	static const unsigned char pieces[8] = { 4 };
	enum kz_rc rc = kz_buf_add(out, pieces, sizeof(pieces), err);

	if (!rc)
		rc = add_piece(out, KZ_TOKEN_HEADER, HEADER_BYTES, err);
	if (!rc)
		rc = add_piece(out, payload, n, err);
	if (!rc)
		rc = add_piece(out, footer, footer_len, err);
	return rc ? rc : add_piece(out, implicit, strlen(implicit), err);
}

enum kz_rc kz_token_message(const void *payload, size_t n, const char *footer, const char *implicit,
			    struct kz_buf *out, struct kz_err *err)
{
	return message(payload, n, footer, strlen(footer), implicit, out, err);
}

enum kz_rc kz_token_base64(const void *p, size_t n, struct kz_buf *out, struct kz_err *err)
{
	size_t size = sodium_base64_encoded_len(n, BASE64);
	kz_auto_free char *text = malloc(size);

	if (!text)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	sodium_bin2base64(text, size, p, n, BASE64);
	return kz_buf_add(out, text, size - 1, err);
}

enum kz_rc kz_token_verify(const struct kz_public *key, const char *implicit, const char *p,
			   size_t n, struct kz_buf *payload, struct kz_err *err)
{
	kz_auto_buf struct kz_buf body = KZ_BUF_INIT(n + 1);
	kz_auto_buf struct kz_buf footer = KZ_BUF_INIT(n + 1);
	kz_auto_buf struct kz_buf signed_bytes = KZ_BUF_INIT(2 * n + strlen(implicit) + 64);
	struct parts t;
	size_t len;
	enum kz_rc rc = split(p, n, &t, err);

	kz_buf_clear(payload);
	if (!rc)
		rc = decode(t.body, t.body_len, &body, err);
	if (!rc)
		rc = decode_footer(&t, &footer, err);
	if (rc)
		return rc;
	if (body.len < KZ_SIGNATURE_BYTES)
		return not_a_token(err);
	len = body.len - KZ_SIGNATURE_BYTES;
	rc = message(body.data, len, footer.data, footer.len, implicit, &signed_bytes, err);
	if (rc)
		return rc;
	if (crypto_sign_ed25519_verify_detached((const unsigned char *)body.data + len,
						(const unsigned char *)signed_bytes.data,
						signed_bytes.len, key->bytes) != 0)
		return kz_err_set(err, KZ_E_NO, "the signature does not verify");
	return kz_buf_add(payload, body.data, len, err);
}

enum kz_rc kz_token_payload_unverified(const char *p, size_t n, struct kz_buf *payload,
				       struct kz_err *err)
{
	kz_auto_buf struct kz_buf body = KZ_BUF_INIT(n + 1);
	struct parts t;
	enum kz_rc rc = split(p, n, &t, err);

	kz_buf_clear(payload);
	if (!rc)
		rc = decode(t.body, t.body_len, &body, err);
	if (rc)
		return rc;
	if (body.len < KZ_SIGNATURE_BYTES)
		return not_a_token(err);
	return kz_buf_add(payload, body.data, body.len - KZ_SIGNATURE_BYTES, err);
}

void kz_paserk_public(const struct kz_public *key, char out[KZ_PASERK_PUBLIC_TEXT])
{
	memcpy(out, "k4.public.", 10);
	sodium_bin2base64(out + 10, KZ_PASERK_PUBLIC_TEXT - 10, key->bytes, sizeof(key->bytes),
			  BASE64);
}

enum kz_rc kz_paserk_parse(const char *text, struct kz_public *out, struct kz_err *err)
{
	size_t len = 0;

	if (strncmp(text, "k4.public.", 10) != 0 ||
	    !kz_base64_decode(KZ_BASE64_URL, text + 10, strlen(text + 10), out->bytes,
			      sizeof(out->bytes), &len) ||
	    len != sizeof(out->bytes))
		return kz_err_set(err, KZ_E_DATA, "not a k4.public key");
	return KZ_OK;
}

void kz_paserk_pid(const struct kz_public *key, char out[KZ_PASERK_PID_TEXT])
{
	unsigned char hash[PID_HASH_BYTES];
	char text[KZ_PASERK_PUBLIC_TEXT];
	crypto_generichash_state st;

	kz_paserk_public(key, text);
	crypto_generichash_init(&st, NULL, 0, sizeof(hash));
	crypto_generichash_update(&st, (const unsigned char *)"k4.pid.", 7);
	crypto_generichash_update(&st, (const unsigned char *)text, strlen(text));
	crypto_generichash_final(&st, hash, sizeof(hash));
	memcpy(out, "k4.pid.", 7);
	sodium_bin2base64(out + 7, KZ_PASERK_PID_TEXT - 7, hash, sizeof(hash), BASE64);
}
