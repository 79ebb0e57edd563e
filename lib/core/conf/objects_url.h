/*
 * KZ_OBJECTS_URL: where the object store is.
 *
 *   dir:PATH        PATH begins with / (anywhere), or its first part begins with
 *                   "objects" (below the state directory, beside no key)
 *   s3+http://HOST[:PORT]/BUCKET[/PREFIX][?region=REGION]      and s3+https://
 *
 * No user or password has a place in it, and no refusal tells its text.  Layer 3.
 * src: WS-8
 */
#ifndef KZ_CORE_CONF_OBJECTS_URL_H
#define KZ_CORE_CONF_OBJECTS_URL_H

#include <stdbool.h>

#include "core/conf/conf.h"

struct kz_objects_url {
	bool is_s3;
	bool is_absolute; /* dir: PATH began with / */
	char dir[520];    /* dir: absolute */
	char base[300];   /* s3: "https://HOST[:PORT]/BUCKET", no / at the end */
	char prefix[256]; /* s3: "" or "a/b/" */
	char region[40];  /* s3: us-east-1 unless named */
};

/*
 * Take the setting apart.
 * err: setting_invalid when it is of no form above; url_unsupported for another scheme
 */
enum kz_rc kz_conf_objects_url(const struct kz_conf *c, struct kz_objects_url *out,
			       struct kz_err *err);

#endif
