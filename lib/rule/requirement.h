/*
 * Requirements: what may be asked of an installer.  A name, extras and versions, and
 * nothing else: no option, address, path, version control form, reference, environment
 * marker or blank of another kind ever reaches one [BRK-9].  Layer 2, pure.
 */
#ifndef KZ_RULE_REQUIREMENT_H
#define KZ_RULE_REQUIREMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum kz_ecosystem { KZ_ECO_PYTHON, KZ_ECO_NODE, KZ_ECOS };

#define KZ_REQUIREMENT_MAX 256 /* bytes of the longest that is read */
#define KZ_REQUIREMENT_NAME 215

struct kz_requirement {
	enum kz_ecosystem eco;
	char text
		[KZ_REQUIREMENT_MAX +
		 16]; /* canonical: name[extras]versions, or name@range; without blanks around operators */
	char name[KZ_REQUIREMENT_NAME];    /* as it was written */
	char key[KZ_REQUIREMENT_NAME];     /* what names the package: PEP 503, or as written */
	char versions[KZ_REQUIREMENT_MAX]; /* clauses or range, "" for any */
	bool has_extras;
	bool is_pin; /* versions is one exact version (==1.2 or 1.2.3) */
};

/*
 * Read p[0..n).
 * err: dependency_request_invalid, with what is wrong; out is "" then
 */
enum kz_rc kz_requirement_parse(enum kz_ecosystem eco, const char *p, size_t n,
				struct kz_requirement *out, struct kz_err *err);
/* Does an installed version satisfy it?  Of node only "any" and an exact version can be told here: false for every other. */
bool kz_requirement_allows(const struct kz_requirement *r, const char *version);
/* The name that the index of an ecosystem knows a package by: PEP 503 for Python, else the same. out: "" when it is too long */
void kz_requirement_key(enum kz_ecosystem eco, const char *name, char out[KZ_REQUIREMENT_NAME]);
/* Name, for records: "python", "node". */
const char *kz_ecosystem_name(enum kz_ecosystem eco);

#endif
