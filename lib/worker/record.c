/* What is told of a run. */
#include <signal.h>
#include <sys/wait.h>

#include "base/str.h"
#include "port/json.h"
#include "worker/gauge.h"
#include "worker/runpriv.h"

const char *kz_run_look(struct kz_run *r)
{
	struct kz_space_use u;

	if (kz_space_use(r->space->dir, &u, NULL) == KZ_OK) {
		r->hit_disk |= u.bytes_free == 0;
		r->hit_inodes |= u.inodes_total > 0 && u.inodes_free == 0;
	}
	r->after.oom = kz_gauge_oom_kills(r->boot);
	r->after.denied = kz_gauge_pids_denied(r->boot);
	r->after.cpu_us = kz_gauge_cpu_us(r->boot);
	if (r->boot->single_use && kz_gauge_memory(r->boot) > r->peak)
		r->peak = kz_gauge_memory(r->boot);
	if (r->after.oom != r->before.oom)
		return "memory";
	return r->after.denied != r->before.denied ? "pids" : NULL;
}

static const char *cause_of(const struct kz_run *r)
{
	if (r->cause)
		return r->cause;
	if (!r->has_status)
		return "unknown";
	if (WIFSIGNALED(r->status))
		return WTERMSIG(r->status) == SIGXCPU ? "cpu" : "signal";
	return "exit";
}

static struct kz_json *stream(struct kz_run *r, enum kz_keep_stream s)
{
	struct kz_json *o = kz_json_object();
	char hex[KZ_SHA256_HEX];

	kz_sha256_end(&r->keep.of[s].hash, hex);
	kz_json_set_int(o, "seen_bytes", r->keep.of[s].seen);
	kz_json_set_int(o, "kept_bytes", r->keep.of[s].kept);
	kz_json_set_int(o, "dropped_bytes", r->keep.of[s].seen - r->keep.of[s].kept);
	kz_json_set_str(o, "sha256", hex);
	return o;
}

static struct kz_json *limits(const struct kz_run *r, const char *cause)
{
	struct kz_json *a = kz_json_array();
	const struct kz_keep *k = &r->keep;
	static const char *const bounds[] = { "wall", "cpu", "memory", "pids" };

	for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
		if (kz_str_eq(cause, bounds[i]))
			kz_json_append(a, kz_json_string(bounds[i]));
	if (k->of[0].seen > k->of[0].kept || k->of[1].seen > k->of[1].kept)
		kz_json_append(a, kz_json_string("output"));
	if (r->hit_disk)
		kz_json_append(a, kz_json_string("disk"));
	if (r->hit_inodes)
		kz_json_append(a, kz_json_string("inodes"));
	return a;
}

static void set_number(struct kz_json *o, const char *key, int64_t n)
{
	if (n < 0)
		kz_json_set(o, key, kz_json_null());
	else
		kz_json_set_int(o, key, n);
}

struct kz_json *kz_run_record(struct kz_run *r)
{
	struct kz_json *o = kz_json_object();
	/* ended before a word came, it may have run: only a refusal says that it did not */
	const char *cause = r->is_refused ? "unknown" : cause_of(r);
	bool has_status = !r->is_refused && r->has_status && !r->cause;

	kz_json_set_bool(o, "started", !r->is_refused);
	kz_json_set_str(o, "cause", cause);
	set_number(o, "exit", has_status && WIFEXITED(r->status) ? WEXITSTATUS(r->status) : -1);
	set_number(o, "signal", has_status && WIFSIGNALED(r->status) ? WTERMSIG(r->status) : -1);
	kz_json_set_str(o, "reason", r->reason);
	kz_json_set_int(o, "wall_ms", (r->ended_us - r->began_us) / 1000);
	set_number(o, "cpu_ms",
		   r->before.cpu_us < 0 || r->after.cpu_us < r->before.cpu_us ?
			   -1 :
			   (r->after.cpu_us - r->before.cpu_us) / 1000);
	set_number(o, "peak_bytes", r->peak);
	kz_json_set(o, "limits_hit", limits(r, cause));
	kz_json_set(o, "stdout", stream(r, KZ_KEEP_OUT));
	kz_json_set(o, "stderr", stream(r, KZ_KEEP_ERR));
	kz_json_set_int(o, "killed_count", r->killed);
	return o;
}
