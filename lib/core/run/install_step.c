/* The step that installs: a program of its own in the worker, before the run's, with the way to the gateway. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "core/audit/event.h"
#include "core/broker/token.h"
#include "core/conf/keys.h"
#include "core/run/egress.h"
#include "core/run/install_parts.h"
#include "rule/reason.h"

#define PUT_MS 30000
#define GRACE_MS 10000
#define TOKEN_NAME "KZ_PACKAGE_TOKEN"

struct step {
	struct kz_job *j;
	struct kz_buf said; /* what came on standard output */
	struct kz_json *record;
};

static int on_output(void *arg, int stream, const void *p, size_t n)
{
	struct step *s = arg;

	if (stream == 1)
		(void)kz_buf_add(&s->said, p, n, NULL);
	return 0;
}

/* What the shim is asked: {"requests","keys","imports":[[module,package]]}. */
static enum kz_rc write_ask(const struct kz_job *j, struct kz_buf *out, struct kz_err *err)
{
	const struct kz_install *in = j->install;
	kz_auto_json struct kz_json *o = kz_json_object();
	struct kz_json *requests = kz_json_array(), *keys = kz_json_array(),
		       *imports = kz_json_array();

	for (size_t i = 0; i < in->asked_count; i++) {
		const struct kz_requirement *r = &in->asked[i];

		/* a pin that the image satisfies goes along, so that nothing else's dependency shadows it [BRK-23] */
		if (in->is_satisfied[i] && !(in->is_baked[i] && r->is_pin))
			continue;
		kz_json_append(requests, kz_json_string(r->text));
		kz_json_append(keys, kz_json_string(r->key));
	}
	for (size_t i = 0; i < in->found.count; i++) {
		struct kz_json *pair;

		if (!in->is_wanted[i])
			continue;
		pair = kz_json_array();
		kz_json_append(pair, kz_json_string(in->found.list[i].module));
		kz_json_append(pair, kz_json_string(in->found.list[i].package));
		kz_json_append(imports, pair);
	}
	kz_json_set(o, "requests", requests);
	kz_json_set(o, "keys", keys);
	kz_json_set(o, "imports", imports);
	return kz_json_write(o, out, err);
}

static enum kz_rc mint(const struct kz_job *j, const char *execution, char out[KZ_PKG_TOKEN_TEXT],
		       struct kz_err *err)
{
	struct kz_secret key = { 0 };
	enum kz_rc rc = kz_keys_read(j->conf.state, KZ_KEY_PACKAGE, &key, err);

	if (!rc)
		rc = kz_pkg_token_mint(&key, j->run, execution,
				       kz_time_wall_ms() / 1000 +
					       j->conf.set.sandbox_package_token_ttl_seconds,
				       out, err);
	kz_secret_release(&key);
	return rc;
}

static enum kz_rc execute(struct step *s, const char *ask, struct kz_err *err)
{
	struct kz_job *j = s->j;
	bool is_node = j->install->eco == KZ_ECO_NODE;
	struct kz_ms wall = KZ_SECONDS(j->conf.set.sandbox_dependency_install_timeout_seconds);
	char execution[KZ_ID_HEX], token[KZ_PKG_TOKEN_TEXT] = "", variable[KZ_PKG_TOKEN_TEXT + 32];
	const char *const argv[] = { is_node ? "/usr/bin/node" : "/usr/bin/python3",
				     is_node ? KZ_SOURCE_DIR "/" KZ_INSTALL_SHIM : "-I",
				     is_node ? ask : KZ_SOURCE_DIR "/" KZ_INSTALL_SHIM,
				     is_node ? NULL : ask, NULL };
	const char *const envp[] = { "PATH=/usr/bin:/bin", "LANG=C.UTF-8", variable, NULL };
	const struct kz_wk_exec x = {
		.lease = j->lease.id,
		.argv = argv,
		.envp = envp,
		.wall = wall,
		.output_bytes = j->conf.set.sandbox_max_output_bytes,
		.open_files = j->conf.set.kz_run_open_files,
		.gateway = execution,
	};
	const struct kz_wk_events ev = {
		.arg = s, .out = on_output, .stdin_fd = -1, .cancel_fd = j->cancel_fd
	};
	enum kz_rc rc;

	kz_random_id(execution);
	rc = mint(j, execution, token, err);
	if (!rc)
		rc = kz_str_format(variable, sizeof(variable), err, "%s=%s", TOKEN_NAME, token);
	if (!rc)
		rc = kz_wk_run(j->worker, &x, &ev, kz_deadline_in(KZ_MS(wall.ms + GRACE_MS)),
			       &s->record, err);
	explicit_bzero(token, sizeof(token));
	explicit_bzero(variable, sizeof(variable));
	return rc;
}

/* The last line that was said, which is the shim's own. */
static struct kz_json *last_line(const struct step *s)
{
	const char *text = kz_buf_str(&s->said);
	size_t n = strlen(text);
	struct kz_json *o = NULL;
	const char *from;

	if (!n || n != s->said.len || text[n - 1] != '\n')
		return NULL;
	from = memrchr(text, '\n', n - 1);
	from = from ? from + 1 : text;
	return kz_json_parse(from, (size_t)(text + n - 1 - from), &o, NULL) ? NULL : o;
}

/* The broker's word on what was asked of it, as far as it has one. */
static enum kz_reason cause_of(const struct kz_job *j, const struct kz_json *said)
{
	const struct kz_json *told = kz_json_get(said, "state");
	const struct kz_json *state = kz_json_is_object(told) ? told : NULL;
	const struct kz_json *one = kz_json_get(kz_json_get(state, "registries"),
						j->install->eco == KZ_ECO_NODE ? "npm" : "pypi");
	enum kz_reason r;

	/* by its own word, when the place that it installs into had no room left */
	if (kz_json_flag(said, "full", false))
		return KZ_R_PACKAGES_OVER_BOUND;
	/* who said that it failed could ask nobody why */
	if (said && !kz_json_flag(said, "ok", true) && !state)
		return KZ_R_GATEWAY_UNREACHABLE;
	if (one && !kz_json_flag(one, "reachable", true))
		return KZ_R_REGISTRY_UNREACHABLE;
	return kz_reason_find(kz_json_str(state, "reason", ""), &r) ?
		       r :
		       KZ_R_DEPENDENCY_INSTALL_FAILED;
}

static enum kz_rc missing(struct kz_job *j, const char *what, struct kz_err *err)
{
	(void)kz_install_failed(j, KZ_R_INTERPRETER_MISSING, err);
	return kz_refuse(err, KZ_R_DEPENDENCY_INSTALL_FAILED,
			 "the worker image has no %s, so nothing can be installed", what);
}

/* What ended it, when that was not the installer's own status. */
static enum kz_rc judge_end(struct kz_job *j, const struct kz_json *record, struct kz_err *err)
{
	const char *cause = kz_json_str(record, "cause", "");

	if (!kz_json_flag(record, "started", false))
		return missing(j, j->install->eco == KZ_ECO_NODE ? "node" : "python3", err);
	if (kz_str_eq(cause, "wall"))
		return kz_install_failed(j, KZ_R_DEPENDENCY_TIMEOUT, err);
	if (kz_str_eq(cause, "memory"))
		return kz_install_failed(j, KZ_R_MEMORY_EXCEEDED, err);
	if (kz_str_eq(cause, "pids"))
		return kz_install_failed(j, KZ_R_PIDS_EXCEEDED, err);
	return KZ_OK;
}

/* Success is status 0 and a lock; anything else failed, whatever it says [EXEC-8]. */
static enum kz_rc judge(struct step *s, struct kz_err *err)
{
	struct kz_job *j = s->j;
	kz_auto_json struct kz_json *said = last_line(s);
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_INSTALL_LOCK_MAX);
	const char *lacks = kz_json_str(said, "missing", NULL);
	struct kz_json *lock = NULL;
	enum kz_rc rc = judge_end(j, s->record, err);

	if (rc)
		return rc;
	if (kz_str_eq(kz_json_str(s->record, "cause", ""), "exit") &&
	    kz_json_num(s->record, "exit", -1) == 0 && kz_json_flag(said, "ok", false) &&
	    !kz_json_write(kz_json_get(said, "lock"), &text, err))
		lock = kz_lock_read(text.data, text.len);
	if (lock) {
		kz_json_free(j->install->lock);
		j->install->lock = lock;
		return KZ_OK;
	}
	if (kz_str_eq(lacks, "pip") || kz_str_eq(lacks, "npm"))
		return missing(j, lacks, err);
	return kz_install_failed(j, cause_of(j, said), err);
}

/* Nothing of a lease's earlier run may be shown to an installer; its shim stands where the program will. */
static enum kz_rc prepare(struct kz_job *j, struct kz_err *err)
{
	struct kz_deadline until = kz_deadline_min(j->sure, kz_deadline_in(KZ_MS(PUT_MS)));
	size_t n = 0;
	const char *text = kz_install_shim(j->install->eco, &n);
	enum kz_rc rc = KZ_OK;

	if (!j->is_lease_own)
		rc = kz_wk_shared_begin(j->worker, j->lease.id, NULL, NULL, j->scope.is_derived,
					until, err);
	return rc ? rc : kz_job_put_text(j, KZ_INSTALL_SHIM, text, n, until, err);
}

/* What an installer may start is told before it does, as a program is; without that nothing starts [AUD-10]. */
static enum kz_rc audit(struct kz_job *j, struct kz_err *err)
{
	const struct kz_audit_event e = {
		.code = KZ_AUDIT_RUN_CODE_INSTALL,
		.run = j->run,
		.actor = j->who.actor_id,
		.conversation = j->who.conversation_id,
		.reason = kz_reason_code(KZ_R_DEPENDENCY_MISSING),
		.count = (int64_t)kz_json_count(j->install->named),
		.bytes = -1,
	};

	return kz_audit_event(j->audit, &e, err);
}

enum kz_rc kz_install_step(struct kz_job *j, struct kz_err *err)
{
	struct step s = { .j = j, .said = KZ_BUF_INIT(KZ_INSTALL_LOCK_MAX) };
	kz_auto_buf struct kz_buf ask = KZ_BUF_INIT(65536);
	enum kz_rc rc;

	if (kz_json_flag(j->health, "single_use", false))
		return kz_install_failed(j, KZ_R_GATEWAY_UNAVAILABLE, err);
	rc = write_ask(j, &ask, err);
	if (!rc)
		rc = prepare(j, err);
	if (!rc)
		rc = audit(j, err);
	if (!rc)
		rc = execute(&s, kz_buf_str(&ask), err);
	if (rc && kz_str_eq(err->reason, kz_reason_code(KZ_R_GATEWAY_UNAVAILABLE)))
		rc = kz_install_failed(j, KZ_R_GATEWAY_UNAVAILABLE, err);
	else if (!rc && kz_job_is_cancelled(j))
		rc = kz_refuse(err, KZ_R_CANCELLED, NULL);
	else if (!rc)
		rc = judge(&s, err);
	kz_json_free(s.record);
	kz_buf_release(&s.said);
	return rc;
}
