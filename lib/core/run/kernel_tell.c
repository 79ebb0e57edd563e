/* What is told of a kernel's state: in the record, and on standard error. */
#include "base/str.h"
#include "core/run/keep_parts.h"
#include "core/run/kernel_parts.h"
#include "core/run/kernel_report.h"
#include "rule/reason.h"

/* Did what the cell saved come into the store? Under a lease without a store the worker has it. */
static bool is_stored(const struct kz_job *j)
{
	return !j->keep || kz_str_eq(j->keep->snapshot, "saved") ||
	       kz_str_eq(j->keep->snapshot, "unchanged");
}

static void set_generation(struct kz_json *o, int64_t n)
{
	kz_json_set(o, "generation", n < 0 ? kz_json_null() : kz_json_int(n));
}

/* No report: the state before this cell stays, whatever ended it [KRN-15]. */
static void set_missing(const struct kz_job *j, struct kz_json *o)
{
	kz_json_set_str(o, "status", "kept_previous");
	set_generation(o, j->kernel->generation);
	kz_json_set_int(o, "bytes", 0);
	kz_json_set_int(o, "restored", 0);
	kz_json_set(o, "lost", kz_json_array());
	kz_json_set(o, "restore_lost", kz_json_array());
	kz_json_set(o, "notes", kz_json_array());
	kz_json_set_str(o, "reason", kz_reason_code(KZ_R_KERNEL_REPORT_MISSING));
}

static void set_report(const struct kz_job *j, struct kz_json *o)
{
	static const char *const keys[] = { "status", "generation",   "bytes", "restored",
					    "lost",   "restore_lost", "notes", "reason" };
	const struct kz_json *r = j->kernel->report;
	bool is_saved = kz_str_eq(kz_json_str(r, "status", ""), "saved");

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		kz_json_set(o, keys[i], kz_json_ref(kz_json_get(r, keys[i])));
	if (!is_saved || is_stored(j))
		return;
	/* what the cell saved is not what the next one gets [KRN-8] */
	kz_json_set_str(o, "status", "kept_previous");
	set_generation(o, j->kernel->generation);
	kz_json_set_str(o, "reason",
			j->facts.has_failure ? kz_reason_code(j->facts.failure) : NULL);
}

/*
 * Is there something to tell?  Not of what never started.  Of a cell whose end nobody knows nothing came into the store, so
 * the state before it stays; where one worker alone has the state, nobody knows that either.
 */
static bool is_told(const struct kz_job *j)
{
	if (!j->kernel || !j->facts.is_dispatched)
		return false;
	return j->facts.has_record ? j->facts.is_started : j->keep != NULL;
}

struct kz_json *kz_kernel_record(const struct kz_job *j)
{
	struct kz_json *o;

	if (!is_told(j))
		return kz_json_null();
	o = kz_json_object();
	if (j->kernel->report)
		set_report(j, o);
	else
		set_missing(j, o);
	kz_json_set_int(o, "calls", j->kernel->tools.calls);
	kz_json_set_int(o, "calls_refused", j->kernel->tools.refused);
	kz_json_set_int(o, "call_bytes", j->kernel->tools.bytes);
	return o;
}

static void say(struct kz_job *j, const char *text, size_t n)
{
	if (j->err && n)
		kz_writer_add(j->err, text, n, NULL);
}

static void say_losses(struct kz_job *j, const struct kz_json *list, const char *what)
{
	char t[4 * KZ_KERNEL_TEXT_MOST];

	for (size_t i = 0; i < kz_json_count(list); i++) {
		const struct kz_json *x = kz_json_at(list, i);

		if (kz_str_format(t, sizeof t, NULL, "kz-run: kernel: %s %s: %s\n",
				  kz_json_str(x, "name", ""), what,
				  kz_json_str(x, "reason", "")) == KZ_OK)
			say(j, t, strlen(t));
	}
}

void kz_kernel_tell(struct kz_job *j)
{
	kz_auto_json struct kz_json *o = kz_kernel_record(j);
	const struct kz_json *notes = kz_json_get(o, "notes");
	const char *reason = kz_json_str(o, "reason", NULL);
	char t[4 * KZ_KERNEL_TEXT_MOST];

	if (j->ask->is_json || !kz_json_is_object(o))
		return;
	say_losses(j, kz_json_get(o, "lost"), "was not kept");
	say_losses(j, kz_json_get(o, "restore_lost"), "was not restored");
	for (size_t i = 0; i < kz_json_count(notes); i++)
		if (kz_str_format(t, sizeof t, NULL, "kz-run: kernel: %s\n",
				  kz_json_str_value(kz_json_at(notes, i))) == KZ_OK)
			say(j, t, strlen(t));
	if (!kz_str_eq(kz_json_str(o, "status", ""), "saved") &&
	    kz_str_format(t, sizeof t, NULL,
			  "kz-run: kernel: the state before this cell stays%s%s\n",
			  reason ? ": " : "", reason ? reason : "") == KZ_OK)
		say(j, t, strlen(t));
}
