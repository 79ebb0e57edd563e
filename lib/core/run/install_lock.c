/*
 * The lock: what was installed, as the installing step wrote it into the packages.  It comes from a
 * worker, so it is read like any stranger's text; what it claims concerns only its own conversation.
 */
#include <string.h>

#include "base/str.h"
#include "core/run/install_parts.h"

#define PACKAGES_MOST 4000
#define TEXT_MOST 300

static bool is_text(const struct kz_json *v)
{
	const char *s = kz_json_str_value(v);

	return s && *s && strlen(s) <= TEXT_MOST && !kz_str_has_control(s);
}

static bool is_package(const struct kz_json *p)
{
	return is_text(kz_json_get(p, "name")) && is_text(kz_json_get(p, "version")) &&
	       is_text(kz_json_get(p, "digest"));
}

static bool is_part(const struct kz_json *part)
{
	const struct kz_json *requests = kz_json_get(part, "requests"),
			     *packages = kz_json_get(part, "packages");

	if (!kz_json_is_array(requests) || !kz_json_is_array(packages) ||
	    kz_json_count(requests) > PACKAGES_MOST || kz_json_count(packages) > PACKAGES_MOST)
		return false;
	for (size_t i = 0; i < kz_json_count(requests); i++)
		if (!is_text(kz_json_at(requests, i)))
			return false;
	for (size_t i = 0; i < kz_json_count(packages); i++)
		if (!is_package(kz_json_at(packages, i)))
			return false;
	return true;
}

struct kz_json *kz_lock_read(const char *p, size_t n)
{
	kz_auto_json struct kz_json *o = NULL;

	if (n > KZ_INSTALL_LOCK_MAX || kz_json_parse(p, n, &o, NULL) || kz_json_num(o, "v", 0) != 1)
		return NULL;
	for (int i = 0; i < KZ_ECOS; i++) {
		const struct kz_json *part =
			kz_json_get(o, kz_ecosystem_name((enum kz_ecosystem)i));

		if (part && !is_part(part))
			return NULL;
	}
	return kz_take(o);
}

static const struct kz_json *list_of(const struct kz_json *lock, enum kz_ecosystem eco,
				     const char *what)
{
	return kz_json_get(kz_json_get(lock, kz_ecosystem_name(eco)), what);
}

const char *kz_lock_version(const struct kz_json *lock, enum kz_ecosystem eco, const char *key)
{
	const struct kz_json *list = list_of(lock, eco, "packages");

	for (size_t i = 0; i < kz_json_count(list); i++) {
		const struct kz_json *p = kz_json_at(list, i);
		char of[KZ_REQUIREMENT_NAME];

		kz_requirement_key(eco, kz_json_str(p, "name", ""), of);
		if (kz_str_eq(of, key))
			return kz_json_str(p, "version", NULL);
	}
	return NULL;
}

bool kz_lock_has_request(const struct kz_json *lock, const struct kz_requirement *r)
{
	const struct kz_json *list = list_of(lock, r->eco, "requests");

	if (!kz_lock_version(lock, r->eco, r->key))
		return false;
	for (size_t i = 0; i < kz_json_count(list); i++)
		if (kz_str_eq(kz_json_str_value(kz_json_at(list, i)), r->text))
			return true;
	return false;
}

struct kz_json *kz_lock_list(const struct kz_json *lock)
{
	struct kz_json *all = kz_json_array();

	for (int e = 0; e < KZ_ECOS; e++) {
		const struct kz_json *list = list_of(lock, (enum kz_ecosystem)e, "packages");

		for (size_t i = 0; i < kz_json_count(list); i++) {
			const struct kz_json *p = kz_json_at(list, i);
			struct kz_json *o = kz_json_object();

			kz_json_set_str(o, "for", kz_ecosystem_name((enum kz_ecosystem)e));
			kz_json_set_str(o, "name", kz_json_str(p, "name", NULL));
			kz_json_set_str(o, "version", kz_json_str(p, "version", NULL));
			kz_json_set_str(o, "digest", kz_json_str(p, "digest", NULL));
			kz_json_append(all, o);
		}
	}
	return all;
}
