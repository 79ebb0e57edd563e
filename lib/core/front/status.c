/* kz status: the authority's word, the services, the posture that was observed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/egress/view.h"
#include "core/front/parts.h"
#include "core/gateway/gateway.h"
#include "port/json.h"
#include "rule/reason.h"

enum kz_rc kz_front_ask(const struct kz_conf *c, struct kz_deadline until, struct kz_json **out,
			struct kz_err *err)
{
	kz_auto_auth struct kz_auth *a = NULL;
	char url[300];
	enum kz_rc rc;

	if ((rc = kz_conf_valkey_url(c, url, sizeof url, err)) ||
	    (rc = kz_auth_open(&a, url, c->set.kz_deployment_id, until, err)))
		return rc;
	return kz_auth_status(a, out, err);
}

/*
 * Callers of group kz may not look into the supervisor, whose fifo would also let
 * them command it.  What they can see: the server that answered them, and the
 * controller that keeps admission open.
 */
static const char *seen(const char *name, const struct kz_json *status)
{
	if (strcmp(name, "valkey") == 0 && kz_json_get(status, "workers"))
		return "ready";
	if (kz_json_flag(kz_json_get(status, "admission"), "open", false))
		return "ready";
	return "unknown";
}

/* in: status: the authority's answer, or what stands for it */
static struct kz_json *services(const struct kz_front *f, const struct kz_conf *c,
				const struct kz_json *status)
{
	struct kz_json *list = kz_json_array();

	for (size_t i = c->set.kz_valkey_url[0] ? 1 : 0; i < KZ_FRONT_SERVICES; i++) {
		struct kz_json *o = kz_json_object();
		struct kz_service s;

		kz_json_set_str(o, "service", kz_front_services[i]);
		if (kz_front_service(f, kz_front_services[i], &s, NULL)) {
			kz_json_set_str(o, "state", seen(kz_front_services[i], status));
		} else {
			kz_json_set_str(o, "state",
					!s.is_up   ? "down" :
					s.is_ready ? "ready" :
						     "up");
			kz_json_set_int(o, "pid", s.is_up ? s.pid : 0);
			kz_json_set_int(o, "state_ms", s.since_s * 1000);
		}
		kz_json_append(list, o);
	}
	return list;
}

struct kz_json *kz_front_controller(const struct kz_front *f)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(65536);
	struct kz_json *j = NULL;
	char path[KZ_FRONT_PATH];

	if (kz_front_path(f, "run/controller.json", path, sizeof path, NULL) ||
	    kz_file_read(AT_FDCWD, path, &b, NULL) ||
	    kz_json_parse(kz_buf_str(&b), b.len, &j, NULL))
		return NULL;
	return j;
}

/* The driver's own probe, never what the settings hope for [ADM-8]; null while there was none. */
static struct kz_json *posture(const struct kz_json *controller)
{
	static const char *const keys[] = { "runtime", "version", "single_use", "posture" };
	struct kz_json *o;

	if (!kz_json_str(controller, "runtime", NULL))
		return kz_json_null();
	o = kz_json_object();
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		struct kz_json *v = kz_json_get(controller, keys[i]);

		kz_json_set(o, keys[i], v ? kz_json_ref(v) : kz_json_null());
	}
	return o;
}

/* A closed admission says why in words, from the authority's failure or from the controller. */
static void explain(struct kz_json *status, const struct kz_json *controller)
{
	struct kz_json *admission = kz_json_get(status, "admission");
	const char *text = kz_json_str(kz_json_get(controller, "admission"), "text", "");

	if (!kz_json_flag(admission, "open", false) && !kz_json_str(admission, "text", NULL) &&
	    text[0])
		kz_json_set_str(admission, "text", text);
}

/* The scope that an approved run would get, from where a run gets it [ADM-3]; null when it cannot be told. */
static struct kz_json *egress(const struct kz_conf *c)
{
	kz_auto_egress_view struct kz_egress_view v;
	struct kz_json *o;

	if (kz_egress_look(c, kz_deadline_in(KZ_EGRESS_PATIENCE), &v, NULL))
		return kz_json_null();
	o = kz_json_object();
	kz_egress_view_brief(&v, o);
	return o;
}

/* Where the gateway listens, by its own word; null when it does not answer [DEP-5]. */
static struct kz_json *gateway(const struct kz_front *f)
{
	static const char *const keys[] = { "listen", "listening", "reason", "text" };
	kz_auto_json struct kz_json *told = NULL;
	struct kz_json *o;

	if (kz_gateway_ask(f->state, kz_deadline_in(KZ_SECONDS(1)), &told, NULL))
		return kz_json_null();
	o = kz_json_object();
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		struct kz_json *v = kz_json_get(told, keys[i]);

		kz_json_set(o, keys[i], v ? kz_json_ref(v) : kz_json_null());
	}
	return o;
}

/* Not there, or not for this caller? */
static enum kz_rc look(const struct kz_front *f, struct kz_err *err)
{
	struct stat st;

	if (stat(f->state, &st) == 0 && !S_ISDIR(st.st_mode))
		return kz_err_set(err, KZ_E_CONFIG, "%s is no directory", f->state);
	if (stat(f->state, &st) == 0 && access(f->state, R_OK | X_OK) != 0)
		return kz_refuse(
			err, KZ_R_NO_PERMISSION,
			"you may not use the kz in %s; its owner adds you to its group with: sudo usermod -aG kz USER",
			f->state);
	if (kz_front_is_scanning(f))
		return KZ_OK;
	return kz_refuse(err, KZ_R_NOT_RUNNING, "kz is not running; start it with: kz up");
}

enum kz_rc kz_front_status(struct kz_front *f, struct kz_json **out, struct kz_err *err)
{
	kz_auto_json struct kz_json *answer = NULL, *controller = kz_front_controller(f);
	struct kz_err why = KZ_ERR_INIT;
	struct kz_json *o;
	struct kz_conf c;
	enum kz_reason reason;
	enum kz_rc rc;

	*out = NULL;
	if ((rc = look(f, err)))
		return rc;
	rc = kz_conf_load(&c, f->state, &why);
	if (rc == KZ_E_CONFIG) {
		/* the controller has closed admission for the same reason; whom to ask is not known now */
		kz_settings_default(&c.set);
		c.state[0] = '\0';
	} else if (rc) {
		if (err)
			*err = why;
		return rc;
	} else {
		rc = kz_front_ask(&c, kz_deadline_in(KZ_SECONDS(5)), &answer, &why);
	}
	if (!(o = rc ? kz_json_object() : kz_take(answer)))
		return kz_err_set(err, KZ_E_OS, "out of memory");
	if (rc) {
		struct kz_json *admission = kz_json_object();

		kz_json_set_int(o, "v", 1);
		kz_json_set_str(o, "type", "status");
		kz_json_set_bool(admission, "open", false);
		kz_json_set_str(admission, "reason",
				why.reason[0] ? why.reason : "coordination_unavailable");
		kz_json_set_str(admission, "text", why.text);
		kz_json_set(o, "admission", admission);
	}
	kz_json_set_str(o, "state_dir", f->state);
	kz_json_set(o, "services", services(f, &c, o));
	kz_json_set(o, "posture", posture(controller));
	kz_json_set(o, "egress", rc == KZ_E_CONFIG ? kz_json_null() : egress(&c));
	kz_json_set(o, "gateway", gateway(f));
	explain(o, controller);
	*out = o;
	if (kz_json_flag(kz_json_get(o, "admission"), "open", false))
		return KZ_OK;
	if (!kz_reason_find(kz_json_str(kz_json_get(o, "admission"), "reason", ""), &reason))
		reason = KZ_R_NOT_RECONCILED;
	kz_err_set(err, KZ_E_NO, "admission is closed: %s",
		   why.text[0] ? why.text : kz_reason_text(reason));
	return kz_err_reason(err, kz_reason_code(reason));
}
