/*
 * The front: start, stop and look at one stack of kz on this machine.
 *
 * A stack is a state directory and the s6 tree that runs on it.  Everything here
 * says what it does through a callback and returns data; bin/kz prints.  Only one
 * up or down works on a state directory at a time (STATE/front.lock).  Every
 * process of the stack carries KZ_STACK=ID in its environment, so that what a
 * crash left behind is found without trusting process numbers.  Layer 3.
 */
#ifndef KZ_CORE_FRONT_FRONT_H
#define KZ_CORE_FRONT_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "core/conf/conf.h"

struct kz_json;

#define KZ_FRONT_PATH 512

struct kz_front {
	char state[256];                          /* state directory, absolute */
	char bin[KZ_FRONT_PATH];                  /* where this program stands */
	char libexec[KZ_FRONT_PATH];              /* where its helpers stand */
	char supervise[KZ_FRONT_PATH];            /* service directories to copy */
	void (*say)(void *ctx, const char *line); /* progress for a person; may be NULL */
	void *say_ctx;
};

/* Find the places of this installation or build tree, and the state directory. err: KZ_E_NOINPUT, KZ_E_OS; KZ_E_CONFIG for a bad KZ_STATE */
enum kz_rc kz_front_init(struct kz_front *f, struct kz_err *err);

/* The same for "kz up": a user who is not root gets a state directory of their own, whatever else is there. err: as kz_front_init */
enum kz_rc kz_front_init_up(struct kz_front *f, struct kz_err *err);

struct kz_front_up {
	const char *const *sets; /* "NAME=VALUE" texts, checked together before one is stored */
	size_t set_count;
	bool foreground; /* stay until a signal; then drain */
};
/*
 * Make what is missing of the state directory, start the stack, and wait until
 * admission is open.  Idempotent: on a running stack it only waits.
 * err: the reason why admission is not open (the stack goes on trying), or why
 * nothing was started: setting_invalid, no_permission, runtime_unavailable,
 * userns_unavailable, cgroup_unavailable, disk_unavailable
 * wait: bounded by KZ_CREATE_TIMEOUT_SECONDS and half a minute
 */
enum kz_rc kz_front_up(struct kz_front *f, const struct kz_front_up *o, struct kz_err *err);

/*
 * Drain and stop the stack, and remove every process, worker, mount and socket of
 * it, also after crashes.  Nothing running is fine.
 * in: force: running programs are ended at once
 * err: no_permission; internal when something could not be removed (named)
 * wait: SANDBOX_MAX_WALL_SECONDS + KZ_RESET_TIMEOUT_SECONDS, plus a bounded stop
 */
enum kz_rc kz_front_down(struct kz_front *f, bool force, struct kz_err *err);
/* Remove the state directory of a stopped stack. err: KZ_E_USAGE when it is no state directory of kz */
enum kz_rc kz_front_purge(struct kz_front *f, struct kz_err *err);

/* Store "NAME=VALUE" texts, all or none, and let a running stack take them up. err: setting_invalid, setting_unknown, not_running, no_permission */
enum kz_rc kz_front_set(struct kz_front *f, const char *const *sets, size_t count,
			struct kz_err *err);

/*
 * What is so now, as policy/schema/status.json. out: new, also when admission is closed.
 * err: not_running (69); KZ_E_NO with the reason when admission is closed (1); no_permission (77)
 */
enum kz_rc kz_front_status(struct kz_front *f, struct kz_json **out, struct kz_err *err);

/* An array of {"check","level":"ok"|"warn"|"fail","text","fix"}. out: new. err: KZ_E_NO when one fails */
enum kz_rc kz_front_doctor(struct kz_front *f, struct kz_json **out, struct kz_err *err);

/* The log file of a service. err: KZ_E_NOINPUT naming the services there are */
enum kz_rc kz_front_log(struct kz_front *f, const char *service, char *path, size_t size,
			struct kz_err *err);
/* Names of the services that have logs; out: an array of strings, new. */
enum kz_rc kz_front_logs(struct kz_front *f, struct kz_json **out, struct kz_err *err);

/* Text for people. in: what kz_front_status and kz_front_doctor gave */
enum kz_rc kz_front_status_text(const struct kz_json *status, struct kz_buf *b, struct kz_err *err);
enum kz_rc kz_front_doctor_text(const struct kz_json *checks, struct kz_buf *b, struct kz_err *err);

#endif
