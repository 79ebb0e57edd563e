/* The one reference of a retained file [OUT-10]. */
#include "core/run/job.h"
#include "port/seal.h"

struct kz_json *kz_reference_new(const struct kz_job *j, const char *name, int64_t bytes,
				 const char *sha256, const char *media_type)
{
	struct kz_json *o = kz_json_object();
	const struct kz_job_scope *s = &j->scope;
	char id[KZ_ID_HEX];

	if (!o)
		return NULL;
	kz_random_id(id);
	kz_json_set_str(o, "id", id);
	kz_json_set_str(o, "name", name);
	kz_json_set_int(o, "bytes", bytes);
	kz_json_set_str(o, "sha256", sha256);
	kz_json_set_str(o, "media_type", media_type);
	kz_json_set_str(o, "run", j->run);
	kz_json_set_str(o, "turn", s->turn);
	kz_json_set_str(o, "member", s->member);
	kz_json_set(o, "position", s->position < 0 ? kz_json_null() : kz_json_int(s->position));
	kz_json_set_bool(o, "derived_private", s->is_derived);
	return o;
}

struct kz_json *kz_references(const struct kz_job *j, bool downloads, bool canvases)
{
	struct kz_json *list = kz_json_array();

	for (size_t i = 0; i < j->output_count; i++) {
		const struct kz_job_output *o = &j->outputs[i];

		if (o->reference && (o->is_canvas ? canvases : downloads))
			kz_json_append(list, kz_json_ref(o->reference));
	}
	return list;
}
