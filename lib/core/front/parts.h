/*
 * Parts of the front that its files share.  Layer 3.
 */
#ifndef KZ_CORE_FRONT_PARTS_H
#define KZ_CORE_FRONT_PARTS_H

#include <stdint.h>

#include "base/time.h"
#include "core/front/front.h"
#include "core/pool/authority.h"

/* One line of progress. */
void kz_front_say(const struct kz_front *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* STATE/suffix into out. err: KZ_E_DATA when it does not fit */
enum kz_rc kz_front_path(const struct kz_front *f, const char *suffix, char *out, size_t size,
			 struct kz_err *err);

/* -- tree.c: the state directory -- */

/* The group of callers: KZ_GROUP, (gid_t)-1 when empty, absent or not root. */
gid_t kz_front_gid(const struct kz_settings *s);
/* Make every folder with its mode and group, keys, deployment id and stack id. */
enum kz_rc kz_front_tree(const struct kz_front *f, struct kz_conf *c, struct kz_err *err);
/* The state directory alone, so that it can be locked. err: disk_unavailable when it holds something else */
enum kz_rc kz_front_dir(const struct kz_front *f, struct kz_err *err);
/* Is the directory one of kz's, empty or absent?  A directory that holds something else must not become ours (and be purged later). wait: never; to be asked under the lock, or again. err: disk_unavailable */
enum kz_rc kz_front_is_ours(const struct kz_front *f, struct kz_err *err);
/* Under the lock: the mark that makes it a state directory of kz, and names its processes. */
enum kz_rc kz_front_mark(const struct kz_front *f, struct kz_err *err);
/* The id that marks the processes of this stack; "" when there is none. */
void kz_front_stack_id(const struct kz_front *f, char out[40]);
/* Only the owner of the state directory (root for the system's) may start and stop. err: no_permission */
enum kz_rc kz_front_may(const struct kz_front *f, const char *verb, struct kz_err *err);
/* One up or down at a time. out: descriptor to close */
enum kz_rc kz_front_lock(const struct kz_front *f, int *fd, struct kz_err *err);

/* -- undo.c: kz up that starts nothing leaves nothing -- */

struct kz_before {
	char stood[256]; /* the longest part of the state directory's path that was there */
	bool is_new;     /* it was no state directory of kz */
};
/* Make the state directory and lock it. out: what was there before; lock to close. err: as kz_front_dir, kz_front_lock */
enum kz_rc kz_front_enter(const struct kz_front *f, struct kz_before *b, int *lock,
			  struct kz_err *err);
/* Under the lock: take away what this call made, unless it was there before or something runs in it. */
void kz_front_undo(const struct kz_front *f, const struct kz_before *b);

/* -- scan.c: the s6 tree -- */

/* Does an s6-svscan serve STATE/service? */
bool kz_front_is_scanning(const struct kz_front *f);
/* Copy the service directories and start s6-svscan on them with an environment built from empty. out: its pid and pidfd */
enum kz_rc kz_front_scan_start(const struct kz_front *f, const struct kz_conf *c, pid_t *pid,
			       int *pidfd, struct kz_err *err);
/* Ask s6-svscan to stop everything, and wait. err: KZ_E_TEMPFAIL */
enum kz_rc kz_front_scan_stop(const struct kz_front *f, struct kz_deadline until,
			      struct kz_err *err);
/* Copy a tree of plain files and folders; modes 0755 and 0644 by the x bit. */
enum kz_rc kz_front_copy(const char *from, const char *to, struct kz_err *err);

/* The services of a stack; the private server, which is first, unless KZ_VALKEY_URL names another. */
#define KZ_FRONT_SERVICES 4
extern const char *const kz_front_services[KZ_FRONT_SERVICES];
/* State of one service as s6 knows it. */
struct kz_service {
	bool is_up, wants_up, is_ready;
	int64_t pid;
	int exit_code; /* of the last death, -1 for none or a signal */
	int64_t since_s;
};
/* err: KZ_E_UNAVAILABLE when it is not supervised */
enum kz_rc kz_front_service(const struct kz_front *f, const char *name, struct kz_service *out,
			    struct kz_err *err);
/* s6-svc with one option ("-d", "-u", "-k"). */
enum kz_rc kz_front_control(const struct kz_front *f, const char *name, const char *option,
			    struct kz_err *err);

/* -- sweep.c: what is left -- */

/* Signal this stack's processes but this one; 0 only counts. in: program: those that run it; NULL: all. out: how many there are */
enum kz_rc kz_front_sweep(const struct kz_front *f, const char *program, int signal_number,
			  size_t *count, struct kz_err *err);
/* Delete every worker of the driver. out: how many there were */
enum kz_rc kz_front_workers_delete(const struct kz_front *f, const struct kz_conf *c, size_t *count,
				   struct kz_err *err);
/* Mounts below STATE, in this mount namespace; detach: take them away. */
enum kz_rc kz_front_mounts(const struct kz_front *f, bool detach, size_t *count,
			   struct kz_err *err);

/* -- sets.c -- */

/* Would these "NAME=VALUE" texts make a set that makes sense? err: setting_invalid, setting_unknown */
enum kz_rc kz_front_check(const struct kz_conf *c, const char *const *sets, size_t count,
			  struct kz_err *err);
/* Before anything is made: are they NAME=VALUE, and right over the defaults where there is no state yet? */
enum kz_rc kz_front_check_early(const struct kz_front *f, const char *const *sets, size_t count,
				struct kz_err *err);
/* Store "NAME=VALUE" texts, checked together first; c is kept in step. out: how many changed */
enum kz_rc kz_front_store(struct kz_conf *c, const char *const *sets, size_t count, size_t *changed,
			  struct kz_err *err);
/* Store one, without the others. err: as kz_conf_store */
enum kz_rc kz_front_store_one(const struct kz_front *f, const char *set, struct kz_err *err);
/* Say what was stored, and what of it counts only after a start. */
void kz_front_told(const struct kz_front *f, const char *const *sets, size_t count, size_t changed);
/* Say which settings stand in the caller's environment with another value: nobody reads them there [DEP-15]. */
void kz_front_note_environment(const struct kz_front *f, const struct kz_conf *c);

/* -- status.c -- */

/* Ask the authority. out: new */
enum kz_rc kz_front_ask(const struct kz_conf *c, struct kz_deadline until, struct kz_json **out,
			struct kz_err *err);

/* What the controller last wrote of itself (policy/schema/controller.json); NULL when it has not. out: new */
struct kz_json *kz_front_controller(const struct kz_front *f);

#endif
