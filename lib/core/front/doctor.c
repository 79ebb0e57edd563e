/* kz doctor: what this machine lacks, one line each. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/str.h"
#include "core/driver/doctor.h"
#include "core/files/objects.h"
#include "core/front/parts.h"
#include "port/json.h"

static void add(struct kz_json *list, const char *check, const char *level, const char *text,
		const char *fix)
{
	struct kz_json *o = kz_json_object();

	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "check");
	kz_json_set_str(o, "check", check);
	kz_json_set_str(o, "level", level);
	kz_json_set_str(o, "text", text);
	kz_json_set_str(o, "fix", fix);
	kz_json_append(list, o);
}

/* Is a program in one of the usual places? out: its path */
static bool find(const char *name, char out[KZ_FRONT_PATH])
{
	static const char *const dirs[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					    "/usr/bin",        "/sbin",          "/bin" };

	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		snprintf(out, KZ_FRONT_PATH, "%s/%s", dirs[i], name);
		if (access(out, X_OK) == 0)
			return true;
	}
	return false;
}

static void check_s6(struct kz_json *list)
{
	static const char *const needed[] = { "s6-svscan",        "s6-svc",        "s6-svstat",
					      "s6-svscanctl",     "s6-log",        "s6-setlock",
					      "s6-notifyoncheck", "s6-permafailon" };
	char path[KZ_FRONT_PATH], text[128];

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!find(needed[i], path)) {
			snprintf(text, sizeof text, "%s is missing", needed[i]);
			add(list, "supervisor", "fail", text, "apt-get install s6");
			return;
		}
	add(list, "supervisor", "ok", "s6 is there", "");
}

/* The first line that a program prints with --version. */
static bool version(const char *path, char *out, size_t size)
{
	kz_auto_buf struct kz_buf said = KZ_BUF_INIT(4096);
	const char *argv[] = { path, "--version", NULL };
	int status;

	if (kz_proc_run(argv, NULL, 0, &said, NULL, kz_deadline_in(KZ_SECONDS(10)), &status,
			NULL) ||
	    status != 0)
		return false;
	snprintf(out, size, "%.*s", (int)strcspn(kz_buf_str(&said), "\n"), kz_buf_str(&said));
	return true;
}

static void check_valkey(const struct kz_front *f, const struct kz_conf *c, bool is_set_up,
			 struct kz_json *list)
{
	kz_auto_json struct kz_json *status = NULL;
	struct kz_err err = KZ_ERR_INIT;
	char path[KZ_FRONT_PATH], text[256];

	if (is_set_up && kz_front_is_scanning(f)) {
		if (!kz_front_ask(c, kz_deadline_in(KZ_SECONDS(3)), &status, &err))
			add(list, "valkey", "ok",
			    c->set.kz_valkey_url[0] ? "the server of KZ_VALKEY_URL answers" :
						      "the private server answers",
			    "");
		else
			add(list, "valkey", "fail", err.text,
			    strcmp(err.reason, "valkey_evicts") == 0 ?
				    "valkey-cli config set maxmemory-policy noeviction" :
				    "kz logs valkey");
		return;
	}
	if (c->set.kz_valkey_url[0])
		add(list, "valkey", "warn", "KZ_VALKEY_URL is asked only once kz runs", "kz up");
	else if (!find("valkey-server", path) || !find("valkey-cli", path))
		add(list, "valkey", "fail", "valkey-server or valkey-cli is missing",
		    "scripts/install-deps --run");
	else if (version(path, text, sizeof text))
		add(list, "valkey", "ok", text, "");
	else
		add(list, "valkey", "fail", "valkey-cli does not run",
		    "apt-get install --reinstall valkey-tools");
}

/* The checks that the driver brings [RT-6]. */
static void check_machine(const struct kz_conf *c, struct kz_json *list)
{
	static const char *const levels[] = {
		[KZ_CHECK_OK] = "ok", [KZ_CHECK_WARN] = "warn", [KZ_CHECK_FAIL] = "fail"
	};
	static const struct {
		const char *name;
		void (*check)(const struct kz_conf *c, struct kz_check *out);
	} checks[] = {
		{ "runtime", kz_check_runtime },   { "cgroups", kz_check_cgroups },
		{ "userns", kz_check_userns },     { "seccomp", kz_check_seccomp },
		{ "landlock", kz_check_landlock }, { "disk", kz_check_disk },
	};

	for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
		struct kz_check r[KZ_CHECK_USER_LINES] = { { .level = KZ_CHECK_FAIL } };
		size_t n = 1;

		if (checks[i].check == kz_check_userns && geteuid() != 0)
			n = kz_check_user(c, r);
		else
			checks[i].check(c, &r[0]);
		for (size_t k = 0; k < n; k++)
			add(list, checks[i].name, levels[r[k].level], r[k].text, r[k].fix);
	}
}

/* The object store, with the probe; a directory that kz up is yet to make is no failure. */
static void check_objects(const struct kz_conf *c, bool is_set_up, struct kz_json *list)
{
	kz_auto_objects struct kz_objects *o = NULL;
	struct kz_deadline until = kz_deadline_in(KZ_SECONDS(10));
	struct kz_err err = KZ_ERR_INIT;
	bool is_conditional = false;

	if (!is_set_up)
		return;
	if (kz_objects_open(c, &o, &err) || kz_objects_probe(o, &is_conditional, until, &err))
		add(list, "objects", geteuid() != 0 && err.rc == KZ_E_NOPERM ? "warn" : "fail",
		    err.text, "kz config show KZ_OBJECTS_URL");
	else if (is_conditional)
		add(list, "objects", "ok", "the object store answers and refuses a second put", "");
	else
		add(list, "objects", "warn",
		    "the object store answers; it knows no conditional put, so that leases alone keep writers apart",
		    "");
}

static void check_caller(const struct kz_front *f, struct kz_json *list)
{
	char text[KZ_FRONT_PATH];
	struct stat st;

	if (geteuid() == 0) {
		add(list, "caller", "ok", "root", "");
	} else if (stat(f->state, &st) == 0 && st.st_uid != geteuid()) {
		snprintf(text, sizeof text,
			 "the kz in %s is not yours; it can be called, not started", f->state);
		add(list, "caller", "warn", text, "sudo kz doctor");
	} else {
		snprintf(text, sizeof text, "not root: a kz of your own in %s", f->state);
		add(list, "caller", "ok", text, "");
	}
}

enum kz_rc kz_front_doctor(struct kz_front *f, struct kz_json **out, struct kz_err *err)
{
	struct kz_json *list = kz_json_array();
	struct kz_err why = KZ_ERR_INIT;
	struct kz_conf c;
	struct stat st;
	bool is_set_up;
	size_t failed = 0;

	*out = list;
	/* Who may not look into the machine's kz is told what one of their own needs. */
	if (geteuid() != 0 && stat(f->state, &st) == 0 && access(f->state, R_OK | X_OK) != 0 &&
	    kz_conf_state_make(f->state, err))
		return err ? err->rc : KZ_E_CONFIG;
	is_set_up = stat(f->state, &st) == 0;
	if (!list)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	memset(&c, 0, sizeof c);
	if (!is_set_up || kz_conf_load(&c, f->state, &why)) {
		if (is_set_up)
			add(list, "settings", "fail", why.text,
			    why.rc == KZ_E_NOPERM ? "sudo kz doctor" : "kz config check");
		is_set_up = false;
		kz_str_copy(c.state, sizeof c.state, f->state, NULL);
		kz_settings_default(&c.set);
	} else {
		add(list, "settings", "ok", "every setting makes sense", "");
	}
	check_caller(f, list);
	check_s6(list);
	check_valkey(f, &c, is_set_up, list);
	check_objects(&c, is_set_up, list);
	check_machine(&c, list);
	for (size_t i = 0; i < kz_json_count(list); i++)
		failed += strcmp(kz_json_str(kz_json_at(list, i), "level", ""), "fail") == 0;
	return failed == 0 ? KZ_OK : kz_err_set(err, KZ_E_NO, "%zu checks failed", failed);
}
