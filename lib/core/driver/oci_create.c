#include "core/driver/oci_part.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/driver/oci_boot.h"
#include "port/json.h"
#include "rule/reason.h"

#define UNDO_SECONDS 10

static enum kz_rc bound(const struct kz_oci_record *r, const struct kz_oci_boot *b,
			struct kz_err *err)
{
	pid_t init;

	if (r->rt.flavor == KZ_OCI_RUNSC)
		return KZ_OK; /* its kernel counts by itself, and dies with the worker */
	init = kz_cg_init(&r->cg, false);
	return init ? kz_oci_limit_namespaces(init, err) : kz_oci_boot_died(b, err);
}

/* Bounds first, then the boot object that process 1 waits for: its baseline must see them. */
static enum kz_rc start(const struct kz_oci *o, const struct kz_oci_record *r,
			struct kz_oci_boot *b, struct kz_deadline until, struct kz_err *err)
{
	struct kz_deadline dying = kz_deadline_in(KZ_SECONDS(1));
	enum kz_rc rc = bound(r, b, err);

	if (!rc)
		rc = kz_oci_boot_send(o, r, b, until, err);
	if (!rc || r->rt.flavor == KZ_OCI_RUNSC)
		return rc;
	/* What failed on a process 1 that is dying failed because of that: tell its last words. */
	while (kz_cg_init(&r->cg, false) && !kz_deadline_passed(dying))
		kz_time_sleep(KZ_MS(5), dying);
	return kz_cg_init(&r->cg, false) ? rc : kz_oci_boot_died(b, err);
}

static enum kz_rc launch(const struct kz_oci *o, const struct kz_oci_record *r,
			 struct kz_oci_boot *b, struct kz_deadline until, struct kz_err *err)
{
	char unit[128];
	char bundle[KZ_OCI_PATH];
	char root[64];
	char control[64];
	char state_dir[KZ_OCI_PATH];
	struct kz_oci_launch l = { .o = o,
				   .r = r,
				   .unit = unit,
				   .bundle = bundle,
				   .root = root,
				   .control = control,
				   .state_dir = state_dir,
				   .fds = b->fds,
				   .fd_count = b->count,
				   .ways_at = b->ways_at,
				   .output = b->output };

	if (kz_oci_unit(o, r->worker, unit, err) ||
	    kz_oci_path(o, bundle, err, "workers/%s/bundle", r->worker) ||
	    kz_oci_path(o, state_dir, err, "run/oci/%s", kz_oci_flavor_name(r->rt.flavor)) ||
	    kz_dir_make(AT_FDCWD, state_dir, 0700, (gid_t)-1, err) ||
	    kz_oci_root_place(o, root, control, err) ||
	    kz_oci_bundle_write(o, r, bundle, root, control, err) ||
	    (r->rt.single_use && kz_oci_control_lend(o, r, err)))
		return err ? err->rc : KZ_E_DATA;
	return kz_oci_runtime_start(&l, until, err);
}

/* From the record that stands to a worker that is ready. */
static enum kz_rc build(const struct kz_oci *o, const struct kz_oci_record *r,
			struct kz_deadline until, struct kz_json **posture, struct kz_err *err)
{
	struct kz_cg_limits limits = kz_oci_limits(&o->conf.set, r->rt.single_use);
	struct kz_oci_boot b;
	enum kz_rc rc = kz_cg_make(&r->cg, r->rt.single_use ? "worker" : "tenant", &limits, err);

	if (rc)
		return rc;
	rc = kz_oci_boot_open(o, r, &b, err);
	if (!rc)
		rc = launch(o, r, &b, until, err);
	kz_oci_boot_handed(&b);
	if (!rc)
		rc = start(o, r, &b, until, err);
	if (!rc)
		rc = kz_oci_boot_wait(&b, until, posture, err);
	if (!rc && r->rt.single_use)
		rc = kz_oci_control_take(o, r, err);
	/* What was chosen for its kernel is not used without it [RT-6]. */
	if (!rc && r->rt.flavor == KZ_OCI_RUNSC &&
	    !kz_str_eq(kz_json_str(*posture, "kernel", ""), "gvisor"))
		rc = kz_refuse(err, KZ_R_POSTURE_FAILED,
			       "the worker does not run under gVisor's kernel");
	kz_oci_boot_release(&b);
	return rc;
}

static enum kz_rc describe(struct kz_oci *o, const char *worker, const char *instance,
			   bool is_probe, struct kz_oci_record *r, struct kz_err *err)
{
	char unit[128];

	memset(r, 0, sizeof *r);
	r->rt = o->rt;
	r->is_probe = is_probe;
	if (kz_str_copy(r->worker, sizeof r->worker, worker, err) ||
	    kz_str_copy(r->instance, sizeof r->instance, instance, err) ||
	    kz_str_copy(r->image, sizeof r->image, o->image, err) ||
	    kz_str_copy(r->skeleton, sizeof r->skeleton, o->layers, err) ||
	    kz_oci_unit(o, worker, unit, err) ||
	    kz_cg_find(&r->cg, unit, "/proc/self/cgroup", "/proc/self/mountinfo", err))
		return err ? err->rc : KZ_E_DATA;
	return kz_cg_place(&r->cg, err);
}

enum kz_rc kz_oci_create(struct kz_oci *o, const char *worker, const char *instance, bool is_probe,
			 struct kz_json **posture, bool *is_certain, struct kz_err *err)
{
	struct kz_deadline until =
		kz_deadline_in(KZ_SECONDS(o->conf.set.kz_create_timeout_seconds));
	struct kz_err undo = KZ_ERR_INIT;
	struct kz_oci_record r;
	kz_auto_close int lock = -1;
	enum kz_rc rc;

	*is_certain = true;
	*posture = NULL;
	rc = describe(o, worker, instance, is_probe, &r, err);
	if (!rc)
		rc = kz_oci_record_make(o, &r, &lock, err);
	if (rc)
		return rc;
	rc = build(o, &r, until, posture, err);
	if (!rc)
		return KZ_OK;
	kz_json_free(kz_take(*posture));
	/* What cannot be undone is not absent [POOL-25]; the record stays for delete. */
	*is_certain = !kz_oci_undo(o, &r, kz_deadline_in(KZ_SECONDS(UNDO_SECONDS)), &undo);
	return rc;
}
