/* What kz status and kz doctor show to a person. */
#include <string.h>

#include "base/str.h"
#include "core/front/front.h"
#include "port/json.h"

static const char *const states[] = { "warm", "leased", "resetting", "creating", "retiring" };

static enum kz_rc add_workers(const struct kz_json *status, struct kz_buf *b, struct kz_err *err)
{
	const struct kz_json *workers = kz_json_get(status, "workers");
	enum kz_rc rc = kz_buf_puts(b, "workers    ", err);

	for (size_t i = 0; !rc && i < sizeof states / sizeof *states; i++)
		rc = kz_buf_printf(b, err, "%s%lld %s", i ? ", " : "",
				   (long long)kz_json_num(workers, states[i], 0), states[i]);
	return rc ? rc : kz_buf_puts(b, "\n", err);
}

/* Lines that say something only when there is something to say. */
static enum kz_rc add_trouble(const struct kz_json *status, struct kz_buf *b, struct kz_err *err)
{
	long long ambiguous = kz_json_num(status, "ambiguous", 0),
		  quarantined = kz_json_num(status, "quarantined", 0);
	enum kz_rc rc = KZ_OK;

	if (ambiguous > 0)
		rc = kz_buf_printf(b, err,
				   "ambiguous  %lld creates whose outcome is not known yet\n",
				   ambiguous);
	if (!rc && quarantined > 0)
		rc = kz_buf_printf(b, err, "quarantine %lld workers; see: kz logs kz-controller\n",
				   quarantined);
	return rc;
}

/* Whose kernel stands between tenants, in words that promise nothing that is not there [RT-4]. */
static const char *kernel_text(const struct kz_json *posture)
{
	const char *kernel = kz_json_str(kz_json_get(posture, "posture"), "kernel", "");

	if (kz_str_eq(kernel, "shared"))
		return ", hardened, on the shared kernel of this machine";
	return kz_str_eq(kernel, "gvisor") ? ", each on a kernel of its own (gVisor)" : "";
}

static enum kz_rc add_posture(const struct kz_json *posture, struct kz_buf *b, struct kz_err *err)
{
	const char *runtime = kz_json_str(posture, "runtime", NULL);

	if (!runtime)
		return kz_buf_puts(b, "posture    not observed yet\n", err);
	return kz_buf_printf(
		b, err, "posture    %s, %s%s\n", kz_json_str(posture, "version", runtime),
		kz_json_flag(posture, "single_use", false) ? "each worker used once" :
							     "workers reused after a proved reset",
		kernel_text(posture));
}

static enum kz_rc add_services(const struct kz_json *services, struct kz_buf *b, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && i < kz_json_count(services); i++) {
		const struct kz_json *s = kz_json_at(services, i);
		long long seconds = (long long)kz_json_num(s, "state_ms", -1) / 1000;

		rc = kz_buf_printf(b, err, "%s%-14s %s", i ? "           " : "services   ",
				   kz_json_str(s, "service", "?"), kz_json_str(s, "state", "?"));
		if (!rc && kz_json_num(s, "pid", 0) > 0)
			rc = kz_buf_printf(b, err, " (pid %lld, %lld s)",
					   (long long)kz_json_num(s, "pid", 0), seconds);
		if (!rc)
			rc = kz_buf_puts(b, "\n", err);
	}
	return rc;
}

/* Where the status page is, or why it is nowhere. */
static enum kz_rc add_gateway(const struct kz_json *gateway, struct kz_buf *b, struct kz_err *err)
{
	const char *listen = kz_json_str(gateway, "listen", NULL);

	if (!listen)
		return KZ_OK;
	if (kz_json_flag(gateway, "listening", false))
		return kz_buf_printf(b, err, "page       http://%s/\n", listen);
	return kz_buf_printf(b, err, "page       NOT at %s: %s; tried again every 10 s\n", listen,
			     kz_json_str(gateway, "text", "not listened on"));
}

/* One line: what an approved run reaches, or why nothing and what helps. */
static enum kz_rc add_egress(const struct kz_json *egress, struct kz_buf *b, struct kz_err *err)
{
	const struct kz_json *ports = kz_json_get(egress, "ports");
	const char *fix = kz_json_str(egress, "fix", "");
	enum kz_rc rc;

	if (!kz_json_is_object(egress))
		return kz_buf_puts(b, "network    not known\n", err);
	rc = kz_buf_printf(b, err, "network    %s%s",
			   kz_json_flag(egress, "attention", false) ? "ATTENTION: " : "",
			   kz_json_str(egress, "text", "?"));
	for (size_t i = 0; !rc && i < kz_json_count(ports); i++)
		rc = kz_buf_printf(b, err, "%s%lld", i ? ", " : "; ports ",
				   (long long)kz_json_int_value(kz_json_at(ports, i)));
	if (!rc && kz_json_count(ports) > 0)
		rc = kz_buf_puts(b, "; for approved runs", err);
	if (!rc && fix[0])
		rc = kz_buf_printf(b, err, "; fix: %s", fix);
	return rc ? rc : kz_buf_puts(b, "\n", err);
}

enum kz_rc kz_front_status_text(const struct kz_json *status, struct kz_buf *b, struct kz_err *err)
{
	const struct kz_json *admission = kz_json_get(status, "admission");
	bool is_open = kz_json_flag(admission, "open", false);
	enum kz_rc rc;

	if (is_open)
		rc = kz_buf_puts(b, "admission  open\n", err);
	else
		rc = kz_buf_printf(b, err, "admission  CLOSED: %s%s%s\n",
				   kz_json_str(admission, "reason", "unknown"),
				   kz_json_str(admission, "text", NULL) ? ": " : "",
				   kz_json_str(admission, "text", ""));
	if (!rc && kz_json_get(status, "workers") && !(rc = add_workers(status, b, err)))
		rc = kz_buf_printf(b, err, "queue      %lld waiting of at most %lld\n",
				   (long long)kz_json_num(status, "waiting", 0),
				   (long long)kz_json_num(status, "queue_max", 0));
	if (rc || (rc = add_trouble(status, b, err)) ||
	    (rc = add_posture(kz_json_get(status, "posture"), b, err)) ||
	    (rc = add_egress(kz_json_get(status, "egress"), b, err)) ||
	    (rc = add_services(kz_json_get(status, "services"), b, err)) ||
	    (rc = add_gateway(kz_json_get(status, "gateway"), b, err)))
		return rc;
	return kz_buf_printf(b, err, "state      %s\n", kz_json_str(status, "state_dir", "?"));
}

enum kz_rc kz_front_doctor_text(const struct kz_json *checks, struct kz_buf *b, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && i < kz_json_count(checks); i++) {
		const struct kz_json *c = kz_json_at(checks, i);
		const char *fix = kz_json_str(c, "fix", "");

		rc = kz_buf_printf(b, err, "%-5s %-11s %s%s%s\n", kz_json_str(c, "level", "fail"),
				   kz_json_str(c, "check", "?"), kz_json_str(c, "text", ""),
				   fix[0] ? "; fix: " : "", fix);
	}
	return rc;
}
