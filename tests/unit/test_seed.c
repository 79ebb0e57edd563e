/* core/front: what a new installation is allowed is written once, and never over what somebody chose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/front/seed.h"

static char state_dir[64];
static struct kz_conf conf;

static int setup(void **state)
{
	char path[128];

	(void)state;
	kz_str_copy(state_dir, sizeof(state_dir), "/tmp/kz-unit.XXXXXX", NULL);
	if (!mkdtemp(state_dir))
		return -1;
	snprintf(path, sizeof(path), "%s/env", state_dir);
	return mkdir(path, 0700) ? -1 : (int)kz_conf_load(&conf, state_dir, NULL);
}

static int teardown(void **state)
{
	(void)state;
	return kz_tree_remove(AT_FDCWD, state_dir, NULL);
}

/* What is stored; "-" for a file that is not there. */
static const char *stored(const char *name)
{
	static char text[8192];
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4096);
	char path[256];

	snprintf(path, sizeof(path), "%s/env/%s", state_dir, name);
	if (kz_file_read(AT_FDCWD, path, &b, NULL))
		return "-";
	kz_str_copy(text, sizeof(text), kz_buf_str(&b), NULL);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void drop(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/env/%s", state_dir, name);
	assert_int_equal(unlink(path), 0);
}

static void seed(void)
{
	assert_int_equal(kz_conf_load(&conf, state_dir, NULL), KZ_OK);
	assert_int_equal(kz_front_seed(&conf, state_dir, NULL), KZ_OK);
}

static void pol_22_a_new_one_gets_what_is_packaged(void **state)
{
	size_t count = 0;

	(void)state;
	seed();
	for (int i = 0; i < KZ_SETTING_COUNT; i++) {
		const struct kz_setting *s = &kz_setting_table[i];

		/* the others keep their default, which is written nowhere */
		assert_string_equal(stored(s->name), s->packaged ? s->packaged : "-");
		count += s->packaged != NULL;
	}
	assert_int_equal(count, 9);
	assert_string_equal(stored("KZ_INSTALL_VINTAGE"), "fresh");
}

static void pol_22_an_old_one_gets_the_vintage_and_nothing_else(void **state)
{
	(void)state;
	assert_int_equal(kz_conf_store(state_dir, "KZ_DEPLOYMENT_ID", "d1", NULL), KZ_OK);
	for (int i = 0; i < 2; i++) {
		seed();
		for (int k = 0; k < KZ_SETTING_COUNT; k++) {
			const char *name = kz_setting_table[k].name;

			assert_string_equal(stored(name), k == KZ_SETTING_KZ_INSTALL_VINTAGE ?
								  "upgrade" :
							  k == KZ_SETTING_KZ_DEPLOYMENT_ID ? "d1" :
											     "-");
		}
	}
}

/* A first kz up that was cut off anywhere is a first one again. */
static void pol_22_a_seed_that_was_cut_off_is_finished(void **state)
{
	(void)state;
	seed();
	drop("KZ_INSTALL_VINTAGE");
	drop("SANDBOX_EGRESS_MODE");
	drop("KZ_PROXY_URL");
	assert_int_equal(kz_conf_store(state_dir, "SANDBOX_EGRESS_ALLOWED_PORTS", "8443", NULL),
			 KZ_OK);
	seed();
	assert_string_equal(stored("SANDBOX_EGRESS_MODE"), "public_internet");
	assert_string_equal(stored("KZ_INSTALL_VINTAGE"), "fresh");
	/* what somebody had chosen meanwhile stays */
	assert_string_equal(stored("SANDBOX_EGRESS_ALLOWED_PORTS"), "8443");
}

static void pol_22_what_was_taken_away_later_stays_away(void **state)
{
	(void)state;
	seed();
	assert_int_equal(kz_conf_store(state_dir, "KZ_DEPLOYMENT_ID", "d1", NULL), KZ_OK);
	drop("SANDBOX_EGRESS_MODE");
	seed();
	assert_string_equal(stored("SANDBOX_EGRESS_MODE"), "-");
	assert_string_equal(stored("KZ_INSTALL_VINTAGE"), "fresh");
}

#define FRESH(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FRESH(pol_22_a_new_one_gets_what_is_packaged),
		FRESH(pol_22_an_old_one_gets_the_vintage_and_nothing_else),
		FRESH(pol_22_a_seed_that_was_cut_off_is_finished),
		FRESH(pol_22_what_was_taken_away_later_stays_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
