/* core/conf: the state directory, settings, keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/conf/conf.h"
#include "core/conf/keys.h"
#include "core/conf/public.h"
#include "port/seal-sign.h"

static char state_dir[64];

static int setup(void **state)
{
	char path[128];

	(void)state;
	kz_str_copy(state_dir, sizeof(state_dir), "/tmp/kz-unit.XXXXXX", NULL);
	if (!mkdtemp(state_dir))
		return -1;
	snprintf(path, sizeof(path), "%s/env", state_dir);
	return mkdir(path, 0700);
}

static int teardown(void **state)
{
	(void)state;
	return kz_tree_remove(AT_FDCWD, state_dir, NULL);
}

static void put(const char *name, const char *content, size_t n)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/env/%s", state_dir, name);
	assert_int_equal(kz_file_replace(AT_FDCWD, path, content, n, 0600, (gid_t)-1, NULL), KZ_OK);
}

static void refused(const char *name, const char *content, const char *reason)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_conf c;
	char path[256];

	put(name, content, strlen(content));
	assert_int_not_equal(kz_conf_load(&c, state_dir, &err), KZ_OK);
	assert_string_equal(err.reason, reason);
	assert_non_null(strstr(err.text, name));
	snprintf(path, sizeof(path), "%s/env/%s", state_dir, name);
	assert_int_equal(unlink(path), 0);
}

static void pool8_defaults_make_sense(void **state)
{
	struct kz_conf c;
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	assert_int_equal(kz_conf_load(&c, state_dir, &err), KZ_OK);
	assert_int_equal(c.set.sandbox_warm_pool_min, 3);
	assert_string_equal(c.state, state_dir);
}

static void pool8_nonsense_is_named(void **state)
{
	(void)state;
	refused("SANDBOX_WARM_POOL_MIN", "33\n", "setting_invalid");
	refused("SANDBOX_WARM_POOL_MIN", "-1\n", "setting_invalid");
	refused("SANDBOX_WARM_POOL_MIN", "three\n", "setting_invalid");
	refused("SANDBOX_WARM_POOL_MIN", "\n", "setting_invalid");
	refused("SANDBOX_WARM_POOL_MIN", "3 \n", "setting_invalid");
	refused("SANDBOX_WARM_POOL_MIN", "3\n\n", "setting_invalid");
	refused("SANDBOX_WARM_POOL_MIN", "99999999999999999999\n", "setting_invalid");
	refused("SANDBOX_LEASE_TTL_SECONDS", "100\n", "setting_invalid");
	refused("SANDBOX_POOL_TARGET_IDLE", "100\n", "setting_invalid");
	refused("KZ_NODE", "Upper\n", "setting_invalid");
	refused("KZ_NODE", "a\x1b[2J\n", "setting_invalid");
	put("SANDBOX_POOL_MAX_ALLOCATED", "4096\n", 5);
	refused("KZ_UID_BASE", "4026531840\n", "setting_invalid");
	refused("SANDBOX_WARM_POOL_MINIMUM", "3\n", "setting_unknown");
	refused("KZ_VALKEY_URL", "valkeys://h:1\n", "url_unsupported");
}

static void pool8_what_is_not_ours_is_left_alone(void **state)
{
	struct kz_conf c;

	(void)state;
	put("PATH", "/bin\n", 5);
	put("KZ_STATE", "/elsewhere\n", 11);
	put(".KZ_NODE", "Upper\n", 6);
	assert_int_equal(kz_conf_load(&c, state_dir, NULL), KZ_OK);
	assert_string_equal(c.state, state_dir);
}

static void dep15_files_count_and_the_environment_does_not(void **state)
{
	struct kz_conf c;

	(void)state;
	setenv("SANDBOX_WARM_POOL_MIN", "7", 1);
	put("SANDBOX_POOL_TARGET_IDLE", "5", 1);
	put("SANDBOX_ACQUIRE_WAIT_SECONDS", "", 0);
	put("KZ_GROUP", "\n", 1);
	assert_int_equal(kz_conf_load(&c, state_dir, NULL), KZ_OK);
	unsetenv("SANDBOX_WARM_POOL_MIN");
	assert_int_equal(c.set.sandbox_warm_pool_min, 3);
	assert_int_equal(c.set.sandbox_pool_target_idle, 5);
	assert_int_equal(c.set.sandbox_acquire_wait_seconds, 30);
	assert_string_equal(c.set.kz_group, "");
}

static void hostile_values_are_refused_whole(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_conf c;
	char *huge = malloc(100000);

	(void)state;
	memset(huge, '1', 100000);
	put("KZ_NODE", huge, 100000);
	assert_int_equal(kz_conf_load(&c, state_dir, &err), KZ_E_CONFIG);
	assert_string_equal(err.reason, "setting_invalid");
	put("KZ_NODE", "a\0b", 3);
	assert_int_equal(kz_conf_load(&c, state_dir, &err), KZ_E_CONFIG);
	put("KZ_NODE", "a\xff", 2);
	assert_int_equal(kz_conf_load(&c, state_dir, &err), KZ_E_CONFIG);
	free(huge);
}

static void store_checks_before_it_writes(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_conf c;

	(void)state;
	assert_int_equal(kz_conf_store(state_dir, "SANDBOX_WARM_POOL_MIN", "33", &err),
			 KZ_E_CONFIG);
	assert_int_equal(kz_conf_store(state_dir, "NO_SUCH", "1", &err), KZ_E_CONFIG);
	assert_string_equal(err.reason, "setting_unknown");
	assert_int_equal(kz_conf_store(state_dir, "../field.key", "1", &err), KZ_E_CONFIG);
	assert_int_equal(kz_conf_store(state_dir, "KZ_NODE", "a\nb", &err), KZ_E_CONFIG);
	assert_int_equal(kz_conf_load(&c, state_dir, NULL), KZ_OK);
	assert_int_equal(kz_conf_store(state_dir, "SANDBOX_WARM_POOL_MIN", "4", &err), KZ_OK);
	assert_int_equal(kz_conf_load(&c, state_dir, NULL), KZ_OK);
	assert_int_equal(c.set.sandbox_warm_pool_min, 4);
}

static void store_can_mend_a_wrong_set(void **state)
{
	struct kz_conf c;

	(void)state;
	put("SANDBOX_WARM_POOL_MIN", "x\n", 2);
	assert_int_not_equal(kz_conf_load(&c, state_dir, NULL), KZ_OK);
	assert_int_equal(kz_conf_store(state_dir, "SANDBOX_WARM_POOL_MIN", "2", NULL), KZ_OK);
	assert_int_equal(kz_conf_load(&c, state_dir, NULL), KZ_OK);
}

static void store_by_many_at_once_never_makes_a_wrong_set(void **state)
{
	struct kz_conf c;
	int status;

	(void)state;
	/* Each is right beside the defaults; both together would not be. */
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			kz_conf_store(state_dir,
				      i % 2 ? "SANDBOX_WARM_POOL_MIN" :
					      "SANDBOX_POOL_MAX_ALLOCATED",
				      i % 2 ? "20" : "10", NULL);
			_exit(0);
		}
	while (wait(&status) > 0)
		assert_int_equal(status, 0);
	assert_int_equal(kz_conf_load(&c, state_dir, NULL), KZ_OK);
}

static void every_setting_goes_to_text_and_back(void **state)
{
	struct kz_settings s;

	(void)state;
	kz_settings_default(&s);
	for (int i = 0; i < KZ_SETTING_COUNT; i++) {
		kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1000);

		assert_int_equal(kz_conf_get(&s, kz_setting_table[i].name, &b, NULL), KZ_OK);
		assert_string_equal(kz_buf_str(&b), kz_setting_table[i].default_text);
		assert_int_equal(kz_conf_set(&s, kz_setting_table[i].name, kz_buf_str(&b), NULL),
				 KZ_OK);
	}
	assert_int_equal(kz_conf_check(&s, NULL), KZ_OK);
}

static void not_running_and_wrong_places_are_told(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_conf c;
	char longest[400], out[256];

	(void)state;
	assert_int_equal(kz_conf_load(&c, "/nonexistent/kz", &err), KZ_E_UNAVAILABLE);
	assert_string_equal(err.reason, "not_running");
	assert_non_null(strstr(err.text, "kz up"));
	assert_int_equal(kz_conf_load(&c, "relative", &err), KZ_E_CONFIG);
	assert_int_equal(kz_conf_load(&c, "/", &err), KZ_E_CONFIG);
	assert_int_equal(kz_conf_load(&c, "", &err), KZ_E_CONFIG);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(kz_conf_load(&c, longest, &err), KZ_E_CONFIG);
	setenv("KZ_STATE", "/x/y//", 1);
	assert_int_equal(kz_conf_state(out, NULL), KZ_OK);
	assert_string_equal(out, "/x/y");
	setenv("KZ_STATE", "x", 1);
	assert_int_equal(kz_conf_state(out, NULL), KZ_E_CONFIG);
	unsetenv("KZ_STATE");
}

static void valkey_urls(void **state)
{
	static const struct {
		const char *url, *reason;
	} cases[] = {
		{ "unix:/run/v.sock", "" },
		{ "valkey://localhost:6379", "" },
		{ "valkey://[::1]:6379", "" },
		{ "unix:relative", "setting_invalid" },
		{ "valkey://h", "url_unsupported" },
		{ "valkey://h:0", "url_unsupported" },
		{ "valkey://h:65536", "url_unsupported" },
		{ "valkey://:6379", "url_unsupported" },
		{ "valkey://u:secret@h:1", "url_unsupported" },
		{ "valkey://h:1/0", "url_unsupported" },
		{ "valkey://::1:6379", "url_unsupported" },
		{ "valkey://[::1:6379", "url_unsupported" },
		{ "valkey://a:1,b:2", "url_unsupported" },
		{ "valkeys://h:1", "url_unsupported" },
		{ "redis://h:1", "url_unsupported" },
		{ "valkey-sentinel://h:1", "url_unsupported" },
		{ "nonsense", "url_unsupported" },
	};
	struct kz_conf c = { .state = "/s" };
	char out[300];

	(void)state;
	assert_int_equal(kz_conf_valkey_url(&c, out, sizeof(out), NULL), KZ_OK);
	assert_string_equal(out, "unix:/s/run/valkey.sock");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kz_err err = KZ_ERR_INIT;

		kz_str_copy(c.set.kz_valkey_url, sizeof(c.set.kz_valkey_url), cases[i].url, NULL);
		kz_conf_valkey_url(&c, out, sizeof(out), &err);
		assert_string_equal(err.reason, cases[i].reason);
		assert_null(strstr(err.text, "secret"));
	}
}

static mode_t mode_of(const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/keys/%s", state_dir, name);
	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void keys_are_made_once_with_their_modes(void **state)
{
	struct kz_secret a, b;

	(void)state;
	assert_int_equal(kz_keys_make(state_dir, (gid_t)-1, NULL), KZ_OK);
	assert_int_equal(mode_of("field.key"), 0600);
	assert_int_equal(mode_of("worker.key"), 0640);
	assert_int_equal(mode_of("grant.key"), 0640);
	assert_int_equal(mode_of("receipt.key"), 0640);
	assert_int_equal(mode_of("package.key"), 0640);
	assert_int_equal(mode_of("identity.key"), 0640);
	for (int k = KZ_KEY_FIELD; k <= KZ_KEY_IDENTITY; k++) {
		assert_int_equal(kz_keys_read(state_dir, (enum kz_key)k, &a, NULL), KZ_OK);
		assert_int_equal(kz_keys_make(state_dir, (gid_t)-1, NULL), KZ_OK);
		assert_int_equal(kz_keys_read(state_dir, (enum kz_key)k, &b, NULL), KZ_OK);
		assert_true(kz_equal(a.bytes, b.bytes, KZ_KEY_BYTES));
	}
}

static void keys_rotation_leaves_identifiers_alone(void **state)
{
	struct kz_secret before[KZ_KEY_IDENTITY + 1], after[KZ_KEY_IDENTITY + 1];
	char a[KZ_ID_HEX], b[KZ_ID_HEX];

	(void)state;
	assert_int_equal(kz_keys_make(state_dir, (gid_t)-1, NULL), KZ_OK);
	for (int k = 0; k <= KZ_KEY_IDENTITY; k++)
		assert_int_equal(kz_keys_read(state_dir, (enum kz_key)k, &before[k], NULL), KZ_OK);
	assert_int_equal(kz_keys_rotate(state_dir, (gid_t)-1, NULL), KZ_OK);
	for (int k = 0; k <= KZ_KEY_IDENTITY; k++) {
		assert_int_equal(kz_keys_read(state_dir, (enum kz_key)k, &after[k], NULL), KZ_OK);
		assert_int_equal(kz_equal(before[k].bytes, after[k].bytes, KZ_KEY_BYTES),
				 k == KZ_KEY_IDENTITY);
	}
	kz_conversation_id(&before[KZ_KEY_IDENTITY], "a", "c", a);
	kz_conversation_id(&after[KZ_KEY_IDENTITY], "a", "c", b);
	assert_string_equal(a, b);
}

static void read_public(struct kz_buf *out)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/public/keys.json", state_dir);
	kz_buf_clear(out);
	assert_int_equal(kz_file_read(AT_FDCWD, path, out, NULL), KZ_OK);
}

/* What stands in the public file is the public half of a private key, and a rotation changes it. */
static void grant_6_public_halves_are_written_for_everybody(void **state)
{
	static const enum kz_key keys[] = { KZ_KEY_GRANT, KZ_KEY_RECEIPT };
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4096);
	kz_auto_buf struct kz_buf former = KZ_BUF_INIT(4096);
	char path[128], text[KZ_PASERK_PUBLIC_TEXT], kid[KZ_PASERK_PID_TEXT], want[256];
	struct kz_err err = KZ_ERR_INIT;
	struct kz_secret seed;
	struct kz_public key;
	struct stat st;

	(void)state;
	assert_int_equal(kz_public_write(state_dir, &err), KZ_E_CONFIG);
	assert_string_equal(err.reason, "key_missing");
	assert_int_equal(kz_keys_make(state_dir, (gid_t)-1, NULL), KZ_OK);
	assert_int_equal(kz_public_write(state_dir, NULL), KZ_OK);
	read_public(&b);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(kz_keys_read(state_dir, keys[i], &seed, NULL), KZ_OK);
		kz_sign_public(&seed, &key);
		kz_paserk_public(&key, text);
		kz_paserk_pid(&key, kid);
		snprintf(want, sizeof(want), "\"%s\":[{\"kid\":\"%s\",\"key\":\"%s\"}]",
			 i ? "receipt" : "grant", kid, text);
		assert_non_null(strstr(kz_buf_str(&b), want));
		kz_hex_encode(seed.bytes, sizeof(seed.bytes), want);
		assert_null(strstr(kz_buf_str(&b), want));
	}
	snprintf(path, sizeof(path), "%s/public", state_dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	snprintf(path, sizeof(path), "%s/public/keys.json", state_dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	/* Nothing is written when nothing changed. */
	ino_t inode = st.st_ino;

	assert_int_equal(kz_public_write(state_dir, NULL), KZ_OK);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_ino == inode);
	assert_int_equal(kz_keys_rotate(state_dir, (gid_t)-1, NULL), KZ_OK);
	assert_int_equal(kz_public_write(state_dir, NULL), KZ_OK);
	assert_int_equal(kz_buf_add(&former, b.data, b.len, NULL), KZ_OK);
	read_public(&b);
	assert_string_not_equal(kz_buf_str(&b), kz_buf_str(&former));
}

/* POL-9, POL-10: what the policy says never stops kz, has no default, and is told as it is. */
static void pol_9_the_policy_is_text_without_a_default(void **state)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(8192);
	kz_auto_buf struct kz_buf huge = KZ_BUF_INIT(100000);
	struct kz_err err = KZ_ERR_INIT;
	struct kz_conf c;
	bool is_set = true;

	(void)state;
	assert_int_equal(kz_conf_policy(state_dir, "SANDBOX_EGRESS_MODE", &b, &is_set, NULL),
			 KZ_OK);
	assert_false(is_set);
	put("SANDBOX_EGRESS_MODE", "", 0);
	assert_int_equal(kz_conf_policy(state_dir, "SANDBOX_EGRESS_MODE", &b, &is_set, NULL),
			 KZ_OK);
	assert_false(is_set);
	put("SANDBOX_EGRESS_MODE", "no such mode\x1b\n", 14);
	put("KZ_EGRESS_DENY_CIDRS", "a\0b", 3);
	for (int i = 0; i < 9000; i++)
		assert_int_equal(kz_buf_puts(&huge, "1,", NULL), KZ_OK);
	put("SANDBOX_EGRESS_ALLOWED_PORTS", huge.data, huge.len);
	assert_int_equal(kz_conf_load(&c, state_dir, &err), KZ_OK);
	assert_int_equal(kz_conf_text(&c, "SANDBOX_EGRESS_MODE", &b, NULL), KZ_OK);
	assert_string_equal(kz_buf_str(&b), "no such mode\x1b");
	assert_int_equal(kz_conf_policy(state_dir, "KZ_EGRESS_DENY_CIDRS", &b, &is_set, &err),
			 KZ_E_CONFIG);
	assert_string_equal(err.reason, "setting_invalid");
	assert_int_equal(
		kz_conf_policy(state_dir, "SANDBOX_EGRESS_ALLOWED_PORTS", &b, &is_set, NULL),
		KZ_E_CONFIG);
	/* Any text of one line can be stored; what could not be told again cannot. */
	assert_int_equal(
		kz_conf_store(state_dir, "SANDBOX_EGRESS_MODE", "nonsense, of course", NULL),
		KZ_OK);
	assert_int_equal(kz_conf_store(state_dir, "SANDBOX_EGRESS_MODE", "a\nb", &err),
			 KZ_E_CONFIG);
	assert_int_equal(kz_conf_store(state_dir, "SANDBOX_EGRESS_ALLOWED_PORTS", huge.data, &err),
			 KZ_E_CONFIG);
}

static void spoil(const char *name, const char *content, mode_t mode)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/keys/%s", state_dir, name);
	assert_int_equal(
		kz_file_replace(AT_FDCWD, path, content, strlen(content), mode, (gid_t)-1, NULL),
		KZ_OK);
}

static void keys_that_are_wrong_are_refused_and_never_replaced(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_secret s;
	char hex[66] = "";

	(void)state;
	assert_int_equal(kz_keys_read(state_dir, KZ_KEY_FIELD, &s, &err), KZ_E_CONFIG);
	assert_string_equal(err.reason, "key_missing");
	assert_int_equal(kz_keys_make(state_dir, (gid_t)-1, NULL), KZ_OK);
	spoil("field.key", "canary\n", 0600);
	assert_int_equal(kz_keys_read(state_dir, KZ_KEY_FIELD, &s, &err), KZ_E_CONFIG);
	assert_string_equal(err.reason, "key_invalid");
	assert_null(strstr(err.text, "canary"));
	assert_int_equal(kz_keys_make(state_dir, (gid_t)-1, &err), KZ_E_CONFIG);
	assert_string_equal(err.reason, "key_invalid");
	memset(hex, '0', 64);
	spoil("field.key", hex, 0604);
	assert_int_equal(kz_keys_read(state_dir, KZ_KEY_FIELD, &s, &err), KZ_E_CONFIG);
	spoil("field.key", hex, 0600);
	assert_int_equal(kz_keys_read(state_dir, KZ_KEY_FIELD, &s, NULL), KZ_OK);
	hex[64] = '0';
	spoil("field.key", hex, 0600);
	assert_int_equal(kz_keys_read(state_dir, KZ_KEY_FIELD, &s, &err), KZ_E_CONFIG);
	spoil("identity.key", "", 0640);
	assert_int_equal(kz_keys_rotate(state_dir, (gid_t)-1, &err), KZ_E_CONFIG);
}

static void worker_secrets_differ_by_name_and_instance(void **state)
{
	struct kz_secret k = { .is_set = true };
	char a[65], b[65];

	(void)state;
	kz_worker_secret(&k, "w1", "i1", a);
	kz_worker_secret(&k, "w1", "i1", b);
	assert_string_equal(a, b);
	kz_worker_secret(&k, "w1", "i2", b);
	assert_string_not_equal(a, b);
	kz_worker_secret(&k, "w2", "i1", b);
	assert_string_not_equal(a, b);
	kz_worker_secret(&k, "w1i", "1", b);
	assert_string_not_equal(a, b);
}

#define FRESH(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRESH(pool8_defaults_make_sense),
		FRESH(pool8_nonsense_is_named),
		FRESH(pool8_what_is_not_ours_is_left_alone),
		FRESH(dep15_files_count_and_the_environment_does_not),
		FRESH(hostile_values_are_refused_whole),
		FRESH(store_checks_before_it_writes),
		FRESH(store_can_mend_a_wrong_set),
		FRESH(store_by_many_at_once_never_makes_a_wrong_set),
		FRESH(every_setting_goes_to_text_and_back),
		FRESH(not_running_and_wrong_places_are_told),
		FRESH(valkey_urls),
		FRESH(keys_are_made_once_with_their_modes),
		FRESH(keys_rotation_leaves_identifiers_alone),
		FRESH(grant_6_public_halves_are_written_for_everybody),
		FRESH(pol_9_the_policy_is_text_without_a_default),
		FRESH(keys_that_are_wrong_are_refused_and_never_replaced),
		FRESH(worker_secrets_differ_by_name_and_instance),
	};

	return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
