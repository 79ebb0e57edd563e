/* One question to the proxy's health socket. */
#include "core/egress/health.h"

#include <errno.h>
#include <string.h>

#include "base/get.h"
#include "base/str.h"
#include "core/egress/policy.h"
#include "port/json.h"
#include "rule/reason.h"

#define ANSWER_MAX (64 * 1024)

static enum kz_rc unreachable(struct kz_err *err, const char *what)
{
	return kz_refuse(err, KZ_R_PROXY_UNREACHABLE, "kz-proxy does not answer: %s", what);
}

static enum kz_rc ask(const char *path, struct kz_deadline until, struct kz_json **out,
		      struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(ANSWER_MAX);
	struct kz_err why = KZ_ERR_INIT;
	int status = 0;

	if (kz_unix_get(path, "/v1/health", until, &status, &b, &why) != KZ_OK)
		return why.sys_errno == EACCES ?
			       kz_refuse(err, KZ_R_NO_PERMISSION,
					 "you may not ask kz-proxy for its health") :
			       unreachable(err, why.text);
	if (status != 200 || kz_json_parse(kz_buf_str(&b), b.len, out, NULL) != KZ_OK)
		return unreachable(err, "its answer makes no sense");
	return KZ_OK;
}

static bool has_kid(const struct kz_json *kids, const char *kid)
{
	if (!kid)
		return kz_json_count(kids) > 0;
	for (size_t i = 0; i < kz_json_count(kids); i++)
		if (kz_str_eq(kz_json_str_value(kz_json_at(kids, i)), kid))
			return true;
	return false;
}

enum kz_rc kz_proxy_health(const char *state, const char *kid, struct kz_deadline until,
			   struct kz_proxy_health *out, struct kz_err *err)
{
	kz_auto_json struct kz_json *o = NULL;
	char path[KZ_PROXY_PATH];
	enum kz_rc rc;

	memset(out, 0, sizeof(*out));
	rc = kz_str_format(path, sizeof(path), err, "%s/%s", state, KZ_PROXY_HEALTH_SOCKET);
	if (!rc)
		rc = ask(path, until, &o, err);
	if (rc)
		return rc;
	if (!kz_json_is_object(o) || kz_json_num(o, "v", 0) != 1)
		return unreachable(err, "its answer makes no sense");
	out->is_ready = kz_json_flag(o, "ready", false);
	out->has_key = has_kid(kz_json_get(o, "kids"), kid);
	out->revocation_serial = kz_json_num(o, "revocation_serial", 0);
	out->tunnels = kz_json_num(o, "tunnels", 0);
	if (!out->has_key)
		return kz_refuse(err, KZ_R_PROXY_KEYLESS,
				 "kz-proxy does not hold the key that grants are signed with");
	return out->is_ready ? KZ_OK : unreachable(err, "it is not ready");
}
