/* What every backend of the object store asks: is it a name, is there time left. */
#include <string.h>

#include "core/files/objects_parts.h"
#include "rule/reason.h"

bool kz_object_name_ok(const char *name, bool is_prefix)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	static const char more[] = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
	size_t n = strlen(name);

	if (n == 0)
		return is_prefix;
	if (n > KZ_OBJECT_NAME_MAX || (is_prefix && name[n - 1] != '/'))
		return false;
	for (;;) {
		if (!*name || !strchr(first, *name))
			return false;
		name += strspn(name, more);
		if (!*name)
			return !is_prefix;
		if (*name++ != '/')
			return false;
		if (!*name && is_prefix)
			return true;
	}
}

enum kz_rc kz_objects_in_time(struct kz_deadline until, struct kz_err *err)
{
	return kz_deadline_passed(until) ?
		       kz_refuse(err, KZ_R_STORE_UNAVAILABLE, "no time is left for the store") :
		       KZ_OK;
}
