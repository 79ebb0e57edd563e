/* Whether the program of a run administers a host. */
#include "core/run/classify.h"

#include <sys/mman.h>

#include "rule/reason.h"

enum kz_rc kz_source_classify(const struct kz_source *s, struct kz_classify *out,
			      struct kz_err *err)
{
	static const enum kz_classify_language languages[] = {
		[KZ_LANG_PYTHON] = KZ_CLASSIFY_PYTHON,
		[KZ_LANG_NODE] = KZ_CLASSIFY_NODE,
		[KZ_LANG_SHELL] = KZ_CLASSIFY_SHELL,
	};
	size_t n = (size_t)s->size;
	void *p;

	if (s->text || !n) {
		kz_classify(languages[s->language], s->text ? s->text : "", n, out);
		return KZ_OK;
	}
	p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (p == MAP_FAILED)
		return kz_err_sys(err, KZ_E_OS, "cannot map the program");
	kz_classify(languages[s->language], p, n, out);
	munmap(p, n);
	return KZ_OK;
}

enum kz_rc kz_source_permitted(const struct kz_source *s, struct kz_err *err)
{
	struct kz_classify c;
	enum kz_rc rc = kz_source_classify(s, &c, err);

	if (rc || !c.count)
		return rc;
	return kz_refuse(err, KZ_R_HOST_ADMINISTRATION,
			 "line %zu of the program (%s) administers a host; it can be read, not run",
			 c.matches[0].line, kz_admin_name(c.matches[0].what));
}

enum kz_rc kz_run_classify(const char *path, const char *code, const char *language, bool *is_admin,
			   struct kz_json **out, struct kz_err *err)
{
	struct kz_source s;
	struct kz_classify c = { .count = 0 };
	struct kz_json *matches;
	enum kz_rc rc = kz_source_read(&s, path, code, language, -1, err);

	if (!rc)
		rc = kz_source_classify(&s, &c, err);
	kz_source_release(&s);
	if (rc)
		return rc;
	*is_admin = c.count > 0;
	*out = kz_json_object();
	kz_json_set_int(*out, "v", 1);
	kz_json_set_str(*out, "type", "classify");
	kz_json_set_str(*out, "class", c.count ? "host_administration" : "ordinary");
	kz_json_set_bool(*out, "run_allowed", !c.count);
	kz_json_set_bool(*out, "auto_run", !c.count);
	kz_json_set_bool(*out, "download", true);
	matches = kz_json_array();
	for (size_t i = 0; i < c.count; i++) {
		struct kz_json *m = kz_json_object();

		kz_json_set_int(m, "line", (int64_t)c.matches[i].line);
		kz_json_set_str(m, "what", kz_admin_name(c.matches[i].what));
		kz_json_append(matches, m);
	}
	kz_json_set(*out, "matches", matches);
	return KZ_OK;
}
