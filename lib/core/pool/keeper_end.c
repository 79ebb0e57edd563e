/* The end: nobody new, whoever is in may finish, no worker stays. */
#include "base/log.h"
#include "base/str.h"
#include "core/pool/keeper_parts.h"

/* Leases of this node that are still held or being reset. out: n; false when Valkey cannot be asked */
static bool leases(struct kz_keeper *k, size_t *n)
{
	kz_auto_json struct kz_json *list = NULL;
	struct kz_err err = KZ_ERR_INIT;

	*n = 0;
	if (!k->is_owner)
		return false;
	if (kz_auth_leases(k->auth, &list, &err) != KZ_OK) {
		kz_keeper_fault(k, &err);
		return false;
	}
	for (size_t i = 0; i < kz_json_count(list); i++)
		*n += kz_str_eq(kz_json_str(kz_json_at(list, i), "node", ""), k->conf.set.kz_node);
	return true;
}

/* Does nobody use a worker any more?  Without Valkey's word the workers' own counts: a lease outlives it [LEASE-23]. */
static bool is_drained(struct kz_keeper *k)
{
	size_t n;

	if (leases(k, &n))
		return n == 0;
	return k->has_heard && k->bound == 0;
}

/* Put every worker of the list on its way out. */
static void retire_listed(struct kz_keeper *k, const struct kz_json *reply)
{
	const struct kz_json *list = kz_json_get(reply, "workers");

	for (size_t i = 0; i < kz_json_count(list); i++) {
		const struct kz_json *o = kz_json_at(list, i);
		struct kz_task t = { .kind = KZ_TASK_DELETE };

		if (kz_str_copy(t.worker, sizeof(t.worker), kz_json_str(o, "worker", ""), NULL) !=
			    KZ_OK ||
		    kz_str_copy(t.instance, sizeof(t.instance), kz_json_str(o, "instance", ""),
				NULL) != KZ_OK)
			continue;
		/* Valkey first, so that nobody gets it meanwhile; without Valkey nobody can. */
		if (k->auth)
			kz_auth_lost(k->auth, t.worker, t.instance, NULL);
		kz_job_add(k, KZ_JOB_DELETE, &t);
	}
}

void kz_keeper_listed(struct kz_keeper *k, const struct kz_json *reply)
{
	if (k->ends == 2)
		retire_listed(k, reply);
}

static void delete_all(struct kz_keeper *k)
{
	bool is_idle = !kz_job_has(k, KZ_JOB_DELETE) && !kz_job_has(k, KZ_JOB_CREATE);

	if (k->has_listed && k->listed == 0 && is_idle) {
		k->ends = 3;
		return;
	}
	if (kz_deadline_passed(k->delete_until)) {
		kz_log(KZ_LOG_ERROR, "workers left behind", "count",
		       kz_log_int((long long)k->listed), NULL);
		k->ends = 3;
		return;
	}
	if (is_idle && !kz_job_has(k, KZ_JOB_LIST)) {
		k->has_listed = false;
		kz_job_add(k, KZ_JOB_LIST, NULL);
	}
}

void kz_keeper_end(struct kz_keeper *k)
{
	/* Another one speaks for this node: what runs here may be its, and nothing is ours. */
	if (k->ends == 1 && !k->is_owner && kz_str_eq(k->bad_valkey.reason, "node_taken")) {
		k->ends = 3;
		return;
	}
	if (k->ends == 1 && (is_drained(k) || kz_deadline_passed(k->drain_until))) {
		kz_log(KZ_LOG_INFO, "deleting the workers", NULL);
		k->ends = 2;
		k->has_listed = false;
		k->delete_until =
			kz_deadline_in(KZ_SECONDS(k->conf.set.kz_delete_timeout_seconds + 5));
	}
	if (k->ends == 2)
		delete_all(k);
}
