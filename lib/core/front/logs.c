/* kz logs: where they are. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "core/front/parts.h"
#include "port/json.h"
#include "rule/reason.h"

enum kz_rc kz_front_logs(struct kz_front *f, struct kz_json **out, struct kz_err *err)
{
	kz_auto_closedir DIR *d = NULL;
	char path[KZ_FRONT_PATH];
	struct dirent *e;
	enum kz_rc rc = kz_front_path(f, "log", path, sizeof path, err);

	if (rc)
		return rc;
	if (!(d = opendir(path))) {
		if (errno == EACCES)
			return kz_refuse(
				err, KZ_R_NO_PERMISSION,
				"you may not read the logs in %s; use sudo, or ask to be added to group kz",
				path);
		return kz_refuse(err, KZ_R_NOT_RUNNING,
				 "there are no logs in %s; start kz with: kz up", path);
	}
	*out = kz_json_array();
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			kz_json_append(*out, kz_json_string(e->d_name));
	return KZ_OK;
}

enum kz_rc kz_front_log(struct kz_front *f, const char *service, char *path, size_t size,
			struct kz_err *err)
{
	kz_auto_json struct kz_json *names = NULL;
	kz_auto_buf struct kz_buf known = KZ_BUF_INIT(1024);
	enum kz_rc rc = kz_front_logs(f, &names, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < kz_json_count(names); i++) {
		const char *name = kz_json_str_value(kz_json_at(names, i));

		if (kz_str_eq(name, service))
			return kz_str_format(path, size, err, "%s/log/%s/current", f->state, name);
		kz_buf_printf(&known, NULL, " %s", name);
	}
	return kz_err_set(err, KZ_E_NOINPUT, "there is no service %s; there are:%s", service,
			  kz_buf_str(&known));
}
