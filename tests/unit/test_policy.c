/* core/egress: the policy as a dispatch reads it, the proxy's health, and every way to no grant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/conf/keys.h"
#include "core/conf/public.h"
#include "core/egress/health.h"
#include "core/egress/issue.h"
#include "core/egress/policy.h"
#include "core/egress/view.h"

#define ID "0123456789abcdef0123456789abcdef"
#define PACKAGED kz_setting_table[KZ_SETTING_SANDBOX_EGRESS_PRIVATE_CIDRS].packaged

static char state_dir[64];
static struct kz_conf conf;

static void put(const char *name, const char *content, size_t n)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/env/%s", state_dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(content, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void set(const char *name, const char *value)
{
	char text[8192];

	snprintf(text, sizeof(text), "%s\n", value);
	put(name, text, strlen(text));
}

static void unset(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/env/%s", state_dir, name);
	assert_int_equal(unlink(path), 0);
}

/* A state directory with keys and the packaged policy, without a proxy. */
static int setup(void **state)
{
	char path[128];

	(void)state;
	kz_str_copy(state_dir, sizeof(state_dir), "/tmp/kz-unit.XXXXXX", NULL);
	if (!mkdtemp(state_dir))
		return -1;
	snprintf(path, sizeof(path), "%s/env", state_dir);
	if (mkdir(path, 0700))
		return -1;
	snprintf(path, sizeof(path), "%s/run", state_dir);
	if (mkdir(path, 0700) || kz_keys_make(state_dir, (gid_t)-1, NULL))
		return -1;
	for (int i = 0; i < KZ_SETTING_COUNT; i++)
		if (kz_setting_table[i].packaged)
			set(kz_setting_table[i].name, kz_setting_table[i].packaged);
	set("KZ_DEPLOYMENT_ID", "d0123");
	return kz_conf_load(&conf, state_dir, NULL);
}

static int teardown(void **state)
{
	(void)state;
	return kz_tree_remove(AT_FDCWD, state_dir, NULL);
}

static enum kz_reason resolved(struct kz_scope *scope)
{
	kz_auto_policy struct kz_policy p = { .proxy_url = NULL };

	assert_int_equal(kz_policy_load(&conf, &p, NULL), KZ_OK);
	return kz_policy_resolve(&p, scope);
}

static void revision(char out[KZ_REVISION_TEXT])
{
	kz_auto_policy struct kz_policy p = { .proxy_url = NULL };

	assert_int_equal(kz_policy_load(&conf, &p, NULL), KZ_OK);
	memcpy(out, p.revision, KZ_REVISION_TEXT);
}

static void pol_2_the_packaged_policy_is_public_internet(void **state)
{
	kz_auto_policy struct kz_policy p = { .proxy_url = NULL };
	struct kz_scope s;

	(void)state;
	assert_int_equal(kz_policy_load(&conf, &p, NULL), KZ_OK);
	assert_string_equal(kz_policy_mode(&p), "public_internet");
	assert_string_equal(p.vintage, "fresh");
	assert_int_equal(kz_policy_resolve(&p, &s), KZ_R_NONE);
	assert_int_equal(s.mode, KZ_SCOPE_PUBLIC_INTERNET);
	assert_int_equal(s.port_count, 2);
	assert_int_equal(s.ttl_s, 600);
}

/* Each setting absent, empty, and no text at all: never the packaged value. */
static void pol_10_what_is_missing_or_nonsense_is_isolated(void **state)
{
	static const struct {
		const char *name;
		enum kz_reason reason;
	} cases[] = {
		{ "SANDBOX_EGRESS_ENABLED", KZ_R_EGRESS_DISABLED },
		{ "SANDBOX_EGRESS_MODE", KZ_R_MODE_UNKNOWN },
		{ "SANDBOX_EGRESS_ALLOWED_PORTS", KZ_R_PORTS_UNUSABLE },
		{ "SANDBOX_EGRESS_TOKEN_TTL_SECONDS", KZ_R_TTL_UNUSABLE },
		{ "KZ_PROXY_URL", KZ_R_PROXY_UNSET },
	};
	char huge[6000], packaged[256];
	struct kz_scope s;

	(void)state;
	memset(huge, '1', sizeof(huge));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *name = cases[i].name;

		for (int k = 0; k < KZ_SETTING_COUNT; k++)
			if (strcmp(kz_setting_table[k].name, name) == 0)
				kz_str_copy(packaged, sizeof(packaged),
					    kz_setting_table[k].packaged, NULL);
		unset(name);
		assert_int_equal(resolved(&s), cases[i].reason);
		assert_int_equal(s.mode, KZ_SCOPE_ISOLATED);
		put(name, "", 0);
		assert_int_equal(resolved(&s), cases[i].reason);
		put(name, "\n", 1);
		assert_int_equal(resolved(&s), cases[i].reason);
		put(name, "a\0b", 3);
		assert_int_equal(resolved(&s), cases[i].reason);
		put(name, huge, sizeof(huge));
		assert_int_equal(resolved(&s), cases[i].reason);
		put(name, "\xff\xfe\n", 3);
		assert_int_equal(resolved(&s), cases[i].reason);
		set(name, packaged);
		assert_int_equal(resolved(&s), KZ_R_NONE);
	}
	/* a folder where a file should be */
	unset("SANDBOX_EGRESS_MODE");
	snprintf(huge, sizeof(huge), "%s/env/SANDBOX_EGRESS_MODE", state_dir);
	assert_int_equal(mkdir(huge, 0700), 0);
	assert_int_equal(resolved(&s), KZ_R_MODE_UNKNOWN);
	put("KZ_EGRESS_DENY_CIDRS", "a\0b", 3);
	assert_int_equal(rmdir(huge), 0);
	set("SANDBOX_EGRESS_MODE", "public_internet");
	assert_int_equal(resolved(&s), KZ_R_DENY_UNUSABLE);
}

static void pol_11_the_field_key_is_the_root(void **state)
{
	char from[128], to[160];
	struct kz_scope s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s/keys/%s.key", state_dir, i ? "grant" : "field");
		snprintf(to, sizeof(to), "%s.off", from);
		assert_int_equal(rename(from, to), 0);
		assert_int_equal(resolved(&s), KZ_R_FIELD_KEY_MISSING);
		assert_int_equal(rename(to, from), 0);
		assert_int_equal(resolved(&s), KZ_R_NONE);
	}
}

/* POL-14: the packaged ranges, in whatever order and with whatever blanks, are nobody's decision. */
static void pol_14_own_ranges_are_those_that_somebody_chose(void **state)
{
	static const struct {
		const char *value;
		bool is_own;
	} cases[] = {
		{ "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7", false },
		{ " fc00::/7 ,10.0.0.0/8,\t172.16.0.0/12, 192.168.0.0/16", false },
		{ "10.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7", false },
		{ "10.0.0.0/8", true },
		{ "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16", true },
		{ "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7,100.64.0.0/10", true },
		{ "nonsense", true },
	};

	(void)state;
	assert_string_equal(PACKAGED, cases[0].value);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kz_auto_policy struct kz_policy p = { .proxy_url = NULL };

		set("SANDBOX_EGRESS_PRIVATE_CIDRS", cases[i].value);
		assert_int_equal(kz_policy_load(&conf, &p, NULL), KZ_OK);
		assert_int_equal(p.config.is_cidrs_own, cases[i].is_own);
	}
	unset("SANDBOX_EGRESS_PRIVATE_CIDRS");
	kz_auto_policy struct kz_policy p = { .proxy_url = NULL };
	assert_int_equal(kz_policy_load(&conf, &p, NULL), KZ_OK);
	assert_false(p.config.is_cidrs_own);
}

static void pol_23_the_revision_names_the_policy(void **state)
{
	char first[KZ_REVISION_TEXT], other[KZ_REVISION_TEXT];

	(void)state;
	revision(first);
	set("SANDBOX_EGRESS_ALLOWED_PORTS", "80,443,8443");
	revision(other);
	assert_string_not_equal(first, other);
	set("SANDBOX_EGRESS_ALLOWED_PORTS", "80,443");
	revision(other);
	assert_string_equal(first, other);
	unset("KZ_EGRESS_DENY_CIDRS");
	revision(other);
	assert_string_not_equal(first, other);
}

static void a_proxy_is_named_by_a_path(void **state)
{
	static const char *const bad[] = {
		"", "unix:", "http://127.0.0.1:3128", "/run/proxy.sock", "unix:a\nb", "UNIX:x"
	};
	char path[KZ_PROXY_PATH], longest[KZ_PROXY_PATH + 20];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(kz_policy_proxy("/s", bad[i], path));
	assert_true(kz_policy_proxy("/s", "unix:run/proxy/proxy.sock", path));
	assert_string_equal(path, "/s/run/proxy/proxy.sock");
	assert_true(kz_policy_proxy("/s", "unix:/x/y", path));
	assert_string_equal(path, "/x/y");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	memcpy(longest, "unix:", 5);
	assert_false(kz_policy_proxy("/s", longest, path));
}

/* A far end that says one thing to everybody who asks, and reads what it is asked or not. */
static pid_t far_end(const char *answer, size_t n, bool stays)
{
	char path[128];
	int listener = -1;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", state_dir, KZ_PROXY_HEALTH_SOCKET);
	assert_int_equal(kz_unix_listen(path, 0600, (gid_t)-1, 8, &listener, NULL), KZ_OK);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int flags = fcntl(listener, F_GETFL);
		char asked[4096];

		fcntl(listener, F_SETFL, flags & ~O_NONBLOCK);
		for (;;) {
			int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

			if (fd < 0 || read(fd, asked, sizeof(asked)) < 0)
				_exit(1);
			(void)kz_fd_write_all(fd, answer, n, NULL);
			if (!stays)
				close(fd);
		}
	}
	close(listener);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static const char *health(const char *answer, const char *kid, struct kz_proxy_health *out)
{
	static struct kz_err err;
	pid_t pid = far_end(answer, strlen(answer), false);
	enum kz_rc rc;

	err = (struct kz_err)KZ_ERR_INIT;
	rc = kz_proxy_health(state_dir, kid, kz_deadline_in(KZ_SECONDS(30)), out, &err);
	end(pid);
	return rc ? err.reason : "";
}

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
#define GOOD                                                                                       \
	HEAD "{\"v\":1,\"ready\":true,\"kids\":[\"k4.pid.a\"],\"revocation_serial\":7,\"tunnels\":3}"

static void grant_8_the_proxy_is_asked_whether_it_holds_the_key(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		HEAD,
		HEAD "{",
		HEAD "[]",
		HEAD "{}",
		HEAD "{\"v\":2,\"ready\":true,\"kids\":[\"k4.pid.a\"]}",
		HEAD "{\"v\":1,\"ready\":true,\"kids\":[\"k4.pid.a\"]} x",
		"HTTP/1.1 500 no\r\n\r\n{\"v\":1,\"ready\":true,\"kids\":[\"k4.pid.a\"]}",
		"HTTP/1.1 2000 OK\r\n\r\n{\"v\":1,\"ready\":true,\"kids\":[\"k4.pid.a\"]}",
		"{\"v\":1,\"ready\":true,\"kids\":[\"k4.pid.a\"]}",
		HEAD "{\"v\":1,\"ready\":false,\"kids\":[\"k4.pid.a\"]}",
		HEAD "{\"v\":1,\"ready\":\"yes\",\"kids\":[\"k4.pid.a\"]}",
	};
	static const char *const keyless[] = {
		HEAD "{\"v\":1,\"ready\":true,\"kids\":[]}",
		HEAD "{\"v\":1,\"ready\":true}",
		HEAD "{\"v\":1,\"ready\":false,\"kids\":[]}",
		HEAD "{\"v\":1,\"ready\":true,\"kids\":\"k4.pid.a\"}",
		HEAD "{\"v\":1,\"ready\":true,\"kids\":[\"k4.pid.b\",1,null]}",
	};
	struct kz_proxy_health h;
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	kz_proxy_health(state_dir, NULL, kz_deadline_in(KZ_SECONDS(30)), &h, &err);
	assert_string_equal(err.reason, "proxy_unreachable");
	assert_string_equal(health(GOOD, "k4.pid.a", &h), "");
	assert_true(h.is_ready && h.has_key);
	assert_int_equal(h.revocation_serial, 7);
	assert_int_equal(h.tunnels, 3);
	assert_string_equal(health(GOOD, NULL, &h), "");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_string_equal(health(bad[i], "k4.pid.a", &h), "proxy_unreachable");
	for (size_t i = 0; i < sizeof(keyless) / sizeof(keyless[0]); i++)
		assert_string_equal(health(keyless[i], "k4.pid.a", &h), "proxy_keyless");
}

static void a_proxy_that_says_too_much_or_nothing_is_not_waited_for(void **state)
{
	char *flood = malloc(200001);
	struct kz_proxy_health h;
	struct kz_err err = KZ_ERR_INIT;
	pid_t pid;

	(void)state;
	assert_non_null(flood);
	memset(flood, ' ', 200000);
	memcpy(flood, GOOD, sizeof(GOOD) - 1);
	flood[200000] = '\0';
	assert_string_equal(health(flood, NULL, &h), "proxy_unreachable");
	free(flood);
	pid = far_end("", 0, true);
	kz_proxy_health(state_dir, NULL, kz_deadline_in(KZ_MS(50)), &h, &err);
	assert_string_equal(err.reason, "proxy_unreachable");
	end(pid);
}

/* No grant: the reason, the words, and not a byte of a token. */
static void misses(const char *approval, const char *reason, const char *text)
{
	struct kz_egress_ask ask = { .run = ID,
				     .actor = ID,
				     .worker = "w1",
				     .uid_count = 1,
				     .approval = approval,
				     .until = kz_deadline_in(KZ_SECONDS(30)) };
	kz_auto_egress struct kz_egress e = { .effective = NULL };

	assert_int_equal(kz_egress_issue(&conf, &ask, &e, NULL), KZ_OK);
	assert_string_equal(kz_reason_code(e.reason), reason);
	assert_string_equal(e.effective, "none");
	assert_int_equal(e.token.len, 0);
	assert_string_equal(e.execution, "");
	assert_int_equal(e.expires_s, 0);
	assert_int_equal(strlen(e.revision), 64);
	assert_true(kz_str_has_prefix(e.text, "none: "));
	if (text)
		assert_string_equal(e.text, text);
}

static void grant_7_exec_17_each_miss_is_no_credential_at_all(void **state)
{
	char path[128];
	pid_t pid;

	(void)state;
	misses(NULL, "not_approved", "none: not approved (--approve ID)");
	misses("", "not_approved", NULL);
	misses("a b", "not_approved", NULL);
	misses("t", "proxy_unreachable", NULL);
	pid = far_end(GOOD, strlen(GOOD), false);
	misses("t", "proxy_keyless", NULL);
	end(pid);
	set("SANDBOX_EGRESS_MODE", "isolated");
	misses("t", "mode_isolated", NULL);
	set("SANDBOX_EGRESS_MODE", "internet");
	misses("t", "mode_unknown", NULL);
	misses(NULL, "not_approved", NULL);
	set("SANDBOX_EGRESS_MODE", "host_allowlist");
	misses("t", "hosts_unusable", NULL);
	set("SANDBOX_EGRESS_MODE", "public_internet");
	set("SANDBOX_EGRESS_ENABLED", "yes");
	misses("t", "egress_disabled", NULL);
	set("SANDBOX_EGRESS_ENABLED", "true");
	snprintf(path, sizeof(path), "%s/keys/grant.key", state_dir);
	assert_int_equal(chmod(path, 0644), 0);
	misses("t", "key_invalid", NULL);
	assert_int_equal(unlink(path), 0);
	misses("t", "field_key_missing", NULL);
}

static void exec_17_an_approval_is_printable(void **state)
{
	char longest[KZ_APPROVAL_MAX + 2];

	(void)state;
	assert_true(kz_approval_valid("x"));
	assert_true(kz_approval_valid("ticket:17/~!"));
	assert_false(kz_approval_valid(""));
	assert_false(kz_approval_valid(" "));
	assert_false(kz_approval_valid("a\tb"));
	assert_false(kz_approval_valid("a\x7f"));
	assert_false(kz_approval_valid("\xc3\xa4"));
	memset(longest, 'x', sizeof(longest));
	longest[KZ_APPROVAL_MAX] = '\0';
	assert_true(kz_approval_valid(longest));
	longest[KZ_APPROVAL_MAX] = 'x';
	longest[KZ_APPROVAL_MAX + 1] = '\0';
	assert_false(kz_approval_valid(longest));
}

/* INV-28: what is in force is never more than what the settings say. */
static void inv_28_the_view_is_isolated_when_anything_is_lacking(void **state)
{
	kz_auto_egress_view struct kz_egress_view v = { .reason = KZ_R_NONE };

	(void)state;
	assert_int_equal(kz_egress_look(&conf, kz_deadline_in(KZ_SECONDS(30)), &v, NULL), KZ_OK);
	assert_int_equal(v.reason, KZ_R_PROXY_UNREACHABLE);
	assert_int_equal(v.scope.mode, KZ_SCOPE_ISOLATED);
	assert_int_equal(v.scope.port_count, 0);
	assert_true(v.is_attention);
	assert_true(*kz_policy_fix(v.reason));
}

#define FRESH(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FRESH(pol_2_the_packaged_policy_is_public_internet),
		FRESH(pol_10_what_is_missing_or_nonsense_is_isolated),
		FRESH(pol_11_the_field_key_is_the_root),
		FRESH(pol_14_own_ranges_are_those_that_somebody_chose),
		FRESH(pol_23_the_revision_names_the_policy),
		FRESH(a_proxy_is_named_by_a_path),
		FRESH(grant_8_the_proxy_is_asked_whether_it_holds_the_key),
		FRESH(a_proxy_that_says_too_much_or_nothing_is_not_waited_for),
		FRESH(grant_7_exec_17_each_miss_is_no_credential_at_all),
		FRESH(exec_17_an_approval_is_printable),
		FRESH(inv_28_the_view_is_isolated_when_anything_is_lacking),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
