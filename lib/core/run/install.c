/* The packages of a run: what is asked for, what is there already, what is to be installed. */
#include "core/run/install.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/str.h"
#include "core/broker/registry.h"
#include "core/run/egress.h"
#include "core/run/install_parts.h"
#include "core/run/keep.h"
#include "rule/path.h"
#include "rule/reason.h"

#define LOOK_MS 5000

/* Is there a registry for this kind of package, and a broker to reach it by? */
static bool has_registry(const struct kz_job *j)
{
	struct kz_registries all;

	return j->conf.set.sandbox_package_broker_url[0] &&
	       !kz_registries_parse(j->conf.set.sandbox_package_registries, &all, NULL) &&
	       all.of[j->install->eco == KZ_ECO_NODE ? KZ_REGISTRY_NPM : KZ_REGISTRY_PYPI].is_set;
}

static enum kz_rc read_asked(struct kz_job *j, struct kz_err *err)
{
	struct kz_install *in = j->install;

	if (j->ask->requirement_count && !in->is_for_code)
		return kz_refuse(err, KZ_R_DEPENDENCY_REQUEST_INVALID,
				 "packages are for programs of python and node");
	if (j->ask->requirement_count > KZ_INSTALL_ASKS)
		return kz_refuse(err, KZ_R_DEPENDENCY_REQUEST_INVALID,
				 "at most %d packages may be asked for", KZ_INSTALL_ASKS);
	for (size_t i = 0; i < j->ask->requirement_count; i++) {
		const char *text = j->ask->requirements[i];
		size_t n = strlen(text);
		enum kz_rc rc;

		rc = kz_requirement_parse(in->eco, text, n, &in->asked[in->asked_count], err);
		/* what is no requirement has no name: it is told as it came, where it can be */
		if (rc && n <= KZ_REQUIREMENT_MAX && kz_utf8_valid(text, n) &&
		    !kz_str_has_control(text)) {
			kz_json_append(in->named, kz_json_string(text));
			rc = kz_err_wrap(err, "%s", text);
		}
		if (rc)
			return rc;
		kz_json_append(in->named, kz_json_string(in->asked[in->asked_count].name));
		in->asked_count++;
	}
	return KZ_OK;
}

/* The text of the program, wherever it is. */
static void find_imports(struct kz_job *j)
{
	struct kz_install *in = j->install;
	const struct kz_source *s = &j->source;
	void *p;

	if (s->text) {
		kz_imports_find(in->eco, s->text, strlen(s->text), &in->found);
		return;
	}
	if (s->fd < 0 || s->size <= 0)
		return;
	p = mmap(NULL, (size_t)s->size, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (p == MAP_FAILED)
		return;
	kz_imports_find(in->eco, p, (size_t)s->size, &in->found);
	munmap(p, (size_t)s->size);
}

enum kz_rc kz_job_packages_plan(struct kz_job *j, struct kz_err *err)
{
	struct kz_install *in = calloc(1, sizeof(*in));
	enum kz_rc rc;

	if (!in)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	j->install = in;
	in->named = kz_json_array();
	in->cause = KZ_R_NONE;
	in->is_for_code = j->source.language != KZ_LANG_SHELL;
	in->eco = j->source.language == KZ_LANG_NODE ? KZ_ECO_NODE : KZ_ECO_PYTHON;
	rc = read_asked(j, err);
	if (rc == KZ_OK && in->is_for_code && !j->ask->has_no_inference && has_registry(j))
		find_imports(j);
	return rc;
}

struct kz_ms kz_job_packages_time(const struct kz_job *j)
{
	const struct kz_install *in = j->install;

	if (!in || (!in->asked_count && !in->found.count) || !has_registry(j))
		return KZ_MS(0);
	return KZ_SECONDS(j->conf.set.sandbox_dependency_install_timeout_seconds);
}

/* What stands in front is what counts: what was installed shadows the image. */
static void look_up(struct kz_job *j, size_t i)
{
	struct kz_install *in = j->install;
	const struct kz_requirement *r = &in->asked[i];
	const char *locked = kz_lock_version(in->lock, in->eco, r->key);
	char version[KZ_INSTALL_VERSION];

	if (locked) {
		in->is_satisfied[i] = kz_lock_has_request(in->lock, r) ||
				      (!r->has_extras && kz_requirement_allows(r, locked));
		return;
	}
	in->is_baked[i] = !r->has_extras && kz_baked_version(&j->conf, in->eco, r->key, version) &&
			  kz_requirement_allows(r, version);
	in->is_satisfied[i] = in->is_baked[i];
}

static enum kz_rc discard(void *arg, const void *p, size_t n, struct kz_err *err)
{
	(void)arg;
	(void)p;
	(void)n;
	(void)err;
	return KZ_OK;
}

/* Does the workspace, or what is about to be put there, hold this name? */
static bool is_in_space(struct kz_job *j, const char *name)
{
	struct kz_err err = KZ_ERR_INIT;
	int64_t size;
	size_t n = strlen(name);

	for (size_t i = 0; i < j->input_count; i++)
		if (!strncmp(j->inputs[i].name, name, n) &&
		    (j->inputs[i].name[n] == '\0' || j->inputs[i].name[n] == '/'))
			return true;
	if (!kz_job_keeps(j) && j->is_lease_own)
		return false;
	/* too long, or a directory: it is there all the same */
	return !kz_wk_get(j->worker, j->lease.id, name, 0, discard, NULL, &size,
			  kz_deadline_min(j->sure, kz_deadline_in(KZ_MS(LOOK_MS))), &err) ||
	       !kz_str_eq(err.reason, kz_reason_code(KZ_R_OUTPUT_MISSING));
}

static bool is_own_module(struct kz_job *j, const char *module)
{
	static const char *const python[] = { "", ".py", NULL };
	static const char *const node[] = { "", NULL };
	const char *const *suffix = j->install->eco == KZ_ECO_PYTHON ? python : node;
	char name[KZ_PATH_MAX];

	for (; *suffix; suffix++)
		if (!kz_str_format(name, sizeof(name), NULL, "%s%s%s",
				   j->install->eco == KZ_ECO_NODE ? "node_modules/" : "", module,
				   *suffix) &&
		    is_in_space(j, name))
			return true;
	return false;
}

static bool is_asked(const struct kz_install *in, const char *key)
{
	for (size_t i = 0; i < in->asked_count; i++)
		if (kz_str_eq(in->asked[i].key, key))
			return true;
	return false;
}

/* A cell has this one from its kernel; a package of that name is another one. */
static bool is_of_kernel(const struct kz_job *j, const char *module)
{
	return j->kernel && j->install->eco == KZ_ECO_PYTHON && kz_str_eq(module, "kz");
}

/* An import that nothing has: neither image nor lock, workspace or inputs. */
static bool is_missing(struct kz_job *j, const struct kz_import *m)
{
	struct kz_install *in = j->install;
	struct kz_requirement r;
	struct kz_err err = KZ_ERR_INIT;

	/* what could not be asked for is the program's own affair */
	return !is_of_kernel(j, m->module) &&
	       kz_requirement_parse(in->eco, m->package, strlen(m->package), &r, &err) == KZ_OK &&
	       !is_asked(in, r.key) && !kz_lock_version(in->lock, in->eco, r.key) &&
	       !kz_baked_module(&j->conf, in->eco, m->module) && !is_own_module(j, m->module);
}

/* out: how many there are to install */
static size_t decide(struct kz_job *j)
{
	struct kz_install *in = j->install;
	size_t work = 0;

	for (size_t i = 0; i < in->asked_count; i++) {
		look_up(j, i);
		work += !in->is_satisfied[i];
	}
	for (size_t i = 0; i < in->found.count; i++) {
		in->is_wanted[i] = is_missing(j, &in->found.list[i]);
		if (!in->is_wanted[i])
			continue;
		work++;
		kz_json_append(in->named, kz_json_string(in->found.list[i].package));
	}
	return work;
}

/* Without a registry: a pin against the image is told by its own name [BRK-22]. */
static enum kz_rc no_registry(struct kz_job *j, struct kz_err *err)
{
	struct kz_install *in = j->install;
	struct kz_registries all;
	char version[KZ_INSTALL_VERSION];

	for (size_t i = 0; i < in->asked_count; i++) {
		const struct kz_requirement *r = &in->asked[i];

		if (in->is_satisfied[i] || !kz_baked_version(&j->conf, in->eco, r->key, version) ||
		    kz_requirement_allows(r, version))
			continue;
		in->cause = KZ_R_REGISTRY_UNSET;
		return kz_refuse(
			err, KZ_R_DEPENDENCY_BAKED_PIN,
			"%.120s: the worker image has %.60s %s, and no registry is configured that could give another (SANDBOX_PACKAGE_REGISTRIES)",
			r->text, r->name, version);
	}
	return kz_install_failed(
		j,
		kz_registries_parse(j->conf.set.sandbox_package_registries, &all, NULL) ?
			KZ_R_REGISTRY_INVALID :
			KZ_R_REGISTRY_UNSET,
		err);
}

static enum kz_rc add_path(struct kz_job *j, const char *variable, const char *dir,
			   struct kz_err *err)
{
	const char *was = kz_job_env_get(j, variable);

	/* modules of the workspace come first, those of the image last [BRK-25] */
	if (!was || !*was)
		return kz_job_env_set(j, variable, err, "%s", dir);
	return kz_job_env_set(j, variable, err, "%s:%s", was, dir);
}

static enum kz_rc show(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	if (!j->install->has_tree)
		return KZ_OK;
	if (j->source.language != KZ_LANG_NODE)
		rc = add_path(j, "PYTHONPATH", "/work/packages/python", err);
	if (!rc && j->source.language != KZ_LANG_PYTHON)
		rc = add_path(j, "NODE_PATH", "/work/packages/node_modules", err);
	return rc;
}

enum kz_rc kz_job_packages(struct kz_job *j, struct kz_err *err)
{
	struct kz_install *in = j->install;
	enum kz_rc rc = kz_packages_restore(j, err);

	if (rc)
		return rc;
	if (decide(j)) {
		if (kz_job_is_cancelled(j))
			return kz_refuse(err, KZ_R_CANCELLED, NULL);
		if (!has_registry(j))
			return no_registry(j, err);
		rc = kz_install_step(j, err);
		in->has_tree = !rc;
		if (!rc)
			rc = kz_packages_keep(j, err);
	}
	return rc ? rc : show(j, err);
}

void kz_job_packages_free(struct kz_job *j)
{
	if (!j->install)
		return;
	kz_json_free(j->install->lock);
	kz_json_free(j->install->named);
	free(j->install);
	j->install = NULL;
}
