/* /metrics: what the status says, as gauges. */
#include <inttypes.h>
#include <string.h>

#include "core/gateway/pages.h"

/* A gauge of one number. */
struct gauge {
	const char *name, *member, *help;
};

static enum kz_rc put(struct kz_buf *b, const char *name, const char *help, int64_t n,
		      struct kz_err *err)
{
	return kz_buf_printf(b, err, "# HELP %s %s\n# TYPE %s gauge\n%s %" PRId64 "\n", name, help,
			     name, name, n);
}

static enum kz_rc begin(struct kz_buf *b, const char *name, const char *help, struct kz_err *err)
{
	return kz_buf_printf(b, err, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* A text of ours or of the settings as the value of a label. */
static enum kz_rc put_label(struct kz_buf *b, const char *text, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (; *text && rc == KZ_OK; text++)
		rc = *text == '\n'                 ? kz_buf_puts(b, "\\n", err) :
		     *text == '"' || *text == '\\' ? kz_buf_printf(b, err, "\\%c", *text) :
						     kz_buf_add(b, text, 1, err);
	return rc;
}

static enum kz_rc put_with(struct kz_buf *b, const char *name, const char *label, const char *value,
			   int64_t n, struct kz_err *err)
{
	enum kz_rc rc = kz_buf_printf(b, err, "%s{%s=\"", name, label);

	if (rc == KZ_OK)
		rc = put_label(b, value, err);
	return rc ? rc : kz_buf_printf(b, err, "\"} %" PRId64 "\n", n);
}

/* Each count of an object by its key. */
static enum kz_rc workers(struct kz_buf *b, const struct kz_json *status, struct kz_err *err)
{
	const struct kz_json *o = kz_json_get(status, "workers");
	enum kz_rc rc;

	if (!o)
		return KZ_OK;
	rc = begin(b, "kz_pool_workers", "Workers by state.", err);
	for (size_t i = 0; rc == KZ_OK && i < kz_json_count(o); i++)
		rc = put_with(b, "kz_pool_workers", "state", kz_json_key(o, i),
			      kz_json_num(o, kz_json_key(o, i), 0), err);
	return rc ? rc : put(b, "kz_leases", "Leases in force.", kz_json_num(o, "leased", 0), err);
}

static enum kz_rc numbers(struct kz_buf *b, const struct kz_json *status, struct kz_err *err)
{
	static const struct gauge gauges[] = {
		{ "kz_pool_allocated", "allocated", "Workers there are, in any state." },
		{ "kz_pool_wanted", "desired", "Workers that the pool wants to have." },
		{ "kz_pool_ceiling", "ceiling",
		  "Workers there may be (SANDBOX_POOL_MAX_ALLOCATED)." },
		{ "kz_pool_quarantined", "quarantined",
		  "Workers kept aside because they could not be proved clean." },
		{ "kz_pool_ambiguous", "ambiguous", "Creates whose outcome is not known yet." },
		{ "kz_tickets_waiting", "waiting", "Acquires that wait for a worker." },
		{ "kz_tickets_eligible", "eligible", "Of these, those that may be served next." },
		{ "kz_tickets_max", "queue_max",
		  "Acquires that may wait (SANDBOX_ACQUIRE_QUEUE_MAX)." },
		{ "kz_audit_outbox", "outbox", "Changes that the audit has not taken yet." },
	};
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; rc == KZ_OK && i < sizeof gauges / sizeof *gauges; i++)
		if (kz_json_is_int(kz_json_get(status, gauges[i].member)))
			rc = put(b, gauges[i].name, gauges[i].help,
				 kz_json_num(status, gauges[i].member, 0), err);
	return rc;
}

static enum kz_rc admission(struct kz_buf *b, const struct kz_json *status, struct kz_err *err)
{
	const struct kz_json *o = kz_json_get(status, "admission");
	bool is_open = kz_json_flag(o, "open", false);
	enum kz_rc rc = put(b, "kz_admission_open", "Are new runs taken?", is_open, err);

	if (rc != KZ_OK || is_open)
		return rc;
	if ((rc = begin(b, "kz_admission_closed", "Why no new runs are taken.", err)))
		return rc;
	return put_with(b, "kz_admission_closed", "reason", kz_json_str(o, "reason", "unknown"), 1,
			err);
}

static enum kz_rc services(struct kz_buf *b, const struct kz_json *status, struct kz_err *err)
{
	const struct kz_json *list = kz_json_get(status, "services");
	enum kz_rc rc = begin(b, "kz_service_ready", "Is this service ready?", err);

	for (size_t i = 0; rc == KZ_OK && i < kz_json_count(list); i++) {
		const struct kz_json *s = kz_json_at(list, i);

		rc = put_with(b, "kz_service_ready", "service", kz_json_str(s, "service", ""),
			      strcmp(kz_json_str(s, "state", ""), "ready") == 0, err);
	}
	return rc;
}

static enum kz_rc scope(struct kz_buf *b, const struct kz_json *o, struct kz_err *err)
{
	enum kz_rc rc;

	if (!o)
		return KZ_OK;
	rc = put(b, "kz_egress_attention", "Is the network access that is configured not held?",
		 kz_json_flag(o, "attention", false), err);
	if (rc == KZ_OK)
		rc = begin(b, "kz_egress_mode", "What an approved run may reach.", err);
	return rc ? rc :
		    put_with(b, "kz_egress_mode", "mode", kz_json_str(o, "effective", "isolated"),
			     1, err);
}

enum kz_rc kz_pages_gauges(const struct kz_told *t, struct kz_buf *b, struct kz_err *err)
{
	enum kz_rc rc = put(b, "kz_up", "Does the stack tell its status?", t->status != NULL, err);

	if (rc != KZ_OK || !t->status)
		return rc;
	if ((rc = admission(b, t->status, err)) || (rc = workers(b, t->status, err)) ||
	    (rc = numbers(b, t->status, err)) || (rc = services(b, t->status, err)))
		return rc;
	return scope(b, t->scope, err);
}
