/*
 * What grants cost, as ratios against libsodium's bare operations on the same bytes.  Prints JSON lines:
 *
 *   grant.verify   p50 of verifying a grant ÷ p50 of a bare Ed25519 verify of the message that was signed
 *   grant.mint     p50 of minting a grant ÷ p50 of a bare Ed25519 signature
 *
 * usage: grant [ROUNDS]
 *        grant -m COUNT STATE   make the keys of a state directory (what is there stays) and print COUNT
 *                               grants for the public internet as values of Proxy-Authorization
 */
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/time.h"
#include "core/conf/conf.h"
#include "core/conf/keys.h"
#include "core/conf/public.h"
#include "core/egress/grant.h"
#include "core/egress/revoke.h"
#include "port/seal-sign.h"

#define BATCH 8 /* operations between two readings of the clock */

static char audience[KZ_AUDIENCE_TEXT];
static char made[] = "/tmp/kzb.XXXXXX"; /* a state directory that goes with the program */
static bool is_made;
static struct kz_secret key;

static void must(enum kz_rc rc, struct kz_err *err, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "grant: %s: %s %s\n", what, err->reason, err->text);
	exit(kz_rc_status(rc));
}

static void clean(void)
{
	if (is_made)
		(void)kz_tree_remove(AT_FDCWD, made, NULL);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double p50_us(int64_t *ns, size_t n)
{
	qsort(ns, n, sizeof(*ns), by_value);
	return (double)ns[n / 2] / 1e3 / BATCH;
}

static void use_state(const char *state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_conf conf;
	char path[300];

	snprintf(path, sizeof(path), "%s/env", state);
	if (mkdir(path, 0755) && access(path, X_OK)) {
		perror(path);
		exit(73);
	}
	must(kz_keys_make(state, (gid_t)-1, &err), &err, "keys");
	must(kz_public_write(state, &err), &err, "public keys");
	must(kz_keys_read(state, KZ_KEY_GRANT, &key, &err), &err, "grant key");
	must(kz_revoke(state, &key, NULL, 0, kz_time_wall_ms(), NULL, &err), &err, "revocations");
	must(kz_conf_load(&conf, state, &err), &err, "settings");
	kz_grant_audience(conf.set.kz_deployment_id, audience);
}

/* A grant as a run on the packaged policy has it. */
static struct kz_grant fresh(void)
{
	struct kz_grant g = {
		.scope = { .mode = KZ_SCOPE_PUBLIC_INTERNET,
			   .port_count = 2,
			   .ports = { 80, 443 },
			   .ttl_s = 3600 },
		.worker = "w-bench",
		.issued_s = kz_time_wall_ms() / 1000,
	};

	g.expires_s = g.issued_s + g.scope.ttl_s;
	kz_random_id(g.execution);
	kz_random_id(g.run);
	kz_random_id(g.actor);
	kz_sha256_hex("bench", 5, g.revision);
	return g;
}

static void mint(struct kz_buf *token)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_grant g = fresh();

	kz_buf_clear(token);
	must(kz_grant_mint(&key, audience, &g, token, &err), &err, "mint");
}

static int print_tokens(int64_t count, const char *state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	char user[KZ_GRANT_MAX + 16], text[(KZ_GRANT_MAX + 16) * 4 / 3 + 8];

	use_state(state);
	for (int64_t i = 0; i < count; i++) {
		mint(&token);
		snprintf(user, sizeof(user), "grant:%s", kz_buf_str(&token));
		sodium_bin2base64(text, sizeof(text), (const unsigned char *)user, strlen(user),
				  sodium_base64_VARIANT_ORIGINAL);
		printf("Basic %s\n", text);
	}
	return fflush(stdout) ? 74 : 0;
}

/* One of each in turn, so that the machine's mood hits both alike. */
static void bench_verify(size_t rounds, const char *state)
{
	kz_auto_free int64_t *whole = calloc(rounds, sizeof(*whole));
	kz_auto_free int64_t *bare = calloc(rounds, sizeof(*bare));
	kz_auto_keyring struct kz_keyring *ring = NULL;
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_err err = KZ_ERR_INIT;
	unsigned char message[KZ_GRANT_MAX], signature[crypto_sign_BYTES];
	unsigned char public[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
	int64_t now = kz_time_wall_ms() / 1000;
	size_t n;
	char path[300];
	struct kz_grant g;
	double a, b;

	mint(&token);
	snprintf(path, sizeof(path), "%s/%s", state, KZ_PUBLIC_KEYS);
	must(kz_keyring_read(path, &ring, &err), &err, path);
	/* base64 and the dots go, the lengths of the encoding come: about as many bytes as were signed */
	n = token.len * 3 / 4;
	randombytes_buf(message, n);
	crypto_sign_seed_keypair(public, secret, key.bytes);
	crypto_sign_detached(signature, NULL, message, n, secret);
	for (size_t i = 0; whole && bare && i < rounds; i++) {
		int64_t t0 = now_ns(), t1;

		for (int k = 0; k < BATCH; k++)
			must(kz_grant_verify(ring, audience, token.data, token.len, now, &g, &err),
			     &err, "verify");
		t1 = now_ns();
		for (int k = 0; k < BATCH; k++)
			if (crypto_sign_verify_detached(signature, message, n, public))
				exit(70);
		whole[i] = t1 - t0;
		bare[i] = now_ns() - t1;
	}
	a = p50_us(whole, rounds);
	b = p50_us(bare, rounds);
	printf("{\"v\":1,\"type\":\"bench\",\"row\":\"grant.verify\",\"token_bytes\":%zu,\"p50_us\":%.1f,\"bare_p50_us\":%.1f,\"ratio\":%.2f,\"goal\":1.15}\n",
	       token.len, a, b, a / b);
}

static void bench_mint(size_t rounds)
{
	kz_auto_free int64_t *whole = calloc(rounds, sizeof(*whole));
	kz_auto_free int64_t *bare = calloc(rounds, sizeof(*bare));
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	unsigned char message[1024] = { 0 }, signature[crypto_sign_BYTES];
	unsigned char public[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
	double a, b;

	crypto_sign_seed_keypair(public, secret, key.bytes);
	for (size_t i = 0; whole && bare && i < rounds; i++) {
		int64_t t0 = now_ns(), t1;

		for (int k = 0; k < BATCH; k++)
			mint(&token);
		t1 = now_ns();
		for (int k = 0; k < BATCH; k++)
			crypto_sign_detached(signature, NULL, message, token.len * 3 / 4, secret);
		whole[i] = t1 - t0;
		bare[i] = now_ns() - t1;
	}
	a = p50_us(whole, rounds);
	b = p50_us(bare, rounds);
	printf("{\"v\":1,\"type\":\"bench\",\"row\":\"grant.mint\",\"p50_us\":%.1f,\"bare_p50_us\":%.1f,\"ratio\":%.2f,\"goal\":null}\n",
	       a, b, a / b);
}

int main(int argc, char **argv)
{
	struct kz_err err = KZ_ERR_INIT;
	int64_t n = 400;

	setvbuf(stdout, NULL, _IOLBF, 0);
	must(kz_seal_init(&err), &err, "random numbers");
	if (argc == 4 && kz_str_eq(argv[1], "-m") && !kz_str_int(argv[2], 1, 100000, &n, &err))
		return print_tokens(n, argv[3]);
	if (argc > 2 || (argc == 2 && kz_str_int(argv[1], 10, 1000000, &n, &err))) {
		fprintf(stderr, "usage: grant [ROUNDS] | grant -m COUNT STATE\n");
		return 64;
	}
	if (atexit(clean) || !mkdtemp(made))
		return 73;
	is_made = true;
	use_state(made);
	bench_verify((size_t)n, made);
	bench_mint((size_t)n);
	return 0;
}
