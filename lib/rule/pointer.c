/* The one predicate of grants of a Project. */
#include "rule/pointer.h"

#include <string.h>

enum kz_reason kz_pointer_decide(const struct kz_pointer *p, bool is_member,
				 const struct kz_pointer_request *request)
{
	if (!is_member)
		return KZ_R_GRANT_NOT_MEMBER;
	if (strcmp(p->project, request->project) != 0 || strcmp(p->item, request->item) != 0)
		return KZ_R_GRANT_OTHER_PROJECT;
	if (!p->is_shared)
		return KZ_R_GRANT_POINTER_PRIVATE;
	if (p->is_withdrawn)
		return KZ_R_GRANT_WITHDRAWN;
	return request->is_read ? KZ_R_NONE : KZ_R_GRANT_READ_ONLY;
}

bool kz_pointer_right(const char *right, bool *is_read)
{
	static const char *const rights[] = { "read",   "write", "rename", "publish",
					      "delete", "fork",  "reshare" };

	for (size_t i = 0; i < sizeof(rights) / sizeof(*rights); i++) {
		if (strcmp(right, rights[i]) == 0) {
			*is_read = i == 0;
			return true;
		}
	}
	return false;
}
