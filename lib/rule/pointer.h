/*
 * Grants of a Project: may this reader read this item because somebody filed it there?  One predicate for
 * documents, artifacts and prompts alike; nothing else of a Project gives any access.  A pointer carries the access
 * that it was made with, so that a default that changes later widens none.  Layer 2, pure.
 * src: PROJ-4 to PROJ-9, PROJ-13, INV-61
 */
#ifndef KZ_RULE_POINTER_H
#define KZ_RULE_POINTER_H

#include <stdbool.h>

#include "rule/reason.h"

/* What was filed, as it is stored. */
struct kz_pointer {
	const char *item, *project;
	bool is_shared;    /* its own access; false: private */
	bool is_withdrawn; /* by the member who filed it */
};
/* What is asked. */
struct kz_pointer_request {
	const char *item, *project;
	bool is_read; /* false: write, rename, publish, delete, fork, re-share */
};

/*
 * Is the grant in force? in: is_member: the reader is in the pointer's Project now.
 * out: KZ_R_NONE: yes; else grant_not_member, grant_other_project, grant_pointer_private, grant_withdrawn,
 * grant_read_only, in this order, so that who is not in the Project learns nothing of what is filed there
 */
enum kz_reason kz_pointer_decide(const struct kz_pointer *p, bool is_member,
				 const struct kz_pointer_request *request);
/* Is it one of the rights that can be asked for? out: is_read */
bool kz_pointer_right(const char *right, bool *is_read);

#endif
