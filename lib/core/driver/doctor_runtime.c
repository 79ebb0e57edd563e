#include "core/driver/doctor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/conf/keys.h"
#include "core/driver/oci_part.h"
#include "core/driver/oci_rootless.h"
#include "port/json.h"

static void say(struct kz_check *c, enum kz_check_level level, const char *text, const char *fix)
{
	c->level = level;
	if (snprintf(c->text, sizeof c->text, "%s", text) < 0)
		c->text[0] = '\0';
	if (kz_str_copy(c->fix, sizeof c->fix, fix, NULL))
		c->fix[0] = '\0';
}

/* "runc works; crun: ...; runsc works, single-use" */
static void report_text(const struct kz_json *report, struct kz_buf *b)
{
	struct kz_json *list = kz_json_get(report, "candidates");

	for (size_t i = 0; i < kz_json_count(list); i++) {
		struct kz_json *f = kz_json_at(list, i);
		bool ok = kz_json_flag(f, "ok", false);

		kz_buf_printf(b, NULL, "%s%s%s%s", i ? "; " : "", kz_json_str(f, "name", "?"),
			      ok ? " works" : ": ", ok ? "" : kz_json_str(f, "text", "no text"));
		if (ok && kz_json_flag(f, "single_use", false))
			kz_buf_puts(b, " (single-use)", NULL);
	}
}

static void probe(const struct kz_conf *c, const char *state, struct kz_check *out)
{
	kz_auto_json struct kz_json *report = NULL;
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(2048);
	struct kz_err err = KZ_ERR_INIT;
	struct kz_oci o;
	enum kz_rc rc = kz_oci_open_with(&o, c, state, &err);

	if (!rc && o.is_rootless && (o.bad_conf.rc || kz_rootless_cgroup_check(NULL))) {
		say(out, KZ_CHECK_WARN, "not tried: first what the lines below say", "");
		return;
	}
	if (!rc)
		rc = kz_oci_probe(&o, KZ_OCI_EACH, &report, &err);
	report_text(report, &text);
	if (!rc)
		say(out, KZ_CHECK_OK, kz_buf_str(&text), "");
	else
		say(out, KZ_CHECK_FAIL, text.len ? kz_buf_str(&text) : err.text,
		    c->set.kz_runtime[0] ? "kz config set KZ_RUNTIME ''" : "apt-get install runc");
}

void kz_check_runtime(const struct kz_conf *c, struct kz_check *out)
{
	struct kz_secret key = { 0 };
	struct kz_err err = KZ_ERR_INIT;
	char place[] = "/tmp/kz-doctor.XXXXXX";

	if (!kz_seal_init(&err) && !kz_keys_read(c->state, KZ_KEY_WORKER, &key, NULL)) {
		kz_secret_release(&key);
		probe(c, c->state, out);
		return;
	}
	if (!mkdtemp(place)) {
		say(out, KZ_CHECK_WARN, "cannot make a temporary directory", "");
		return;
	}
	if (kz_keys_make(place, (gid_t)-1, &err))
		say(out, KZ_CHECK_WARN, err.text, "");
	else
		probe(c, place, out);
	if (kz_tree_remove(AT_FDCWD, place, &err) && out->level == KZ_CHECK_OK)
		say(out, KZ_CHECK_WARN, err.text, "");
}
