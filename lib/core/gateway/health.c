/* /healthz: is it well, and if not, why? */
#include <string.h>

#include "core/gateway/pages.h"

static void add(struct kz_json *list, const char *part, const char *reason, const char *text)
{
	struct kz_json *o = kz_json_object();

	kz_json_set_str(o, "part", part);
	kz_json_set_str(o, "reason", reason);
	kz_json_set_str(o, "text", text);
	kz_json_append(list, o);
}

static void add_admission(struct kz_json *list, const struct kz_json *status)
{
	const struct kz_json *a = kz_json_get(status, "admission");
	const char *code = kz_json_str(a, "reason", ""), *text = kz_json_str(a, "text", NULL);
	enum kz_reason why = KZ_R_NOT_RECONCILED;

	if (kz_json_flag(a, "open", false))
		return;
	(void)kz_reason_find(code, &why);
	add(list, "admission", kz_reason_code(why), text ? text : kz_reason_text(why));
}

static void add_services(struct kz_json *list, const struct kz_json *status)
{
	const struct kz_json *all = kz_json_get(status, "services");

	for (size_t i = 0; i < kz_json_count(all); i++) {
		const struct kz_json *s = kz_json_at(all, i);
		const char *state = kz_json_str(s, "state", "");

		/* unknown: this gateway's user may not look, and whoever answers is there */
		if (strcmp(state, "down") == 0 || strcmp(state, "up") == 0)
			add(list, kz_json_str(s, "service", ""), kz_reason_code(KZ_R_NOT_RUNNING),
			    strcmp(state, "up") == 0 ? "the service is not ready yet" :
						       "the service is down");
	}
}

struct kz_json *kz_pages_health(const struct kz_told *t, const struct kz_gw_address *a)
{
	struct kz_json *o = kz_json_object(), *list = kz_json_array();

	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "health");
	if (t->status) {
		add_admission(list, t->status);
		add_services(list, t->status);
	} else {
		add(list, "status", kz_reason_code(KZ_R_COORDINATION_UNAVAILABLE),
		    "the stack does not tell its status");
	}
	if (a->reason != KZ_R_NONE)
		add(list, "gateway", kz_reason_code(a->reason), a->text);
	kz_json_set_bool(o, "ok", kz_json_count(list) == 0);
	kz_json_set(o, "reasons", list);
	return o;
}
