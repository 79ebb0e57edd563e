/* Refusals on their way to the audit. */
#include "core/egress/proxy_audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/time.h"
#include "core/audit/audit.h"

#define TOGETHER_MS 1000 /* the same within this time is one row */
#define REST_MS 60000    /* the same reason, of who has had its rows */
#define SPENT_MS 3600000 /* then a peer without a grant has new ones */
#define NEAR 8           /* places where one spender may be */
#define RETRY_MS 5000
#define LOOK_MS 100 /* between two looks at what waits */

static bool is_same(const struct kz_px_denial *a, const struct kz_px_denial *b)
{
	return a->reason == b->reason && a->port == b->port && strcmp(a->host, b->host) == 0 &&
	       strcmp(a->execution, b->execution) == 0 && strcmp(a->who, b->who) == 0;
}

static uint64_t hash(const char *who)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (const char *p = who; *p; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	return h;
}

/* What was written of somebody; who is not known takes the place of whoever was quiet for longest. in: lock held */
static struct kz_px_spender *spender(struct kz_px_audit *a, const char *who, bool is_grant,
				     int64_t now)
{
	struct kz_px_spender *oldest = NULL;
	uint64_t home = hash(who);

	for (size_t i = 0; i < NEAR; i++) {
		struct kz_px_spender *s = &a->spenders[(home + i) % KZ_PX_SPENDERS];

		if (s->last_ms && strcmp(s->who, who) == 0) {
			oldest = s;
			break;
		}
		if (!oldest || s->last_ms < oldest->last_ms)
			oldest = s;
	}
	if (strcmp(oldest->who, who) != 0 || (!is_grant && now - oldest->since_ms >= SPENT_MS)) {
		*oldest = (struct kz_px_spender){ .since_ms = now };
		kz_str_copy(oldest->who, sizeof oldest->who, who, NULL);
	}
	oldest->last_ms = now;
	return oldest;
}

/* A row of its places from..to that is the same, else (may_begin) a free one that becomes it. in: lock held. out: false: neither */
static bool put_within(struct kz_px_audit *a, const struct kz_px_denial *d, size_t from, size_t to,
		       bool may_begin, unsigned *begun)
{
	struct kz_px_denial *spare = NULL;
	uint64_t home = hash(d->who);

	for (size_t i = from; i < to; i++) {
		struct kz_px_denial *t = &a->table[(home + i) % KZ_PX_DENIALS];

		if (t->due_ms && is_same(t, d)) {
			t->count++;
			return true;
		}
		if (!t->due_ms && !spare)
			spare = t;
	}
	if (!spare || !may_begin)
		return false;
	*spare = *d;
	(*begun)++;
	if (a->used++ == 0)
		pthread_cond_signal(&a->due);
	return true;
}

/*
 * in: lock held.  Who tries many destinations fills places of its own alone: the rest of
 * its refusals is told by reason and count, and nobody else's is lost.
 */
static void put(struct kz_px_audit *a, struct kz_px_denial *d, bool is_grant)
{
	int64_t now = kz_time_boot_ms();
	struct kz_px_spender *s = spender(a, d->who, is_grant, now);
	unsigned rest = 0;

	d->due_ms = now + TOGETHER_MS;
	if (put_within(a, d, 0, KZ_PX_EACH, s->rows < KZ_PX_ROWS, &s->rows))
		return;
	d->host[0] = '\0';
	d->port = 0;
	/* what was only named or shown by somebody else would be another row each time */
	if (!is_grant)
		d->execution[0] = d->run[0] = d->actor[0] = d->revision[0] = '\0';
	d->due_ms = now + REST_MS;
	if (!put_within(a, d, KZ_PX_EACH, KZ_PX_EACH + KZ_PX_REST, true, &rest))
		atomic_fetch_add(&a->lost, 1);
}

/* What a peer says of itself costs others nothing: only a grant of its own counts for its execution. */
static void name_who(char who[KZ_PX_WHO], const struct kz_px_refused *r)
{
	if (r->grant && r->is_own)
		kz_str_copy(who, KZ_PX_WHO, r->grant->execution, NULL);
	else if (r->is_tcp)
		kz_str_copy(who, KZ_PX_WHO, "tcp", NULL);
	else
		kz_str_format(who, KZ_PX_WHO, NULL, "uid %u", (unsigned)r->uid);
}

void kz_px_audit_put(struct kz_px_audit *a, enum kz_reason reason, const struct kz_target *t,
		     const struct kz_px_refused *r)
{
	struct kz_px_denial d = { .count = 1, .reason = reason };
	const struct kz_grant *g = r->grant;

	if (t) {
		kz_str_copy(d.host, sizeof d.host, t->host, NULL);
		d.port = t->port;
	}
	name_who(d.who, r);
	kz_str_copy(d.execution, sizeof d.execution, g ? g->execution : r->execution, NULL);
	if (g) {
		kz_str_copy(d.run, sizeof d.run, g->run, NULL);
		kz_str_copy(d.actor, sizeof d.actor, g->actor, NULL);
		kz_str_copy(d.revision, sizeof d.revision, g->revision, NULL);
	}
	pthread_mutex_lock(&a->lock);
	put(a, &d, g && r->is_own);
	pthread_mutex_unlock(&a->lock);
}

/* Those that are due, taken out. in: lock held; all: whatever their age. out: how many */
static size_t take_due(struct kz_px_audit *a, bool all, struct kz_px_denial out[KZ_PX_TOGETHER])
{
	int64_t now = kz_time_boot_ms();
	size_t count = 0;

	for (size_t i = 0; i < KZ_PX_DENIALS && a->used > 0 && count < KZ_PX_TOGETHER; i++) {
		if (!a->table[i].due_ms || (!all && now < a->table[i].due_ms))
			continue;
		out[count++] = a->table[i];
		a->table[i].due_ms = 0;
		a->used--;
	}
	return count;
}

static void say(const struct kz_px_denial *d)
{
	kz_log(KZ_LOG_WARNING, "egress refused", "reason", kz_reason_code(d->reason), "host",
	       d->host[0] ? d->host : NULL, "port", d->port ? kz_log_int(d->port) : NULL,
	       "execution", d->execution[0] ? d->execution : NULL, "count", kz_log_int(d->count),
	       NULL);
}

static enum kz_rc write_row(struct kz_audit *store, const struct kz_px_denial *d,
			    struct kz_err *err)
{
	struct kz_audit_egress e = { .run = d->run,
				     .actor = d->actor,
				     .execution = d->execution,
				     .revision = d->revision,
				     .reason = kz_reason_code(d->reason),
				     .host = d->host,
				     .port = d->port,
				     .count = d->count };

	return kz_audit_egress_denial(store, &e, err);
}

/* All of them or none. */
static enum kz_rc write_rows(struct kz_px_audit *a, struct kz_audit **store,
			     const struct kz_px_denial *d, size_t count, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	if (*store && !kz_audit_is_current(*store)) {
		kz_audit_close(*store);
		*store = NULL;
	}
	if (!*store)
		rc = kz_audit_open(store, a->path, err);
	if (rc == KZ_OK)
		rc = kz_audit_together(*store, err);
	for (size_t i = 0; rc == KZ_OK && i < count; i++)
		rc = write_row(*store, &d[i], err);
	if (rc == KZ_OK)
		return kz_audit_end(*store, err);
	kz_audit_close(*store);
	*store = NULL;
	return rc;
}

static void lose(struct kz_px_audit *a, const struct kz_px_denial *d, size_t count)
{
	for (size_t i = 0; i < count; i++)
		atomic_fetch_add(&a->lost, (unsigned long long)d[i].count);
}

/* Keep trying for a while: a store that is busy or full may come back. What is lost is counted. out: why it was given up */
static enum kz_rc keep_trying(struct kz_px_audit *a, struct kz_audit **store,
			      const struct kz_px_denial *d, size_t count, struct kz_err *err)
{
	bool was_failing = atomic_load(&a->is_failing);
	struct kz_deadline until = kz_deadline_in(KZ_MS(was_failing ? 0 : RETRY_MS));
	enum kz_rc rc;

	while ((rc = write_rows(a, store, d, count, err)) != KZ_OK) {
		/* the store works, and does not take one of them */
		if (kz_str_eq(err->reason, kz_reason_code(KZ_R_AUDIT_REFUSED)))
			return rc;
		if (!atomic_exchange(&a->is_failing, true))
			kz_log(KZ_LOG_ERROR, "refusals could not be recorded", "reason",
			       err->reason, "text", err->text, NULL);
		if (kz_deadline_passed(until) || atomic_load(&a->is_ending))
			return rc;
		kz_time_sleep(KZ_MS(200), until);
	}
	atomic_store(&a->is_failing, false);
	atomic_fetch_add(&a->written, count);
	return KZ_OK;
}

static void record(struct kz_px_audit *a, struct kz_audit **store, const struct kz_px_denial *d,
		   size_t count)
{
	struct kz_err err = KZ_ERR_INIT;

	for (size_t i = 0; i < count; i++)
		say(&d[i]);
	if (keep_trying(a, store, d, count, &err) == KZ_OK)
		return;
	if (!kz_str_eq(err.reason, kz_reason_code(KZ_R_AUDIT_REFUSED))) {
		lose(a, d, count);
		return;
	}
	/* One that the store does not take must not take the others with it. */
	for (size_t i = 0; i < count; i++) {
		err = (struct kz_err)KZ_ERR_INIT;
		if (keep_trying(a, store, &d[i], 1, &err) == KZ_OK)
			continue;
		kz_log(KZ_LOG_ERROR, "a refusal could not be recorded", "reason", err.reason,
		       "text", err.text, NULL);
		lose(a, &d[i], 1);
	}
}

/* in: lock held; gives it up while waiting. Not until a time of day: a clock that is set back would make that hours. */
static void await(struct kz_px_audit *a)
{
	if (a->used == 0) {
		pthread_cond_wait(&a->due, &a->lock);
		return;
	}
	pthread_mutex_unlock(&a->lock);
	kz_time_sleep(KZ_MS(LOOK_MS), KZ_NEVER);
	pthread_mutex_lock(&a->lock);
}

static void *run(void *arg)
{
	struct kz_px_audit *a = arg;
	struct kz_audit *store = NULL;
	static struct kz_px_denial d[KZ_PX_TOGETHER];
	size_t count;

	pthread_mutex_lock(&a->lock);
	while (!a->is_ending || a->used > 0) {
		if ((count = take_due(a, a->is_ending, d)) > 0) {
			pthread_mutex_unlock(&a->lock);
			record(a, &store, d, count);
			pthread_mutex_lock(&a->lock);
		} else {
			await(a);
		}
	}
	pthread_mutex_unlock(&a->lock);
	kz_audit_close(store);
	return NULL;
}

static void release(struct kz_px_audit *a)
{
	free(a->table);
	free(a->spenders);
	a->table = NULL;
	a->spenders = NULL;
}

enum kz_rc kz_px_audit_start(struct kz_px_audit *a, const char *path, struct kz_err *err)
{
	enum kz_rc rc;

	memset(a, 0, sizeof *a);
	if ((rc = kz_str_copy(a->path, sizeof a->path, path, err)) != KZ_OK)
		return rc;
	a->table = calloc(KZ_PX_DENIALS, sizeof *a->table);
	a->spenders = calloc(KZ_PX_SPENDERS, sizeof *a->spenders);
	if (!a->table || !a->spenders) {
		release(a);
		return kz_err_set(err, KZ_E_OS, "out of memory");
	}
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->due, NULL);
	if (pthread_create(&a->thread, NULL, run, a) != 0) {
		release(a);
		return kz_err_set(err, KZ_E_OS, "no thread for the audit");
	}
	return KZ_OK;
}

void kz_px_audit_stop(struct kz_px_audit *a)
{
	pthread_mutex_lock(&a->lock);
	a->is_ending = true;
	pthread_cond_signal(&a->due);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	release(a);
}
