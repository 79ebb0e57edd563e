/* Everything of a run that needs nobody else: settings, names, files. */
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "core/run/classify.h"
#include "core/run/install.h"
#include "core/run/job.h"
#include "core/run/kernel.h"
#include "core/run/shared.h"
#include "rule/reason.h"

/* The wall bound of the settings, which the caller can only lower. */
static struct kz_ms wall_bound(const struct kz_job *j)
{
	int64_t bound = j->conf.set.sandbox_max_wall_seconds * 1000;

	return KZ_MS(j->ask->wall_ms > 0 && j->ask->wall_ms < bound ? j->ask->wall_ms : bound);
}

/* Arguments travel as JSON, which carries UTF-8 only. */
static enum kz_rc check_args(struct kz_job *j, struct kz_err *err)
{
	size_t total = 0;

	for (size_t i = 0; i < j->ask->arg_count; i++) {
		size_t n = strlen(j->ask->args[i]);

		if (!kz_utf8_valid(j->ask->args[i], n))
			return kz_refuse(err, KZ_R_USAGE,
					 "argument %zu of the program is not UTF-8", i + 1);
		total += n + 1;
	}
	if (total > 65536)
		return kz_refuse(
			err, KZ_R_USAGE,
			"the program's arguments have %zu bytes, at most 65536 are allowed", total);
	return KZ_OK;
}

/* A scope that does not hold is a denial, and on record as one [EXEC-19, AUD-1]; nothing was asked for yet. */
static enum kz_rc deny(struct kz_job *j, const struct kz_err *refused, struct kz_err *err)
{
	char path[300];
	enum kz_rc rc = kz_conf_path(&j->conf, "audit/audit.db", path, sizeof(path), err);

	if (!rc)
		rc = kz_audit_open(&j->audit, path, err);
	if (rc)
		return rc;
	*err = *refused;
	return refused->rc;
}

/*
 * Code that administers a host is refused whether or not a kz is there to run anything;
 * where there is one, the refusal is on record as any other [EXEC-12, AUD-1].
 */
static enum kz_rc forbid(struct kz_job *j, const struct kz_err *refused, struct kz_err *err)
{
	struct kz_err why = KZ_ERR_INIT, same = KZ_ERR_INIT;
	enum kz_rc rc = kz_conf_load(&j->conf, NULL, &why);

	if (!rc)
		rc = kz_who_hash(&j->who, j->conf.state, &why);
	if (!rc && deny(j, refused, &same) && !j->audit)
		kz_log(KZ_LOG_WARNING, "a refusal is not on record", "reason", same.reason, NULL);
	*err = *refused;
	return refused->rc;
}

static enum kz_rc check_approval(struct kz_job *j, struct kz_err *err)
{
	if (!j->ask->approval || kz_approval_valid(j->ask->approval))
		return KZ_OK;
	return kz_refuse(err, KZ_R_USAGE,
			 "--approve needs 1 to %d printable characters without blanks",
			 KZ_APPROVAL_MAX);
}

static enum kz_rc read_source(struct kz_job *j, struct kz_err *err)
{
	return kz_source_read(&j->source, j->ask->path, j->ask->code, j->ask->language,
			      j->cancel_fd, err);
}

static enum kz_rc load_settings(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc = kz_conf_load(&j->conf, NULL, err);

	if (!rc)
		j->wall = wall_bound(j);
	return rc;
}

static enum kz_rc hash_names(struct kz_job *j, struct kz_err *err)
{
	return kz_who_hash(&j->who, j->conf.state, err);
}

typedef enum kz_rc (*step_fn)(struct kz_job *j, struct kz_err *err);

static enum kz_rc each(struct kz_job *j, const step_fn *steps, size_t count, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && i < count; i++)
		rc = steps[i](j, err);
	return rc;
}

/* What is asked for, as far as that tells by itself. */
static const step_fn asked[] = { check_approval, check_args, kz_job_input_names, kz_job_outputs,
				 read_source };
/* What it comes to here. */
static const step_fn found[] = { kz_job_env, load_settings, kz_job_inputs, kz_job_packages_plan,
				 hash_names };

enum kz_rc kz_job_prepare(struct kz_job *j, struct kz_err *err)
{
	const char *actor = j->ask->actor, *conversation = j->ask->conversation;
	struct kz_err refused = KZ_ERR_INIT, admin = KZ_ERR_INIT;
	enum kz_rc rc, denied = kz_job_scope(j, &actor, &conversation, &refused);

	if (denied == KZ_E_USAGE) {
		*err = refused;
		return denied;
	}
	rc = kz_who_set(&j->who, actor, conversation, err);
	if (!rc)
		rc = each(j, asked, sizeof(asked) / sizeof(*asked), err);
	if (!rc && kz_source_permitted(&j->source, &admin))
		return forbid(j, &admin, err);
	if (!rc)
		rc = each(j, found, sizeof(found) / sizeof(*found), err);
	if (rc)
		return rc;
	if (!denied)
		denied = kz_kernel_check(j, &refused);
	if (denied == KZ_E_USAGE) {
		*err = refused;
		return denied;
	}
	return denied ? deny(j, &refused, err) : KZ_OK;
}
