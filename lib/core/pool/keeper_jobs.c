/* Verbs of the driver: in line, under way, finished. */
#include <string.h>
#include <sys/epoll.h>

#include "base/log.h"
#include "base/str.h"
#include "core/pool/keeper_parts.h"

#define DELETES_AT_ONCE 6 /* creates are bounded by Valkey */

static const char *const verbs[] = { "probe", "image", "list", "create", "delete" };

static bool is_same(const struct kz_job *j, enum kz_job_kind kind, const struct kz_task *t)
{
	return j->kind == kind && (!t || (kz_str_eq(j->task.worker, t->worker) &&
					  kz_str_eq(j->task.instance, t->instance)));
}

static struct kz_ms longest(const struct kz_keeper *k, enum kz_job_kind kind)
{
	switch (kind) {
	case KZ_JOB_CREATE: return KZ_SECONDS(k->conf.set.kz_create_timeout_seconds);
	case KZ_JOB_DELETE: return KZ_SECONDS(k->conf.set.kz_delete_timeout_seconds);
	case KZ_JOB_LIST: return KZ_SECONDS(10);
	case KZ_JOB_PROBE:
	case KZ_JOB_IMAGE: return KZ_SECONDS(60);
	}
	return KZ_SECONDS(10);
}

void kz_job_add(struct kz_keeper *k, enum kz_job_kind kind, const struct kz_task *task)
{
	struct kz_job *j, **at = &k->jobs;

	for (; *at; at = &(*at)->next)
		if (is_same(*at, kind, task))
			return;
	j = calloc(1, sizeof(*j));
	if (!j) {
		kz_log(KZ_LOG_ERROR, "out of memory", "verb", verbs[kind], NULL);
		return;
	}
	j->kind = kind;
	if (task)
		j->task = *task;
	j->give_up = kz_deadline_in(longest(k, kind));
	*at = j;
}

size_t kz_job_count(const struct kz_keeper *k, enum kz_job_kind kind)
{
	size_t n = 0;

	for (const struct kz_job *j = k->jobs; j; j = j->next)
		n += j->kind == kind;
	return n;
}

bool kz_job_has(const struct kz_keeper *k, enum kz_job_kind kind)
{
	return kz_job_count(k, kind) > 0;
}

static struct kz_json *request(const struct kz_job *j)
{
	struct kz_json *o = kz_json_object();

	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "verb", verbs[j->kind]);
	if (j->kind == KZ_JOB_CREATE || j->kind == KZ_JOB_DELETE) {
		kz_json_set_str(o, "worker", j->task.worker);
		kz_json_set_str(o, "instance", j->task.instance);
	}
	if (j->kind == KZ_JOB_CREATE)
		kz_json_set_str(o, "image", j->task.image);
	return o;
}

static enum kz_rc start(struct kz_keeper *k, struct kz_job *j, struct kz_err *err)
{
	kz_auto_json struct kz_json *o = request(j);
	struct epoll_event ev = { .events = EPOLLIN };
	enum kz_rc rc;

	if (j->kind == KZ_JOB_LIST)
		k->gone_count = 0;
	/* An inventory counts from before the driver was asked [FENCE-6]. */
	if (j->kind == KZ_JOB_LIST && k->auth && kz_auth_now(k->auth, &j->taken_ms, err) != KZ_OK) {
		kz_keeper_fault(k, err);
		return err->rc;
	}
	rc = kz_driver_start(k->driver, k->conf.state, o, kz_deadline_in(longest(k, j->kind)),
			     &j->driver, err);
	if (rc != KZ_OK)
		return rc;
	/* Without it the job is looked after once a second all the same. */
	if (epoll_ctl(k->epoll, EPOLL_CTL_ADD, kz_driver_fd(j->driver), &ev) < 0)
		kz_log(KZ_LOG_WARNING, "cannot watch a driver's answer", NULL);
	return KZ_OK;
}

static bool may_start(const struct kz_keeper *k, const struct kz_job *j)
{
	size_t running = 0;

	if (!kz_deadline_passed(j->not_before))
		return false;
	for (const struct kz_job *o = k->jobs; o; o = o->next)
		running += o->kind == KZ_JOB_DELETE && o->driver;
	return j->kind != KZ_JOB_DELETE || running < DELETES_AT_ONCE;
}

/* A delete that did not prove absence is tried again within its time; Valkey hands it out anew after that. */
static bool again(struct kz_job *j, enum kz_answer answer)
{
	static const int64_t wait_ms[] = { 200, 500, 1000, 2000, 4000 };
	size_t i = j->tries < 5 ? (size_t)j->tries : 4;

	if (j->kind != KZ_JOB_DELETE || answer == KZ_ANSWER_ABSENT ||
	    kz_deadline_passed(j->give_up))
		return false;
	j->tries++;
	j->not_before = kz_deadline_in(KZ_MS(wait_ms[i]));
	return true;
}

static void say_failure(const struct kz_job *j, const struct kz_json *reply, enum kz_answer answer)
{
	bool is_fine = (j->kind == KZ_JOB_DELETE && answer == KZ_ANSWER_ABSENT) ||
		       ((j->kind == KZ_JOB_CREATE || j->kind == KZ_JOB_LIST) &&
			answer == KZ_ANSWER_PRESENT) ||
		       kz_json_flag(reply, "ok", false);

	if (!is_fine)
		kz_log(KZ_LOG_WARNING, "driver failed", "verb", verbs[j->kind], "worker",
		       j->task.worker[0] ? j->task.worker : NULL, "reason",
		       kz_json_str(reply, "reason", "driver_failed"), "text",
		       kz_json_str(reply, "text", "no answer"), NULL);
}

/* True when the job is over and may be freed. */
static bool tend(struct kz_keeper *k, struct kz_job *j)
{
	kz_auto_json struct kz_json *reply = NULL;
	enum kz_answer answer = KZ_ANSWER_UNKNOWN;
	struct kz_err err = KZ_ERR_INIT;
	bool done = false;

	if (!j->driver && !may_start(k, j))
		return false;
	if (!j->driver && start(k, j, &err) != KZ_OK) {
		kz_log(KZ_LOG_ERROR, "cannot start the driver", "verb", verbs[j->kind], "text",
		       err.text, NULL);
		/* A create that was never started certainly made nothing. */
		answer = j->kind == KZ_JOB_CREATE ? KZ_ANSWER_ABSENT : KZ_ANSWER_UNKNOWN;
		done = true;
	} else if (kz_driver_poll(j->driver, &done, &reply, &answer, &err) != KZ_OK) {
		kz_log(KZ_LOG_ERROR, "driver", "verb", verbs[j->kind], "text", err.text, NULL);
		answer = KZ_ANSWER_UNKNOWN;
		done = true;
	} else if (done) {
		say_failure(j, reply, answer);
	}
	if (!done)
		return false;
	kz_driver_free(j->driver);
	j->driver = NULL;
	kz_keeper_done(k, j, reply, answer);
	return !again(j, answer);
}

void kz_job_tend(struct kz_keeper *k)
{
	struct kz_job **at = &k->jobs;

	while (*at) {
		struct kz_job *j = *at;

		if (!tend(k, j)) {
			at = &j->next;
			continue;
		}
		/* Handling it may have put others in line, but behind. */
		*at = j->next;
		free(j);
	}
}

void kz_job_free_all(struct kz_keeper *k)
{
	while (k->jobs) {
		struct kz_job *j = k->jobs;

		k->jobs = j->next;
		kz_driver_free(j->driver);
		free(j);
	}
}
