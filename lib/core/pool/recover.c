/* Inventory: what really runs, by the driver's list and by the workers' own words. */
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/str.h"
#include "core/pool/keeper_parts.h"
#include "core/worker/client.h"

#define SEEN_MOST 4096
#define ASK_ONE KZ_SECONDS(1) /* a healthy worker answers in less than a millisecond */
#define ASK_ALL KZ_SECONDS(2) /* so long may hung workers hold up everything else */
#define SILENT_ROUNDS 3
#define ASK_AGAIN KZ_MS(500) /* where admission waits for it */

/* What a worker says of itself. */
enum word { WORD_FINE, WORD_SILENT, WORD_WRONG };

/* Where to ask it; false: a driver of workers without a control socket vouches for them alone. */
static bool place(const struct kz_keeper *k, const struct kz_seen *s, struct kz_wk_ask *ask)
{
	char suffix[96];
	struct stat st;

	if (kz_str_format(suffix, sizeof(suffix), NULL, "workers/%s/ctl/control.sock", s->worker) !=
		    KZ_OK ||
	    kz_conf_path(&k->conf, suffix, ask->socket_path, sizeof(ask->socket_path), NULL) !=
		    KZ_OK ||
	    stat(ask->socket_path, &st) < 0)
		return false;
	kz_worker_secret(&k->worker_key, s->worker, s->instance, ask->secret);
	return true;
}

static enum word hear(struct kz_seen *s, const struct kz_wk_ask *ask)
{
	if (!ask->health)
		return WORD_SILENT;
	s->fence = kz_json_num(ask->health, "fence", 0);
	s->is_bound = kz_json_is_object(kz_json_get(ask->health, "bound"));
	return kz_str_eq(kz_json_str(ask->health, "instance", s->instance), s->instance) ?
		       WORD_FINE :
		       WORD_WRONG;
}

/* How many rounds in a row this worker was silent, this one included; 0 forgets it. */
static int silent_rounds(struct kz_keeper *k, const char *worker, bool is_silent)
{
	struct kz_silent *s = NULL;

	for (size_t i = 0; i < k->silent_count; i++)
		if (kz_str_eq(k->silent[i].worker, worker))
			s = &k->silent[i];
	if (!is_silent) {
		if (s)
			s->rounds = 0;
		return 0;
	}
	if (!s) {
		struct kz_silent *grown =
			realloc(k->silent, (k->silent_count + 1) * sizeof(*grown));

		if (!grown)
			return 1;
		k->silent = grown;
		s = &grown[k->silent_count++];
		memset(s, 0, sizeof(*s));
		kz_str_copy(s->worker, sizeof(s->worker), worker, NULL);
	}
	s->is_seen = true;
	return ++s->rounds;
}

static void forget_silent(struct kz_keeper *k)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->silent_count; i++) {
		if (!k->silent[i].is_seen)
			continue;
		k->silent[kept] = k->silent[i];
		k->silent[kept++].is_seen = false;
	}
	k->silent_count = kept;
}

/* One inventory under way. */
struct round {
	struct kz_seen *seen;
	bool *is_bad;
	size_t count;
	struct kz_wk_ask *asks;
	size_t *asked; /* whom each question goes to */
	size_t ask_count;
	bool is_open_question; /* one was silent that may only be slow */
};

static void round_release(struct round *r)
{
	for (size_t i = 0; i < r->ask_count; i++) {
		kz_json_free(r->asks[i].health);
		explicit_bzero(r->asks[i].secret, sizeof(r->asks[i].secret));
	}
	free(r->asks);
	free(r->asked);
	free(r->seen);
	free(r->is_bad);
}

static enum kz_rc read_entry(const struct kz_json *o, struct kz_seen *s, struct kz_err *err)
{
	const char *name = kz_json_str(o, "worker", "");

	memset(s, 0, sizeof(*s));
	if (!kz_str_is_name(name) ||
	    kz_str_copy(s->worker, sizeof(s->worker), name, NULL) != KZ_OK ||
	    kz_str_copy(s->instance, sizeof(s->instance), kz_json_str(o, "instance", ""), NULL) !=
		    KZ_OK)
		return kz_refuse(err, KZ_R_DRIVER_PROTOCOL,
				 "the driver lists a worker without a proper name");
	return KZ_OK;
}

/* Is it just being made?  It counts its own sockets now; a question would be one of them. */
static bool is_in_the_making(const struct kz_keeper *k, const char *worker)
{
	for (const struct kz_job *j = k->jobs; j; j = j->next)
		if (j->kind == KZ_JOB_CREATE && kz_str_eq(j->task.worker, worker))
			return true;
	return false;
}

/*
 * Wrong, or silent for several rounds: not to be trusted with anybody.  Before admission
 * opens every worker must have said whom it belongs to, so one that may only be slow is
 * asked again before that: it is as good as its lease, and a machine may be busy.
 */
static void judge(struct kz_keeper *k, struct round *r)
{
	for (size_t i = 0; i < r->ask_count; i++) {
		struct kz_seen *s = &r->seen[r->asked[i]];
		enum word word = hear(s, &r->asks[i]);

		if (!r->asks[i].is_asked && k->is_reconciled)
			continue; /* it had no chance; the dumb ones before it will be gone soon */
		if (word == WORD_WRONG ||
		    silent_rounds(k, s->worker, word == WORD_SILENT) >= SILENT_ROUNDS) {
			r->is_bad[r->asked[i]] = true;
		} else if (word == WORD_SILENT && !k->is_reconciled) {
			r->is_open_question = true;
			kz_log(KZ_LOG_INFO, "worker silent, asked again", "worker", s->worker,
			       NULL);
		}
	}
	forget_silent(k);
}

/* A list that is older than a delete must not bring the deleted one back as an orphan [INV-2]. */
static bool is_gone(const struct kz_keeper *k, const struct kz_seen *s)
{
	for (size_t i = 0; i < k->gone_count; i++)
		if (kz_str_eq(k->gone[i].worker, s->worker) &&
		    (!k->gone[i].instance[0] || kz_str_eq(k->gone[i].instance, s->instance)))
			return true;
	return false;
}

static enum kz_rc make_round(struct round *r, size_t count, struct kz_err *err)
{
	r->seen = calloc(count + 1, sizeof(*r->seen));
	r->is_bad = calloc(count + 1, sizeof(*r->is_bad));
	r->asks = calloc(count + 1, sizeof(*r->asks));
	r->asked = calloc(count + 1, sizeof(*r->asked));
	return r->seen && r->is_bad && r->asks && r->asked ?
		       KZ_OK :
		       kz_err_set(err, KZ_E_OS, "out of memory");
}

static enum kz_rc read_list(struct kz_keeper *k, const struct kz_json *reply, struct round *r,
			    struct kz_err *err)
{
	const struct kz_json *list = kz_json_get(reply, "workers");
	enum kz_rc rc;

	if (!kz_json_is_array(list) || kz_json_count(list) > SEEN_MOST)
		return kz_refuse(err, KZ_R_DRIVER_PROTOCOL, "the driver's list is malformed");
	rc = make_round(r, kz_json_count(list), err);
	for (size_t i = 0; rc == KZ_OK && i < kz_json_count(list); i++) {
		const struct kz_json *o = kz_json_at(list, i);
		struct kz_seen *s = &r->seen[r->count];

		rc = read_entry(o, s, err);
		if (rc != KZ_OK || is_gone(k, s))
			continue;
		r->is_bad[r->count] =
			!is_in_the_making(k, s->worker) && !kz_json_flag(o, "alive", true);
		if (!r->is_bad[r->count] && !is_in_the_making(k, s->worker) &&
		    place(k, s, &r->asks[r->ask_count]))
			r->asked[r->ask_count++] = r->count;
		r->count++;
	}
	if (rc == KZ_OK)
		rc = kz_wk_health_all(r->asks, r->ask_count, ASK_ONE, kz_deadline_in(ASK_ALL), err);
	if (rc == KZ_OK)
		judge(k, r);
	return rc;
}

/* While draining: how many are in somebody's hands.  Who says nothing may be. */
static void count_bound(struct kz_keeper *k, const struct round *r)
{
	k->bound = 0;
	for (size_t i = 0; i < r->ask_count; i++)
		k->bound += !r->is_bad[r->asked[i]] &&
			    kz_str_eq(kz_json_str(r->asks[i].health, "state", "bound"), "bound");
	k->has_heard = true;
	k->next_inventory = kz_deadline_min(k->next_inventory, kz_deadline_in(KZ_SECONDS(1)));
}

/* Did the operator (kz down) close this node while we thought it open? */
static enum kz_rc notice_operator(struct kz_keeper *k, struct kz_err *err)
{
	kz_auto_json struct kz_json *status = NULL;
	enum kz_rc rc = kz_auth_status(k->auth, &status, err);

	if (rc == KZ_OK && k->is_open &&
	    kz_str_eq(kz_json_str(kz_json_get(status, "admission"), "reason", ""),
		      "deployment_closed"))
		k->is_closed_by_operator = true;
	return rc;
}

static enum kz_rc tell(struct kz_keeper *k, const struct kz_job *j, const struct round *r,
		       struct kz_err *err)
{
	const char *node = k->conf.set.kz_node;
	enum kz_rc rc = notice_operator(k, err);

	if (rc == KZ_OK)
		rc = kz_auth_inventory(k->auth, node, j->taken_ms, r->seen, r->count, err);
	for (size_t i = 0; rc == KZ_OK && i < r->count; i++) {
		if (!r->is_bad[i])
			continue;
		rc = kz_auth_lost(k->auth, r->seen[i].worker, r->seen[i].instance, err);
		if (rc == KZ_OK)
			kz_log(KZ_LOG_WARNING, "worker lost", "worker", r->seen[i].worker, NULL);
		else if (kz_str_eq(err->reason, "token_superseded"))
			rc = KZ_OK; /* being made, or on its way out already */
	}
	/* Says also whether this life of Valkey still knows us. */
	k->is_open = false; /* told again, in the same turn of the loop */
	return rc;
}

void kz_recover(struct kz_keeper *k, const struct kz_job *j, const struct kz_json *reply)
{
	struct round r = { 0 };
	struct kz_err err = KZ_ERR_INIT;
	enum kz_rc rc;

	if (k->gone_count > KZ_GONE_MOST) {
		k->next_inventory = (struct kz_deadline){ 0 };
		return;
	}
	rc = read_list(k, reply, &r, &err);

	k->next_inventory = kz_deadline_in(KZ_SECONDS(k->conf.set.kz_inventory_seconds));
	k->has_listed = true;
	k->listed = r.count;
	kz_keeper_listed(k, reply);
	if (rc == KZ_OK && k->ends == 1)
		count_bound(k, &r);
	if (rc != KZ_OK) {
		k->bad_driver = err;
		k->is_reconciled = false;
	} else if (r.is_open_question) {
		k->next_inventory = kz_deadline_in(ASK_AGAIN);
	} else if (k->is_owner && j->taken_ms > 0) {
		k->bad_driver = (struct kz_err)KZ_ERR_INIT;
		if (tell(k, j, &r, &err) != KZ_OK) {
			kz_keeper_fault(k, &err);
		} else {
			k->is_reconciled = true;
			k->is_close_told = false; /* Valkey did not know this node before */
			k->bad_valkey = (struct kz_err)KZ_ERR_INIT;
			k->next_step = (struct kz_deadline){ 0 };
		}
	}
	round_release(&r);
}
