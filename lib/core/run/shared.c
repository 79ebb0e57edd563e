/* The scope and the read-only files of a run. */
#include "core/run/shared.h"

#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "core/files/audience.h"
#include "core/run/egress.h"
#include "core/run/source_asks.h"
#include "rule/reason.h"

#define PUT_MS 30000

/* The names of the scope are the run's; whoever asks for others by hand is wrong. */
static enum kz_rc take_name(const char *what, const char *given, const char *has, const char **out,
			    struct kz_err *err)
{
	if (given && !kz_str_eq(given, has))
		return kz_refuse(err, KZ_R_USAGE, "the scope document is of another %s", what);
	*out = has;
	return KZ_OK;
}

static enum kz_rc check_ask(const struct kz_run_ask *ask, struct kz_err *err)
{
	if (!ask->scope && (ask->documents || ask->audience))
		return kz_refuse(err, KZ_R_USAGE, "--documents and --audience go with --scope");
	return ask->audience ? kz_audience_check(ask->audience, err) : KZ_OK;
}

enum kz_rc kz_job_scope(struct kz_job *j, const char **actor, const char **conversation,
			struct kz_err *err)
{
	const struct kz_run_ask *ask = j->ask;
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_TURN_MAX);
	struct kz_app_keys keys;
	struct kz_projection *p;
	enum kz_rc rc = check_ask(ask, err);

	if (rc || !ask->scope)
		return rc;
	rc = kz_conf_load(&j->conf, NULL, err);
	if (!rc)
		rc = kz_app_keys_read(j->conf.set.kz_app_keys_file, &keys, err);
	if (!rc && (rc = kz_file_read(AT_FDCWD, ask->scope, &text, err)))
		return rc == KZ_E_DATA ? kz_refuse(err, KZ_R_SCOPE_MALFORMED,
						   "the scope document is too large") :
					 kz_err_reason(err, kz_reason_code(KZ_R_INPUT_UNREADABLE));
	if (rc)
		return rc;
	j->shared = calloc(1, sizeof(*j->shared));
	if (!j->shared)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	p = &j->shared->projection;
	rc = kz_projection_read(kz_buf_str(&text), text.len, &keys, kz_time_wall_ms() / 1000, p,
				err);
	if (p->turn.json && p->turn.capability && p->turn.scope.turn) {
		j->scope.turn = p->turn.scope.turn;
		j->scope.member = p->turn.scope.actor;
		j->scope.position = p->turn.scope.position;
		j->scope.audit = (struct kz_audit_scope){
			.audience_version = p->turn.scope.audience_version,
			.capability = p->turn.capability,
			.manifest_sha256 = p->turn.manifest_sha256,
		};
	}
	/* a refusal is on record under the names that were claimed */
	if (p->turn.scope.actor && p->turn.conversation) {
		*actor = p->turn.scope.actor;
		*conversation = p->turn.conversation;
	}
	if (!rc)
		rc = take_name("actor", ask->actor, p->turn.scope.actor, actor, err);
	if (!rc)
		rc = take_name("conversation", ask->conversation, p->turn.conversation,
			       conversation, err);
	if (!rc && !ask->documents && kz_projection_has_files(p))
		rc = kz_refuse(err, KZ_R_USAGE,
			       "the scope document has files: --documents is needed");
	return rc;
}

/* Operators are told that a selection was withheld, and why: never of what [PRJ-29, AUD-12]. */
static enum kz_rc tell_withheld(struct kz_job *j, struct kz_err *err)
{
	const struct kz_prj_set *set = &j->shared->projection.set;
	const struct kz_audit_event e = {
		.code = kz_str_eq(set->event, KZ_PRJ_EVENT_MERGED) ?
				KZ_AUDIT_SANDBOX_SELECTION_WITHHELD :
				KZ_AUDIT_RUN_CODE_SELECTION_WITHHELD,
		.run = j->run,
		.actor = j->who.actor_id,
		.conversation = j->who.conversation_id,
		.reason = kz_reason_code(set->withheld),
		.count = -1,
		.bytes = -1,
	};

	if (!set->event)
		return KZ_OK;
	kz_log(KZ_LOG_INFO, set->event, "reason", e.reason, NULL);
	return kz_audit_event(j->audit, &e, err);
}

static struct kz_json *list_files(const struct kz_projection *p)
{
	struct kz_json *list = kz_json_array();

	for (size_t i = 0; i < p->set.file_count; i++) {
		struct kz_json *o = kz_json_object();

		kz_json_set_str(o, "name", p->set.files[i].name);
		kz_json_set_int(o, "size", p->set.files[i].doc->size);
		kz_json_set_str(o, "sha256", p->set.files[i].doc->sha256);
		kz_json_append(list, o);
	}
	return list;
}

static enum kz_rc put_files(struct kz_job *j, struct kz_err *err)
{
	struct kz_projection *p = &j->shared->projection;
	struct kz_deadline until = kz_deadline_min(j->sure, kz_deadline_in(KZ_MS(PUT_MS)));
	const char *audience = p->turn.scope.audience_version;
	enum kz_rc rc;

	j->scope.is_derived = j->scope.is_derived || p->set.has_selection;
	rc = kz_wk_shared_begin(j->worker, j->lease.id, p->sha256, audience, j->scope.is_derived,
				until, err);

	for (size_t i = 0; !rc && i < p->set.file_count; i++) {
		if (kz_job_is_cancelled(j))
			return kz_refuse(err, KZ_R_CANCELLED, NULL);
		rc = kz_wk_put(j->worker, j->lease.id, KZ_WK_SHARED, p->set.files[i].name,
			       p->fds[i], p->set.files[i].doc->size, 0444, until, NULL, err);
	}
	if (rc)
		return rc;
	j->shared->told = kz_json_object();
	kz_json_set_str(j->shared->told, "manifest_sha256", p->sha256);
	kz_json_set_str(j->shared->told, "audience_version", audience);
	kz_json_set(j->shared->told, "files", list_files(p));
	j->scope.is_private = p->set.has_selection;
	j->scope.audit.projected_count = (int64_t)p->set.file_count;
	j->scope.audit.projected_bytes = p->set.file_bytes;
	rc = kz_job_env_set(j, KZ_PRJ_ENV_DIR, err, "%s", KZ_PRJ_DIR);
	return rc ? rc : kz_job_env_set(j, KZ_PRJ_ENV_MANIFEST, err, "%s", p->manifest.data);
}

/* Of a set that was too large the audit has how large, never what [AUD-4]. */
static void note_refused(struct kz_job *j)
{
	const struct kz_prj_set *set = &j->shared->projection.set;

	if (set->reason == KZ_R_NONE || set->count <= 0)
		return;
	j->scope.refused_count = set->count;
	j->scope.refused_bytes = set->bytes;
}

enum kz_rc kz_job_stage(struct kz_job *j, struct kz_err *err)
{
	bool asked = false;
	enum kz_rc rc = KZ_OK;

	/* they are kz's to set: nobody's word stands in their place, and without a file there is none [PRJ-9] */
	kz_job_env_unset(j, KZ_PRJ_ENV_DIR);
	kz_job_env_unset(j, KZ_PRJ_ENV_MANIFEST);
	/* a cell of a kernel gets no file, and the selection is not loaded [KRN-12] */
	if (j->shared && !j->ask->is_kernel) {
		rc = kz_source_asks(&j->source, &asked, err);
		if (!rc)
			rc = kz_projection_resolve(&j->shared->projection, j->ask->audience, asked,
						   KZ_PRJ_DIR, err);
		note_refused(j);
		if (j->shared->projection.is_resolved && j->shared->projection.set.event) {
			struct kz_err why = KZ_ERR_INIT;

			if (tell_withheld(j, &why) && !rc) {
				*err = why;
				rc = why.rc;
			}
		}
		if (!rc)
			rc = kz_projection_stage(&j->shared->projection, j->ask->documents, err);
		if (!rc && j->shared->projection.set.file_count)
			return put_files(j, err);
	}
	/* what a run before it under the same lease was shown is not this one's */
	if (!rc && !j->is_lease_own)
		rc = kz_wk_shared_begin(j->worker, j->lease.id, NULL, NULL, j->scope.is_derived,
					kz_deadline_min(j->sure, kz_deadline_in(KZ_MS(PUT_MS))),
					err);
	return rc;
}

struct kz_json *kz_job_shared_told(const struct kz_job *j)
{
	return j->shared ? j->shared->told : NULL;
}

struct kz_json *kz_job_shared_record(const struct kz_job *j)
{
	const struct kz_projection *p = j->shared ? &j->shared->projection : NULL;
	bool is_shown = p && j->shared->told;
	struct kz_json *o, *w = NULL;

	if (!p || !p->turn.manifest_sha256)
		return kz_json_null();
	o = kz_json_object();
	kz_json_set_int(o, "count", is_shown ? (int64_t)p->set.file_count : 0);
	kz_json_set_int(o, "bytes", is_shown ? p->set.file_bytes : 0);
	kz_json_set_str(o, "manifest_sha256", is_shown ? p->sha256 : NULL);
	kz_json_set_str(o, "admitted_sha256", p->turn.manifest_sha256);
	kz_json_set_bool(o, "private_selection", j->scope.is_private);
	if (p->is_resolved && p->set.event) {
		w = kz_json_object();
		kz_json_set_str(w, "event", p->set.event);
		kz_json_set_str(w, "reason", kz_reason_code(p->set.withheld));
	}
	kz_json_set(o, "withheld", w ? w : kz_json_null());
	/* the text of a document is never given in place of its bytes [PRJ-50] */
	kz_json_set_bool(o, "extracted_text_substitute", false);
	return o;
}

void kz_job_shared_free(struct kz_job *j)
{
	if (!j->shared)
		return;
	kz_projection_release(&j->shared->projection);
	kz_json_free(j->shared->told);
	free(j->shared);
	j->shared = NULL;
}
