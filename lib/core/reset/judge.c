/* Reading a worker's readings, and what is told of them. */
#include "core/reset/judge.h"

#include <string.h>

#include "base/str.h"
#include "base/time.h"
#include "port/json.h"
#include "port/seal.h"

static void read_surface(const struct kz_json *o, struct kz_reading *r)
{
	const struct kz_json *now = kz_json_get(o, "now"), *base = kz_json_get(o, "baseline");
	const char *d = kz_json_str(o, "digest", ""), *b = kz_json_str(o, "baseline_digest", "");

	if (!kz_json_is_object(o) || !kz_json_is_int(now) || !kz_json_is_int(base))
		return;
	/* a digest on one side only, or one that does not fit, is no reading */
	if (kz_str_copy(r->digest, sizeof r->digest, d, NULL) != KZ_OK ||
	    kz_str_copy(r->baseline_digest, sizeof r->baseline_digest, b, NULL) != KZ_OK)
		return;
	if (kz_str_copy(r->changed, sizeof r->changed, kz_json_str(o, "changed", ""), NULL) !=
		    KZ_OK ||
	    kz_str_has_control(r->changed))
		r->changed[0] = '\0';
	r->now = kz_json_int_value(now);
	r->baseline = kz_json_int_value(base);
	r->is_present = true;
}

void kz_judge_read(const struct kz_json *r, const struct kz_lease *lease, const char *token,
		   struct kz_evidence *e)
{
	const struct kz_json *all = kz_json_get(r, "surfaces");
	int64_t killed = kz_json_num(r, "killed_us", -1), wiped = kz_json_num(r, "wiped_us", -1),
		measured = kz_json_num(r, "measured_us", -1);

	*e = (struct kz_evidence){ 0 };
	for (int i = 0; i < KZ_SURFACE_COUNT; i++)
		read_surface(kz_json_get(all, kz_surface_code((enum kz_surface)i)),
			     &e->surfaces[i]);
	e->init_dead = kz_json_flag(r, "init_dead", false);
	e->kill_before_wipe = killed > 0 && killed <= wiped && wiped <= measured;
	e->names_match = kz_str_eq(kz_json_str(r, "worker", ""), lease->worker) &&
			 kz_str_eq(kz_json_str(r, "instance", ""), lease->instance) &&
			 kz_str_eq(kz_json_str(r, "token", ""), token);
}

static struct kz_json *surface(const struct kz_reading *r)
{
	struct kz_json *o;

	if (!r->is_present)
		return kz_json_null();
	o = kz_json_object();
	kz_json_set_int(o, "now", r->now);
	kz_json_set_int(o, "baseline", r->baseline);
	if (r->digest[0] || r->baseline_digest[0]) {
		kz_json_set_str(o, "digest", r->digest);
		kz_json_set_str(o, "baseline_digest", r->baseline_digest);
	}
	if (r->changed[0])
		kz_json_set_str(o, "changed", r->changed);
	return o;
}

struct kz_json *kz_judge_evidence(const struct kz_evidence *e, const struct kz_lease *lease,
				  const char *token, bool *clean)
{
	struct kz_json *o = kz_json_object(), *all = kz_json_object();
	char operation[KZ_SHA256_HEX];
	int bad = -1;

	*clean = kz_evidence_clean(e, &bad);
	/* the token itself stays secret: whoever holds it may act on the worker */
	kz_sha256_hex(token, strlen(token), operation);
	for (int i = 0; i < KZ_SURFACE_COUNT; i++)
		kz_json_set(all, kz_surface_code((enum kz_surface)i), surface(&e->surfaces[i]));
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "evidence");
	kz_json_set_bool(o, "clean", *clean);
	kz_json_set_str(o, "dirty",
			*clean  ? NULL :
			bad < 0 ? "order" :
				  kz_surface_code((enum kz_surface)bad));
	kz_json_set_str(o, "worker", lease->worker);
	kz_json_set_str(o, "lease", lease->id);
	kz_json_set_str(o, "operation", operation);
	kz_json_set_int(o, "at_ms", kz_time_wall_ms());
	kz_json_set(o, "surfaces", all);
	return o;
}
