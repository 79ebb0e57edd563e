/* kz up: make, start, wait for admission. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"
#include "base/sig.h"
#include "base/str.h"
#include "base/where.h"
#include "core/driver/driver.h"
#include "core/front/parts.h"
#include "core/front/registries.h"
#include "port/json.h"
#include "rule/reason.h"

static enum kz_rc probe(const struct kz_front *f, const struct kz_conf *c, struct kz_err *err)
{
	kz_auto_json struct kz_json *request = kz_json_object(), *reply = NULL;
	enum kz_answer answer;
	enum kz_reason why = KZ_R_RUNTIME_UNAVAILABLE;
	char program[KZ_FRONT_PATH];
	enum kz_rc rc;

	kz_json_set_int(request, "v", 1);
	kz_json_set_str(request, "verb", "probe");
	if ((rc = kz_where_program(c->set.kz_driver, program, sizeof program, err)) ||
	    (rc = kz_driver_call(program, f->state, request, kz_deadline_in(KZ_SECONDS(30)), &reply,
				 &answer, err)))
		return kz_err_wrap(err, "the driver %s cannot be asked", c->set.kz_driver);
	if (!kz_json_flag(reply, "ok", false)) {
		kz_reason_find(kz_json_str(reply, "reason", ""), &why);
		return kz_refuse(err, why, "%s",
				 kz_json_str(reply, "text", "the driver refuses this machine"));
	}
	kz_front_say(f, "runtime: %s",
		     kz_json_str(reply, "version", kz_json_str(reply, "runtime", "unknown")));
	return KZ_OK;
}

/* The end of a service's log: "TIME PROGRAM: REASON: text". Its reason becomes ours. */
static enum kz_rc tell_death(const struct kz_front *f, const char *name, int status,
			     struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1 << 20);
	char path[KZ_FRONT_PATH], code[40] = "";
	const char *line = "", *colon;
	enum kz_rc rc = status > 0 && status < 125 ? kz_rc_of_status(status) : KZ_E_UNAVAILABLE;
	enum kz_reason why;

	if (!kz_str_format(path, sizeof path, NULL, "%s/log/%s/current", f->state, name) &&
	    !kz_file_read(AT_FDCWD, path, &b, NULL) && b.len > 1) {
		b.data[b.len - 1] = 0;
		line = strrchr(b.data, '\n') ? strrchr(b.data, '\n') + 1 : b.data;
		line = strstr(line, "  ") ? strstr(line, "  ") + 2 : line;
	}
	kz_err_set(err, rc, "%s ended with %d and stays down: %s (see: kz logs %s)", name, status,
		   line, name);
	colon = strstr(line, ": ");
	if (colon && sscanf(colon + 2, "%39[a-z_]", code) == 1 && kz_reason_find(code, &why))
		return kz_err_reason(err, kz_reason_code(why));
	return rc;
}

/* A service that will not be started again ends the wait. */
static enum kz_rc check_services(const struct kz_front *f, const struct kz_conf *c,
				 struct kz_err *err)
{
	struct kz_service s;

	for (size_t i = c->set.kz_valkey_url[0] ? 1 : 0; i < KZ_FRONT_SERVICES; i++)
		if (!kz_front_service(f, kz_front_services[i], &s, NULL) && !s.is_up && !s.wants_up)
			return tell_death(f, kz_front_services[i], s.exit_code, err);
	return KZ_OK;
}

/* The controller knows more of why than the authority's code. */
static const char *controller_text(const struct kz_front *f, enum kz_reason why, char *out,
				   size_t size)
{
	kz_auto_json struct kz_json *c = kz_front_controller(f);
	const char *text = kz_json_str(kz_json_get(c, "admission"), "text", "");

	snprintf(out, size, "%s", text[0] ? text : kz_reason_text(why));
	return out;
}

/* Wait until admission is open. in: watch becomes readable when there is no more use in waiting, -1 for none */
static enum kz_rc wait_open(const struct kz_front *f, const struct kz_conf *c, int watch,
			    struct kz_err *err)
{
	struct kz_deadline until =
		kz_deadline_in(KZ_SECONDS(30 + c->set.kz_create_timeout_seconds));
	struct pollfd p = { .fd = watch, .events = POLLIN };
	struct kz_err last = KZ_ERR_INIT;
	enum kz_rc rc;

	for (;;) {
		kz_auto_json struct kz_json *status = NULL;
		const struct kz_json *admission;
		enum kz_reason why;
		char text[400];

		rc = kz_front_ask(c, kz_deadline_in(KZ_SECONDS(2)), &status, &last);
		admission = kz_json_get(status, "admission");
		if (!rc && kz_json_flag(admission, "open", false))
			return KZ_OK;
		if (!rc) {
			if (!kz_reason_find(kz_json_str(admission, "reason", ""), &why))
				why = KZ_R_NOT_RECONCILED;
			kz_refuse(&last, why, "admission is closed: %s; see: kz logs kz-controller",
				  controller_text(f, why, text, sizeof text));
		}
		if ((rc = check_services(f, c, err)))
			return rc;
		if (kz_deadline_passed(until)) {
			if (err)
				*err = last;
			return last.rc;
		}
		if (poll(&p, 1, 100) > 0)
			return kz_err_set(err, KZ_E_TEMPFAIL,
					  "interrupted before admission was open");
	}
}

/* Everything before the first process. */
static enum kz_rc prepare(struct kz_front *f, const struct kz_front_up *o, struct kz_conf *c,
			  size_t *changed, struct kz_err *err)
{
	char env[KZ_FRONT_PATH];
	enum kz_rc rc;

	if ((rc = kz_front_mark(f, err)) || (rc = kz_front_path(f, "env", env, sizeof env, err)) ||
	    (rc = kz_dir_make(AT_FDCWD, env, 0750, (gid_t)-1, err)))
		return rc;
	rc = kz_conf_load(c, f->state, err);
	/* a stored setting that makes no sense may be put right by this very call */
	for (size_t i = 0; rc == KZ_E_CONFIG && i < o->set_count; i++)
		if (!kz_front_store_one(f, o->sets[i], NULL))
			rc = kz_conf_load(c, f->state, err);
	/* the folders have their group before files are put there; KZ_GROUP itself may be among the changes */
	if (rc || (rc = kz_front_check(c, o->sets, o->set_count, err)) ||
	    (rc = kz_front_tree(f, c, err)) ||
	    (rc = kz_front_store(c, o->sets, o->set_count, changed, err)) ||
	    (rc = kz_conf_load(c, f->state, err)))
		return rc;
	return kz_front_tree(f, c, err);
}

/*
 * What a killed stack left would work against the new one.  Told to end, a controller would
 * end its workers, leased ones too: it goes without a word, and who would start it again
 * goes before it [FENCE-14].
 */
static enum kz_rc clear_stale(const struct kz_front *f, struct kz_err *err)
{
	static const char *const at_once[] = { "s6-svscan", "s6-supervise", "kz-controller" };
	struct kz_deadline until = kz_deadline_in(KZ_SECONDS(15));
	size_t count = 0;
	enum kz_rc rc = kz_front_sweep(f, NULL, 0, &count, err);

	if (rc || count == 0)
		return rc;
	kz_front_say(f, "ending %zu processes that an earlier stack left", count);
	for (size_t i = 0; !rc && i < sizeof at_once / sizeof *at_once; i++)
		rc = kz_front_sweep(f, at_once[i], SIGKILL, &count, err);
	if (!rc)
		rc = kz_front_sweep(f, NULL, SIGTERM, &count, err);
	while (!rc && count > 0 && !kz_deadline_passed(until)) {
		kz_time_sleep(KZ_MS(50), until);
		rc = kz_front_sweep(f, NULL, kz_deadline_left(until).ms < 10000 ? SIGKILL : 0,
				    &count, err);
	}
	if (!rc && count > 0)
		return kz_err_set(err, KZ_E_OS, "%zu processes of an earlier stack cannot be ended",
				  count);
	return rc;
}

/* As process 1 of a container everybody's orphans are ours: collect them all while waiting for the supervisor. */
static enum kz_rc stay(struct kz_front *f, pid_t svscan, int signals, struct kz_err *err)
{
	for (;;) {
		struct pollfd p = { .fd = signals, .events = POLLIN };
		pid_t pid;
		int status, n;

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return kz_err_sys(err, KZ_E_OS, "poll");
		while ((n = kz_sig_next(signals)) > 0)
			if (n != SIGCHLD) {
				kz_front_say(f, "signal %d: stopping", n);
				return kz_front_down(f, false, err);
			}
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == svscan && kz_front_is_scanning(f) == false) {
				kz_front_say(f, "the supervisor ended");
				return kz_front_down(f, true, err);
			}
	}
}

/* Nothing of the stack runs: what is left goes, the machine is tried, the services start. */
static enum kz_rc launch(const struct kz_front *f, const struct kz_conf *c, pid_t *svscan,
			 int *pidfd, struct kz_err *err)
{
	enum kz_rc rc;

	if ((rc = clear_stale(f, err)) || (rc = probe(f, c, err)))
		return rc;
	kz_front_say(f, "starting the services in %s", f->state);
	if ((rc = kz_front_scan_start(f, c, svscan, pidfd, err)))
		return rc;
	kz_front_say(f, "waiting for admission");
	return KZ_OK;
}

/* It runs already. One of its services that had stayed down may find its fault mended. */
static enum kz_rc join(const struct kz_front *f, const struct kz_front_up *o, struct kz_err *err)
{
	if (o->foreground)
		return kz_err_set(err, KZ_E_TEMPFAIL,
				  "kz runs already in %s; stop it first with: kz down", f->state);
	kz_front_say(f, "running; waiting for admission");
	/* a stack that was started by an older kz has none of these */
	(void)kz_front_control(f, "kz-proxy", "-u", NULL);
	(void)kz_front_control(f, "kz-gateway", "-u", NULL);
	return kz_front_control(f, "kz-controller", "-u", err);
}

/* With the state directory locked: settings, and the services unless they run. out: as launch */
static enum kz_rc begin(struct kz_front *f, const struct kz_front_up *o, struct kz_conf *c,
			pid_t *svscan, int *pidfd, struct kz_err *err)
{
	size_t changed = 0;
	enum kz_rc rc = prepare(f, o, c, &changed, err);

	if (rc)
		return rc;
	kz_front_told(f, o->sets, o->set_count, changed);
	kz_front_note_environment(f, c);
	return kz_front_is_scanning(f) ? join(f, o, err) : launch(f, c, svscan, pidfd, err);
}

/* Nobody said where packages come from, on a state directory that was not there before. */
static bool asks_registries(const struct kz_before *b, const struct kz_front_up *o)
{
	for (size_t i = 0; i < o->set_count; i++)
		if (kz_str_has_prefix(o->sets[i], "SANDBOX_PACKAGE_REGISTRIES="))
			return false;
	return b->is_new;
}

enum kz_rc kz_front_up(struct kz_front *f, const struct kz_front_up *o, struct kz_err *err)
{
	static const int wanted[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD, 0 };
	static const int stops[] = { SIGTERM, SIGINT, SIGHUP, 0 };
	kz_auto_close int lock = -1, pidfd = -1, signals = -1, stop = -1;
	struct kz_registries_asked asked = KZ_REGISTRIES_NONE;
	struct kz_before before;
	struct kz_err why = KZ_ERR_INIT;
	bool is_asking;
	struct kz_conf c;
	pid_t svscan = -1;
	enum kz_rc rc;

	if ((rc = kz_front_may(f, "up", err)) ||
	    (rc = kz_front_check_early(f, o->sets, o->set_count, err)))
		return rc;
	if (o->foreground &&
	    ((rc = kz_sig_open(wanted, &signals, err)) || (rc = kz_sig_open(stops, &stop, err))))
		return rc;
	if ((rc = kz_front_enter(f, &before, &lock, err)))
		return rc;
	rc = begin(f, o, &c, &svscan, &pidfd, err);
	/* refused before there was anything to stop: as if it had not been called */
	if (rc && pidfd < 0)
		kz_front_undo(f, &before);
	if (rc)
		return rc;
	if ((is_asking = asks_registries(&before, o)))
		kz_front_registries_ask(&asked);
	/* a signal to stop ends the wait; stay() then reads it */
	rc = wait_open(f, &c, stop, err);
	if (is_asking && kz_front_registries_store(f, &asked, &why))
		kz_front_say(f, "note: where packages come from is not stored: %s", why.text);
	if (!o->foreground)
		return rc;
	kz_front_say(f, rc ? "admission is not open yet: %s" : "admission is open%s",
		     rc && err ? err->text : "");
	close(kz_take_fd(&lock));
	return stay(f, svscan, signals, err);
}
