/*
 * Revocations and public keys: a payload that is taken is written again byte for byte, sorted, and what it lists is
 * found; a file of keys that is taken names each key by its own id [GRANT-13, PROXY-11].  The input is taken as a
 * file of revocations, as the payload of one (signed here), and as a file of keys.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/egress/revoked.h"
#include "fuzz.h"
#include "port/seal-sign.h"

static struct kz_secret key = { .bytes = { 1, 2, 3 }, .is_set = true };
static struct kz_public own;
static char footer[KZ_FOOTER_TEXT];
static struct kz_revoked revoked; /* too large for a stack */
static int keys_fd = -1;

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	CLAIM(kz_seal_init(NULL) == KZ_OK);
	kz_sign_public(&key, &own);
	kz_key_footer(&own, footer);
	keys_fd = memfd_create("keys", MFD_CLOEXEC);
	CLAIM(keys_fd >= 0);
	return 0;
}

static void check_taken(void)
{
	for (size_t i = 0; i < revoked.count; i++) {
		struct kz_grant g = { .issued_s = revoked.before_s };

		memcpy(g.execution, revoked.list[i].execution, sizeof(g.execution));
		CLAIM(kz_revoked_has(&revoked, &g));
		CLAIM(i == 0 ||
		      strcmp(revoked.list[i - 1].execution, revoked.list[i].execution) < 0);
	}
	CLAIM(revoked.serial >= 1 && revoked.count <= KZ_REVOKED_MOST);
}

static void check_payload(const char *p, size_t n)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(1 << 20), again = KZ_BUF_INIT(1 << 20);

	CLAIM(kz_token_sign(&key, p, n, footer, KZ_REVOCATION_ASSERTION, &token, NULL) == KZ_OK);
	if (!kz_revoked_take(&own, token.data, token.len, &revoked))
		return;
	check_taken();
	CLAIM(kz_revoked_write(&revoked, &again, NULL) == KZ_OK);
	CLAIM(again.len == n && memcmp(again.data, p, n) == 0);
}

static void check_keys(const char *p, size_t n)
{
	struct kz_keyring *ring = NULL;
	char path[64], kid[KZ_KID_TEXT], text[KZ_PASERK_PUBLIC_TEXT], again[KZ_PASERK_PID_TEXT];
	struct kz_public public;

	CLAIM(ftruncate(keys_fd, 0) == 0 && pwrite(keys_fd, p, n, 0) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", keys_fd);
	if (kz_keyring_read(path, &ring, NULL) != KZ_OK)
		return;
	for (int use = KZ_KEY_USE_GRANT; use <= KZ_KEY_USE_RECEIPT; use++)
		for (size_t i = 0; kz_keyring_key(ring, (enum kz_key_use)use, i, kid, text); i++) {
			CLAIM(kz_paserk_parse(text, &public, NULL) == KZ_OK);
			kz_paserk_pid(&public, again);
			CLAIM(strcmp(kid, again) == 0);
		}
	kz_keyring_free(ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;

	if (kz_revoked_take(&own, p, size, &revoked))
		check_taken();
	check_payload(p, size);
	check_keys(p, size);
	return 0;
}
