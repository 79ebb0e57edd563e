#include "core/driver/oci_part.h"

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "base/where.h"
#include "core/driver/driver.h"
#include "core/driver/oci_rootless.h"
#include "port/json.h"
#include "rule/reason.h"

enum kz_rc kz_oci_open_with(struct kz_oci *o, const struct kz_conf *conf, const char *state,
			    struct kz_err *err)
{
	char path[KZ_OCI_PATH];
	struct group *g;

	memset(o, 0, sizeof *o);
	o->conf = *conf;
	if (kz_seal_init(err) || kz_str_copy(o->conf.state, sizeof o->conf.state, state, err) ||
	    kz_where_program("kz-worker", o->worker, sizeof o->worker, err))
		return err ? err->rc : KZ_E_CONFIG;
	/* What is there can be listed and deleted by a user who lost what making needs. */
	o->is_rootless = geteuid() != 0;
	if (o->is_rootless)
		kz_rootless_check(&o->bad_conf);
	g = !o->is_rootless && o->conf.set.kz_group[0] ? getgrnam(o->conf.set.kz_group) : NULL;
	o->gid = g ? g->gr_gid : (gid_t)-1;
	if (kz_oci_path(o, path, err, "run") || kz_dir_make(AT_FDCWD, path, 02750, o->gid, err) ||
	    kz_oci_path(o, path, err, "run/oci") ||
	    kz_dir_make(AT_FDCWD, path, 0700, (gid_t)-1, err))
		return err ? err->rc : KZ_E_CANTCREAT;
	return KZ_OK;
}

enum kz_rc kz_oci_open(struct kz_oci *o, struct kz_err *err)
{
	struct kz_err bad = KZ_ERR_INIT;
	struct kz_conf conf;
	enum kz_rc rc = kz_conf_load(&conf, NULL, &bad);

	/* What is there can be listed and deleted whatever the settings say; nothing new is made by wrong ones. */
	if (rc == KZ_E_CONFIG && kz_conf_state(conf.state, NULL) == KZ_OK) {
		kz_settings_default(&conf.set);
		rc = kz_oci_open_with(o, &conf, conf.state, err);
		o->bad_conf = bad;
		return rc;
	}
	if (rc && err)
		*err = bad;
	return rc ? rc : kz_oci_open_with(o, &conf, conf.state, err);
}

/* An answer with what went wrong, if anything did (new). */
static struct kz_json *reply(const char *answer, const struct kz_err *err)
{
	struct kz_json *j = kz_json_object();

	kz_json_set_int(j, "v", 1);
	if (answer)
		kz_json_set_str(j, "answer", answer);
	if (err && err->rc) {
		kz_json_set_str(j, "reason",
				err->reason[0] ? err->reason : kz_reason_code(KZ_R_DRIVER_FAILED));
		kz_json_set_str(j, "text", err->text);
	}
	return j;
}

static void add_worker(struct kz_json *j, const char *worker, const char *instance,
		       const char *image)
{
	kz_json_set_str(j, "worker", worker);
	kz_json_set_str(j, "instance", instance);
	kz_json_set_str(j, "image", image);
}

/* A directory that is no image gets no worker, and none of its files is taken on trust [IMG-11]. */
static enum kz_rc image_check(const struct kz_oci *o, struct kz_err *err)
{
	return kz_str_eq(o->conf.set.kz_image, "host") ? KZ_OK : kz_oci_tree_verify(o, err);
}

static struct kz_json *verb_probe(struct kz_oci *o)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_json *report = NULL;
	enum kz_rc rc = image_check(o, &err);
	struct kz_json *list;
	struct kz_json *j;

	if (!rc)
		rc = kz_oci_probe(o, KZ_OCI_FIRST, &report, &err);
	j = reply(NULL, rc ? &err : NULL);
	list = kz_json_get(report, "candidates");
	kz_json_set_bool(j, "ok", rc == KZ_OK);
	for (size_t i = 0; !rc && i < kz_json_count(list); i++) {
		struct kz_json *f = kz_json_at(list, i);

		if (!kz_json_flag(f, "ok", false))
			continue;
		kz_json_set_str(j, "runtime", o->rt.path);
		kz_json_set_str(j, "version", o->rt.version);
		kz_json_set(j, "posture", kz_json_ref(kz_json_get(f, "posture")));
		kz_json_set_bool(j, "single_use", o->rt.single_use);
		break;
	}
	if (list)
		kz_json_set(j, "candidates", kz_json_ref(list));
	kz_json_free(report);
	return j;
}

static enum kz_rc make_ready(struct kz_oci *o, struct kz_err *err)
{
	enum kz_rc rc = kz_oci_probe(o, KZ_OCI_KEPT, NULL, err);

	return rc ? rc : kz_oci_image(o, err);
}

static struct kz_json *verb_image(struct kz_oci *o)
{
	struct kz_err err = KZ_ERR_INIT;
	enum kz_rc rc = image_check(o, &err);
	struct kz_json *j;

	if (!rc)
		rc = make_ready(o, &err);
	j = reply(NULL, rc ? &err : NULL);
	kz_json_set_bool(j, "ok", rc == KZ_OK);
	if (!rc) {
		kz_json_set_str(j, "identity", o->image);
		kz_json_set_str(j, "runtime", o->rt.path);
		kz_json_set_bool(j, "single_use", o->rt.single_use);
	}
	return j;
}

/* A create whose name is taken: by itself (its outcome is what list says), or by another instance. */
static const char *taken(struct kz_oci *o, const char *worker, const char *instance)
{
	struct kz_oci_record r;
	bool is_alive;

	if (kz_oci_get(o, worker, &r, &is_alive, NULL))
		return "unknown";
	return kz_str_eq(r.instance, instance) ? "unknown" : "absent";
}

static struct kz_json *verb_create(struct kz_oci *o, const struct kz_json *q, const char *worker,
				   const char *instance)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_json *posture = NULL;
	const char *image = kz_json_str(q, "image", "");
	const char *answer = "absent";
	bool is_certain = true;
	struct kz_json *j;
	enum kz_rc rc = make_ready(o, &err);

	if (!rc && !kz_str_eq(image, o->image))
		rc = kz_refuse(&err, KZ_R_IMAGE_MISMATCH, "the image here is %s", o->image);
	if (!rc)
		rc = kz_oci_create(o, worker, instance, false, &posture, &is_certain, &err);
	if (!rc) {
		j = reply("present", NULL);
		add_worker(j, worker, instance, o->image);
		kz_json_set(j, "posture", posture ? posture : kz_json_null());
		kz_json_set_bool(j, "single_use", o->rt.single_use);
		return j;
	}
	if (kz_str_eq(err.reason, kz_reason_code(KZ_R_WORKER_EXISTS)))
		answer = taken(o, worker, instance);
	else if (!is_certain)
		answer = "unknown";
	j = reply(answer, &err);
	add_worker(j, worker, instance, image);
	return j;
}

static struct kz_json *verb_delete(struct kz_oci *o, const char *worker, const char *instance)
{
	struct kz_err err = KZ_ERR_INIT;
	enum kz_rc rc = kz_oci_delete(o, worker, instance, &err);
	struct kz_oci_record r;
	bool is_alive = false;
	struct kz_json *j;

	if (!rc)
		j = reply("absent", NULL);
	else
		j = reply(!kz_oci_get(o, worker, &r, &is_alive, NULL) && is_alive ? "present" :
										    "unknown",
			  &err);
	kz_json_set_str(j, "worker", worker);
	kz_json_set_str(j, "instance", instance);
	return j;
}

static struct kz_json *verb_get(struct kz_oci *o, const char *worker)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_oci_record r;
	bool is_alive = false;
	enum kz_rc rc = kz_oci_get(o, worker, &r, &is_alive, &err);
	struct kz_json *j;

	if (rc == KZ_E_NOINPUT)
		j = reply("absent", NULL);
	else
		j = reply(rc ? "unknown" : "present", rc ? &err : NULL);
	if (rc) {
		kz_json_set_str(j, "worker", worker);
		return j;
	}
	add_worker(j, r.worker, r.instance, r.image);
	kz_json_set_bool(j, "alive", is_alive);
	return j;
}

static struct kz_json *verb_list(struct kz_oci *o)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_json *list = NULL;
	enum kz_rc rc = kz_oci_list(o, &list, &err);
	struct kz_json *j = reply(rc ? "unknown" : "present", rc ? &err : NULL);

	if (!rc)
		kz_json_set(j, "workers", list);
	return j;
}

/* 32 hexadecimal digits, as kz_random_id makes them: it becomes part of file names. */
static bool is_instance(const char *s)
{
	return strlen(s) == KZ_ID_HEX - 1 && strspn(s, "0123456789abcdef") == KZ_ID_HEX - 1;
}

static struct kz_json *refused(enum kz_reason r, const char *text)
{
	struct kz_err err = KZ_ERR_INIT;

	kz_refuse(&err, r, "%s", text);
	return reply("unknown", &err);
}

/* Wrong settings: a create that was not even begun is certainly absent. */
static struct kz_json *not_by_these(const char *verb, const struct kz_err *bad)
{
	bool is_create = kz_str_eq(verb, "create");
	struct kz_json *j = reply(is_create ? "absent" : NULL, bad);

	if (!is_create)
		kz_json_set_bool(j, "ok", false);
	return j;
}

static struct kz_json *carry_out(struct kz_oci *o, const struct kz_json *q, const char *verb)
{
	const char *worker = kz_json_str(q, "worker", "");
	const char *instance = kz_json_str(q, "instance", "");
	char made[KZ_ID_HEX];

	if (kz_str_eq(verb, "probe"))
		return verb_probe(o);
	if (kz_str_eq(verb, "image"))
		return verb_image(o);
	if (kz_str_eq(verb, "list"))
		return verb_list(o);
	if (!kz_str_is_name(worker) || strlen(worker) > 48)
		return refused(KZ_R_MALFORMED_INPUT,
			       "worker must be a name of 1 to 48 characters of a-z 0-9 _ -");
	if (instance[0] && !is_instance(instance))
		return refused(KZ_R_MALFORMED_INPUT, "instance must be 32 hexadecimal digits");
	if (kz_str_eq(verb, "get"))
		return verb_get(o, worker);
	if (kz_str_eq(verb, "delete"))
		return verb_delete(o, worker, instance);
	if (!instance[0])
		kz_random_id(made);
	return verb_create(o, q, worker, instance[0] ? instance : made);
}

struct kz_json *kz_oci_answer(struct kz_oci *o, const char *line, size_t n)
{
	static const char *const verbs[] = { "probe", "image", "create", "delete", "get", "list" };
	static const char *const keys[] = { "v", "verb", "worker", "instance", "image", NULL };
	kz_auto_json struct kz_json *q = NULL;
	struct kz_err err = KZ_ERR_INIT;
	struct kz_json *j;
	const char *verb;
	bool is_verb = false;

	if (kz_json_parse(line, n, &q, &err) || kz_json_only(q, keys, &err) ||
	    !kz_json_is_object(q))
		return refused(KZ_R_MALFORMED_INPUT,
			       err.rc ? err.text : "a request is one JSON object");
	if (kz_json_num(q, "v", 0) != 1)
		return refused(KZ_R_MALFORMED_INPUT, "a request needs \"v\":1");
	verb = kz_json_str(q, "verb", "");
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
		is_verb |= kz_str_eq(verb, verbs[i]);
	if (!is_verb)
		return refused(KZ_R_MALFORMED_INPUT,
			       "verb must be one of probe image create delete get list");
	if (o->bad_conf.rc &&
	    (kz_str_eq(verb, "probe") || kz_str_eq(verb, "image") || kz_str_eq(verb, "create")))
		return not_by_these(verb, &o->bad_conf);
	if (kz_sys_before(KZ_SYS_DRV_CALL))
		return refused(KZ_R_DRIVER_FAILED, "the verb cannot be carried out");
	j = carry_out(o, q, verb);
	kz_sys_after(KZ_SYS_DRV_CALL);
	return j;
}
