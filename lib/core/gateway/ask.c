/* One question to a running gateway. */
#include <errno.h>

#include "base/get.h"
#include "base/str.h"
#include "core/gateway/gateway.h"
#include "port/json.h"
#include "rule/reason.h"

enum kz_rc kz_gateway_ask(const char *state, struct kz_deadline until, struct kz_json **out,
			  struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(16384);
	kz_auto_json struct kz_json *o = NULL;
	struct kz_err why = KZ_ERR_INIT;
	char path[300];
	int status = 0;
	enum kz_rc rc = kz_str_format(path, sizeof path, err, "%s/%s", state, KZ_GATEWAY_ADMIN);

	if (rc != KZ_OK)
		return rc;
	if (kz_unix_get(path, "/gateway.json", until, &status, &b, &why) != KZ_OK)
		return kz_refuse(err,
				 why.sys_errno == EACCES ? KZ_R_NO_PERMISSION :
							   KZ_R_GATEWAY_UNREACHABLE,
				 "kz-gateway does not answer: %s", why.text);
	if (status != 200 || kz_json_parse(kz_buf_str(&b), b.len, &o, NULL) != KZ_OK ||
	    !kz_str_eq(kz_json_str(o, "type", ""), "gateway"))
		return kz_refuse(err, KZ_R_GATEWAY_UNREACHABLE,
				 "kz-gateway's answer makes no sense");
	*out = kz_take(o);
	return KZ_OK;
}
