/*
 * Grants: claims that are read are written again byte for byte; a token that verifies is the one that
 * minting gives, and one with a byte changed never does [GRANT-10, INV-31].  The input is taken as a token, as
 * the claims of one (signed here), and when it is short as a change of a good one.
 */
#include <string.h>
#include <unistd.h>

#include "core/egress/grant.h"
#include "core/egress/grant_text.h"
#include "fuzz.h"
#include "port/seal-sign.h"

static struct kz_secret key = { .bytes = { 1, 2, 3 }, .is_set = true };
static struct kz_keyring *ring;
static char audience[KZ_AUDIENCE_TEXT];

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[] = "/tmp/kz-fuzz.XXXXXX", kid[KZ_PASERK_PID_TEXT], text[KZ_PASERK_PUBLIC_TEXT];
	struct kz_public public;
	int fd = mkstemp(path);

	(void)argc;
	(void)argv;
	CLAIM(fd >= 0 && kz_seal_init(NULL) == KZ_OK);
	kz_sign_public(&key, &public);
	kz_paserk_public(&public, text);
	kz_paserk_pid(&public, kid);
	CLAIM(dprintf(fd, "{\"v\":1,\"grant\":[{\"kid\":\"%s\",\"key\":\"%s\"}],\"receipt\":[]}",
		      kid, text) > 0);
	close(fd);
	CLAIM(kz_keyring_read(path, &ring, NULL) == KZ_OK);
	unlink(path);
	kz_grant_audience("d", audience);
	return 0;
}

/* Whatever verifies is what minting makes of its claims. */
static void check_token(const char *p, size_t n, int64_t now_s)
{
	kz_auto_buf struct kz_buf again = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g;

	if (kz_grant_verify(ring, audience, p, n, now_s, &g, NULL) != KZ_OK)
		return;
	CLAIM(kz_grant_is_sound(&g) && kz_scope_is_sound(&g.scope) &&
	      g.scope.mode != KZ_SCOPE_ISOLATED);
	CLAIM(g.expires_s > now_s && g.issued_s <= now_s + KZ_GRANT_SKEW_S);
	CLAIM(g.expires_s - g.issued_s <= KZ_GRANT_TTL_MOST);
	CLAIM(kz_grant_mint(&key, audience, &g, &again, NULL) == KZ_OK);
	CLAIM(again.len == n && memcmp(again.data, p, n) == 0);
}

static void check_claims(const char *p, size_t n)
{
	kz_auto_buf struct kz_buf again = KZ_BUF_INIT(1 << 20), token = KZ_BUF_INIT(1 << 20);
	char footer[KZ_FOOTER_TEXT], to[KZ_AUDIENCE_TEXT];
	struct kz_public public;
	struct kz_grant g;

	if (kz_grant_read(p, n, &g, to, NULL) != KZ_OK)
		return;
	CLAIM(kz_grant_is_sound(&g));
	CLAIM(kz_grant_write(to, &g, &again, NULL) == KZ_OK);
	CLAIM(again.len == n && memcmp(again.data, p, n) == 0);
	kz_sign_public(&key, &public);
	kz_key_footer(&public, footer);
	CLAIM(kz_token_sign(&key, p, n, footer, KZ_GRANT_ASSERTION, &token, NULL) == KZ_OK);
	check_token(token.data, token.len, g.issued_s);
}

static void check_change(size_t at, char change)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant
		g = { .scope = { .mode = KZ_SCOPE_PUBLIC_INTERNET,
				 .port_count = 1,
				 .ports = { 443 },
				 .ttl_s = 600 },
		      .execution = "0123456789abcdef0123456789abcdef",
		      .run = "0123456789abcdef0123456789abcdef",
		      .actor = "0123456789abcdef0123456789abcdef",
		      .worker = "w1",
		      .revision =
			      "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
		      .issued_s = 1790000000,
		      .expires_s = 1790000600 },
		got;

	CLAIM(kz_grant_mint(&key, audience, &g, &token, NULL) == KZ_OK);
	CLAIM(kz_grant_verify(ring, audience, token.data, token.len, g.issued_s, &got, NULL) ==
	      KZ_OK);
	if (!change)
		return;
	token.data[at % token.len] ^= change;
	CLAIM(kz_grant_verify(ring, audience, token.data, token.len, g.issued_s, &got, NULL) !=
	      KZ_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;

	if (size == 3)
		check_change((size_t)data[0] << 8 | data[1], (char)data[2]);
	check_token(p, size, 1790000000);
	check_claims(p, size);
	return 0;
}
