/* The authority as people and programs see it: status and leases as JSON. */
#include "base/str.h"
#include "core/pool/authority_call.h"
#include "port/json.h"
#include "rule/reason.h"

#define STATES 5
static const char *const state_names[STATES] = { "creating", "warm", "leased", "resetting",
						 "retiring" };

/* The value of a name in a flat list of names and values; NULL when absent. */
static const struct kz_vk_reply *field(const struct kz_vk_reply *flat, const char *name)
{
	for (size_t i = 0; i + 1 < kz_vk_count(flat); i += 2)
		if (kz_str_eq(kz_vk_str(kz_vk_at(flat, i)), name))
			return kz_vk_at(flat, i + 1);
	return NULL;
}

static struct kz_json *counts(const int64_t n[STATES])
{
	struct kz_json *o = kz_json_object();

	for (size_t i = 0; i < STATES; i++)
		kz_json_set_int(o, state_names[i], n[i]);
	return o;
}

typedef void (*each_fn)(void *to, const struct kz_vk_reply *worker, const char *node);

/* Every worker of a node, page by page. */
static enum kz_rc each_worker(struct kz_auth *a, const char *node, each_fn each, void *to,
			      struct kz_err *err)
{
	char after[KZ_WORKER_NAME] = "";
	const char *const args[] = { node, after, NULL };

	for (;;) {
		kz_auto_vk_reply struct kz_vk_reply *r = NULL;
		enum kz_rc rc = kz_auth_call_text(a, "list", args, &r, err);
		const struct kz_vk_reply *page = kz_vk_at(r, 2);

		for (size_t i = 0; !rc && i < kz_vk_count(page); i++)
			each(to, kz_vk_at(page, i), node);
		if (!rc)
			rc = kz_str_copy(after, sizeof(after), kz_vk_str(kz_vk_at(r, 1)), err);
		if (rc || !after[0])
			return rc;
	}
}

static void count_state(void *to, const struct kz_vk_reply *worker, const char *node)
{
	int64_t *n = to;

	(void)node;
	for (size_t i = 0; i < STATES; i++)
		n[i] += kz_str_eq(kz_vk_str(kz_vk_at(worker, 1)), state_names[i]);
}

/* Add the nodes; out: totals over them. */
static enum kz_rc add_nodes(struct kz_auth *a, struct kz_json *status,
			    const struct kz_vk_reply *nodes, int64_t totals[STATES],
			    struct kz_err *err)
{
	struct kz_json *list = kz_json_array();
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && i < kz_vk_count(nodes); i++) {
		const char *name = kz_vk_str(kz_vk_at(kz_vk_at(nodes, i), 0));
		struct kz_json *node = kz_json_object();
		int64_t n[STATES] = { 0 };

		rc = each_worker(a, name, count_state, n, err);
		for (size_t s = 0; s < STATES; s++)
			totals[s] += n[s];
		kz_json_set_str(node, "node", name);
		kz_json_set_bool(node, "open", kz_vk_int(kz_vk_at(kz_vk_at(nodes, i), 1)) == 1);
		kz_json_set(node, "workers", counts(n));
		kz_json_append(list, node);
	}
	kz_json_set(status, "nodes", list);
	return rc;
}

static void add_numbers(struct kz_json *o, const struct kz_vk_reply *flat)
{
	static const char *const names[][2] = {
		{ "allocated", "allocated" },   { "ceiling", "ceiling" },
		{ "desired", "desired" },       { "quarantined", "quarantined" },
		{ "ambiguous", "ambiguous" },   { "waiting", "waiting" },
		{ "eligible", "eligible" },     { "queue_max", "queue_max" },
		{ "per_member", "per_member" }, { "outbox", "outbox" },
		{ "fence", "fence" },           { "now_ms", "now_ms" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		kz_json_set_int(o, names[i][1], kz_vk_int(field(flat, names[i][0])));
}

enum kz_rc kz_auth_status(struct kz_auth *a, struct kz_json **out, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	kz_auto_json struct kz_json *o = kz_json_object();
	struct kz_json *admission = kz_json_object();
	const char *const none[] = { NULL };
	int64_t totals[STATES] = { 0 };
	const struct kz_vk_reply *flat;
	enum kz_rc rc = kz_auth_call_text(a, "status", none, &r, err);

	flat = kz_vk_at(r, 1);
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "status");
	kz_json_set_bool(admission, "open", kz_vk_int(field(flat, "open")) == 1);
	kz_json_set_str(admission, "reason", kz_vk_str(field(flat, "reason")));
	kz_json_set(o, "admission", admission);
	if (!rc)
		rc = add_nodes(a, o, kz_vk_at(r, 2), totals, err);
	kz_json_set(o, "workers", counts(totals));
	kz_json_set_str(o, "image", kz_vk_str(field(flat, "image")));
	kz_json_set_str(o, "store", kz_vk_str(field(flat, "store")));
	add_numbers(o, flat);
	if (rc)
		return rc;
	if (!o)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	*out = kz_take(o);
	return KZ_OK;
}

static void add_lease(void *to, const struct kz_vk_reply *r, const char *node)
{
	struct kz_json *o;

	/* Only a lease that is in force or being reset has an id. */
	if (kz_str_eq(kz_vk_str(kz_vk_at(r, 3)), "-"))
		return;
	o = kz_json_object();
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "lease");
	kz_json_set_str(o, "lease", kz_vk_str(kz_vk_at(r, 3)));
	kz_json_set_str(o, "state", kz_vk_str(kz_vk_at(r, 1)));
	kz_json_set_str(o, "worker", kz_vk_str(kz_vk_at(r, 0)));
	kz_json_set_str(o, "node", node);
	kz_json_set_str(o, "actor", kz_vk_str(kz_vk_at(r, 4)));
	kz_json_set_str(o, "conversation", kz_vk_str(kz_vk_at(r, 5)));
	kz_json_set_int(o, "fence", kz_vk_int(kz_vk_at(r, 6)));
	kz_json_set_int(o, "expires_ms", kz_vk_int(kz_vk_at(r, 7)));
	kz_json_set_int(o, "since_ms", kz_vk_int(kz_vk_at(r, 8)));
	kz_json_append(to, o);
}

enum kz_rc kz_auth_leases(struct kz_auth *a, struct kz_json **out, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	kz_auto_json struct kz_json *list = kz_json_array();
	const char *const none[] = { NULL };
	enum kz_rc rc = kz_auth_call_text(a, "status", none, &r, err);
	const struct kz_vk_reply *nodes = kz_vk_at(r, 2);

	if (!list)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	for (size_t i = 0; !rc && i < kz_vk_count(nodes); i++)
		rc = each_worker(a, kz_vk_str(kz_vk_at(kz_vk_at(nodes, i), 0)), add_lease, list,
				 err);
	if (!rc)
		*out = kz_take(list);
	return rc;
}
