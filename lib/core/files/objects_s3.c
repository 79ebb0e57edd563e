/* Objects in S3: not yet. */
#include "core/files/objects_parts.h"
#include "rule/reason.h"

enum kz_rc kz_s3_open(const struct kz_conf *c, const struct kz_objects_url *url, struct kz_s3 **out,
		      struct kz_err *err)
{
	(void)c;
	(void)url;
	(void)out;
	return kz_refuse(err, KZ_R_URL_UNSUPPORTED, "KZ_OBJECTS_URL: s3 is not supported yet");
}

void kz_s3_close(struct kz_s3 *s)
{
	(void)s;
}

const struct kz_objects_kind kz_objects_s3 = { 0 };
