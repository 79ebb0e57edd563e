/* Packages in words: why they could not be installed, and what the record says of them. */
#include <string.h>

#include "base/str.h"
#include "core/run/install_parts.h"
#include "rule/reason.h"

#define NAMES_TEXT 120
#define STACK_TEXT 170

/* "a, b and 3 more" */
static void names(const struct kz_install *in, char out[NAMES_TEXT])
{
	size_t used = 0, count = kz_json_count(in->named);

	kz_str_copy(out, NAMES_TEXT, count ? "" : "a package", NULL);
	for (size_t i = 0; i < count; i++) {
		const char *s = kz_json_str_value(kz_json_at(in->named, i));
		size_t n = s ? strlen(s) : 0;

		if (used + n + 24 > NAMES_TEXT) {
			kz_str_format(out + used, NAMES_TEXT - used, NULL, "%s%zu more",
				      used ? " and " : "", count - i);
			return;
		}
		kz_str_format(out + used, NAMES_TEXT - used, NULL, "%s%s", used ? ", " : "", s);
		used += strlen(out + used);
	}
}

/* What the image has of what was asked for, "" when nothing. */
static void baked(const struct kz_job *j, char out[NAMES_TEXT])
{
	const struct kz_install *in = j->install;
	char version[KZ_INSTALL_VERSION];

	*out = '\0';
	for (size_t i = 0; i < in->asked_count && !*out; i++)
		if (!in->is_satisfied[i] &&
		    kz_baked_version(&j->conf, in->eco, in->asked[i].key, version))
			kz_str_format(out, NAMES_TEXT, NULL, "; the worker image has %.60s %s",
				      in->asked[i].name, version);
}

/* Whoever asked for nothing is told who did, and how a program starts without. */
static const char *inferred(const struct kz_install *in)
{
	for (size_t i = 0; i < in->found.count; i++)
		if (in->is_wanted[i])
			return "; the program imports it: --no-infer (infer_packages false) starts it without";
	return "";
}

static const char *why(enum kz_reason cause)
{
	return cause == KZ_R_DEPENDENCY_INSTALL_FAILED ?
		       "the installer failed: no version fits, requirements exclude each other, or something did not build" :
		       kz_reason_text(cause);
}

enum kz_rc kz_install_failed(struct kz_job *j, enum kz_reason cause, struct kz_err *err)
{
	struct kz_install *in = j->install;
	char what[NAMES_TEXT], has[NAMES_TEXT], stack[STACK_TEXT];

	in->cause = cause;
	in->is_unreachable = cause == KZ_R_REGISTRY_UNREACHABLE;
	in->is_timed_out = cause == KZ_R_DEPENDENCY_TIMEOUT;
	names(in, what);
	baked(j, has);
	kz_baked_stack(&j->conf, in->eco, stack, sizeof(stack));
	if (cause == KZ_R_REGISTRY_UNREACHABLE)
		return kz_refuse(
			err, KZ_R_DEPENDENCY_INSTALL_FAILED,
			"%s: the package registry cannot be reached; packages of the worker image need no registry%s%s%s%s",
			what, *stack ? " (" : "", stack, *stack ? ")" : "", has);
	if (cause == KZ_R_REGISTRY_UNSET)
		return kz_refuse(
			err, KZ_R_DEPENDENCY_INSTALL_FAILED,
			"%s: not in the worker image, and no registry is configured (SANDBOX_PACKAGE_REGISTRIES)%s%s%s",
			what, *stack ? "; the image has " : "", stack, has);
	if (cause == KZ_R_DEPENDENCY_TIMEOUT)
		return kz_refuse(
			err, KZ_R_DEPENDENCY_INSTALL_FAILED,
			"%s: not installed within %lld s (SANDBOX_DEPENDENCY_INSTALL_TIMEOUT_SECONDS)%s",
			what, (long long)j->conf.set.sandbox_dependency_install_timeout_seconds,
			has);
	return kz_refuse(err, KZ_R_DEPENDENCY_INSTALL_FAILED, "%s: %s%s%s", what, why(cause), has,
			 inferred(in));
}

void kz_job_packages_denial(const struct kz_job *j, struct kz_audit_denial *d)
{
	const struct kz_install *in = j->install;

	if (!in || (in->cause == KZ_R_NONE &&
		    !kz_str_eq(d->reason, kz_reason_code(KZ_R_DEPENDENCY_BAKED_PIN))))
		return;
	if (in->cause != KZ_R_NONE)
		d->cause = kz_reason_code(in->cause);
	d->packages = in->named;
	d->count = (int64_t)kz_json_count(in->named);
}

void kz_job_packages_record(const struct kz_job *j, struct kz_json *o)
{
	kz_json_set(o, "packages", kz_lock_list(j->install ? j->install->lock : NULL));
}

void kz_job_packages_not_run(const struct kz_job *j, struct kz_json *not_run)
{
	const struct kz_install *in = j->install;

	kz_json_set(not_run, "packages",
		    in && in->named ? kz_json_ref(in->named) : kz_json_array());
	kz_json_set_bool(not_run, "registry_unreachable", in && in->is_unreachable);
	kz_json_set_bool(not_run, "install_timed_out", in && in->is_timed_out);
	kz_json_set_str(not_run, "cause",
			in && in->cause != KZ_R_NONE ? kz_reason_code(in->cause) : NULL);
}
