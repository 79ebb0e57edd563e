/*
 * Reset: end, wipe, make anew, measure, in that order [RESET-6].
 *
 * The wipe is the death of the tenant's namespaces and of its file system, which
 * nothing else holds.  The next tenant's wall is made while the program runs, beside
 * it and out of its sight, and takes the place of the old one after the wipe: what
 * is measured then is exactly one fresh wall around one fresh file system, as at
 * birth.  Where it is missing it is made in the reset.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"
#include "worker/client.h"
#include "worker/dirty.h"
#include "worker/view.h"

#define END_PATIENCE KZ_SECONDS(10)
#define MAKE_PATIENCE                                                                              \
	KZ_SECONDS(15) /* a machine full of runs is slow, and the caller has its own bound */

#define FAR_PATIENCE KZ_SECONDS(3)

struct stamps {
	int64_t killed, wiped, measured;
};

static enum kz_rc dirty(struct kz_worker *w, struct kz_err *err)
{
	int s = kz_surface_find(w->reset_dirty);

	if (!w->reset_dirty[0])
		return KZ_OK;
	if (s < 0 || !kz_dirty_outside((enum kz_surface)s, &w->boot, &w->space))
		return kz_err_set(err, KZ_E_SOFTWARE, "cannot dirty %s", w->reset_dirty);
	return kz_wall_dirty(&w->wall, s, kz_deadline_in(MAKE_PATIENCE), err);
}

void kz_worker_prepare(struct kz_worker *w)
{
	if (w->boot.single_use || w->next.pid > 0 ||
	    kz_space_open(&w->next_space, KZ_SPACE_NEXT, &w->boot, NULL) != KZ_OK)
		return;
	if (kz_wall_begin(&w->next, KZ_SPACE_NEXT, &w->boot, &w->deny, NULL) != KZ_OK)
		kz_space_close(&w->next_space);
}

/* Put what was prepared in place. out: false when there is nothing that could be */
static bool take_next(struct kz_worker *w)
{
	struct kz_err err = KZ_ERR_INIT;

	if (w->next.pid <= 0)
		return false;
	if (kz_wall_await(&w->next, kz_deadline_in(MAKE_PATIENCE), &err) == KZ_OK &&
	    kz_space_settle(&w->next_space, &err) == KZ_OK) {
		w->wall = w->next;
		w->space = w->next_space;
		w->next = (struct kz_wall)KZ_WALL_INIT;
		w->next_space = (struct kz_space)KZ_SPACE_NONE;
		return true;
	}
	kz_log(KZ_LOG_WARNING, "the next wall is made again", "text", err.text, NULL);
	kz_wall_end(&w->next, kz_deadline_in(END_PATIENCE));
	kz_space_close(&w->next_space);
	return false;
}

static enum kz_rc make_now(struct kz_worker *w, struct kz_err *err)
{
	enum kz_rc rc = kz_space_open(&w->space, KZ_SPACE_AT, &w->boot, err);

	return rc == KZ_OK ? kz_wall_start(&w->wall, KZ_SPACE_AT, &w->boot, &w->deny,
					   kz_deadline_in(MAKE_PATIENCE), err) :
			     rc;
}

/*
 * The kernel puts the proxy's end of a connection into the namespace of who connected.
 * It is gone when the proxy has seen ours closed; one that does not see it stays in the reading.
 */
static void await_far_ends(struct kz_worker *w)
{
	struct kz_deadline until = kz_deadline_in(FAR_PATIENCE);

	if (!kz_run_was_outside(w->run))
		return;
	while (kz_view_sockets() > w->own_sockets && !kz_deadline_passed(until))
		kz_time_sleep(KZ_MS(1), until);
}

enum kz_rc kz_worker_renew(struct kz_worker *w, struct kz_census *c, int clients,
			   struct kz_err *err)
{
	enum kz_rc rc = take_next(w) ? KZ_OK : make_now(w, err);

	if (rc == KZ_OK)
		await_far_ends(w);
	if (rc == KZ_OK)
		rc = dirty(w, err);
	/* after the wall stands: what the last tenant left in its cgroup has had the longest time to show */
	kz_census_empty(c, &w->boot);
	if (rc == KZ_OK)
		rc = kz_census_take(c, &w->boot, &w->space, &w->wall, clients,
				    kz_deadline_in(MAKE_PATIENCE), err);
	return rc;
}

/* Which place it is, for a person who is told that modes differ. */
static void tell_modes(struct kz_json *o, const struct kz_census *now, const struct kz_census *base)
{
	char text[160];

	kz_view_changed(now->modes_in, base->modes_in, true, text, sizeof text);
	if (!text[0])
		kz_view_changed(now->modes_out, base->modes_out, false, text, sizeof text);
	if (text[0])
		kz_json_set_str(o, "changed", text);
}

static struct kz_json *surface(const struct kz_census *now, const struct kz_census *base, int i)
{
	struct kz_json *o = kz_json_object();

	/* what could not be read is left out, so that no judge takes a number for it */
	if (now->at[i].now >= 0)
		kz_json_set_int(o, "now", now->at[i].now);
	kz_json_set_int(o, "baseline", base->at[i].now);
	if (now->at[i].digest[0] || base->at[i].digest[0]) {
		kz_json_set_str(o, "digest", now->at[i].digest);
		kz_json_set_str(o, "baseline_digest", base->at[i].digest);
	}
	if (i == KZ_SURFACE_MODES)
		tell_modes(o, now, base);
	return o;
}

static struct kz_json *readings(const struct kz_worker *w, const struct kz_census *c,
				const struct stamps *t)
{
	struct kz_json *o = kz_json_object(), *all = kz_json_object();

	for (int i = 0; i < KZ_SURFACE_COUNT; i++)
		kz_json_set(all, kz_surface_code((enum kz_surface)i), surface(c, &w->baseline, i));
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "readings");
	kz_json_set_str(o, "worker", w->boot.worker);
	kz_json_set_str(o, "instance", w->boot.instance);
	kz_json_set_str(o, "token", w->reset_token);
	kz_json_set_bool(o, "init_dead", true);
	kz_json_set_int(o, "killed_us", t->killed);
	kz_json_set_int(o, "wiped_us", t->wiped);
	kz_json_set_int(o, "measured_us", t->measured);
	kz_json_set(o, "surfaces", all);
	return o;
}

static void fail(struct kz_worker *w, const struct kz_err *err)
{
	w->tenure.state = KZ_TENURE_BROKEN;
	kz_log(KZ_LOG_ERROR, "reset failed", "text", err->text, NULL);
	if (w->resetter)
		kz_client_refuse(w->resetter, err);
	w->resetter = NULL;
}

void kz_worker_reset(struct kz_worker *w)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_census c;
	struct stamps t;
	struct kz_client *to = w->resetter;

	/* a run ends first, and comes back here with its record sent */
	if (kz_run_is_busy(w->run)) {
		kz_run_cancel(w->run, "lease_lost");
		return;
	}
	kz_client_tree_stop(w);
	if (!kz_wall_end(&w->wall, kz_deadline_in(END_PATIENCE))) {
		kz_err_set(&err, KZ_E_OS, "the tenant cannot be ended");
		fail(w, &err);
		return;
	}
	t.killed = kz_time_boot_us();
	kz_space_close(&w->space);
	t.wiped = kz_time_boot_us();
	if (kz_worker_renew(w, &c, w->client_count, &err) != KZ_OK) {
		fail(w, &err);
		return;
	}
	t.measured = kz_time_boot_us();
	if (kz_wall_join(&w->wall, &err) != KZ_OK) {
		fail(w, &err);
		return;
	}
	kz_tenure_clean(&w->tenure);
	w->shared = (struct kz_shared){ .count = 0 };
	w->resetter = NULL;
	if (to)
		kz_client_answer(to, 200, readings(w, &c, &t));
}
