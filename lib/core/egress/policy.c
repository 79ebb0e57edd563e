/* The policy as one dispatch sees it. */
#include "core/egress/policy.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"

#define TEXT_MAX 8192

/* What stands for a value that is no text: no mode, number or list has this form. */
#define NONSENSE "?"

enum text { ENABLED, MODE, HOSTS, CIDRS, PORTS, TTL, DENY, PROXY, VINTAGE, TEXTS };

static const enum kz_setting_id names[TEXTS] = {
	[ENABLED] = KZ_SETTING_SANDBOX_EGRESS_ENABLED,
	[MODE] = KZ_SETTING_SANDBOX_EGRESS_MODE,
	[HOSTS] = KZ_SETTING_SANDBOX_EGRESS_HOST_ALLOWLIST,
	[CIDRS] = KZ_SETTING_SANDBOX_EGRESS_PRIVATE_CIDRS,
	[PORTS] = KZ_SETTING_SANDBOX_EGRESS_ALLOWED_PORTS,
	[TTL] = KZ_SETTING_SANDBOX_EGRESS_TOKEN_TTL_SECONDS,
	[DENY] = KZ_SETTING_KZ_EGRESS_DENY_CIDRS,
	[PROXY] = KZ_SETTING_KZ_PROXY_URL,
	[VINTAGE] = KZ_SETTING_KZ_INSTALL_VINTAGE,
};

_Static_assert(TEXTS == sizeof(((struct kz_policy *)0)->texts) / sizeof(char *), "one a setting");

/* No name, number or list has another byte, and what is told of the value is text. */
static bool is_text(const struct kz_buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		if ((b->data[i] < 0x20 && b->data[i] != '\t') || b->data[i] > 0x7e)
			return false;
	return true;
}

/* One setting. out: *to stays NULL when it is not set */
static enum kz_rc read_text(int dir, const char *name, char **to, struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(TEXT_MAX);
	struct kz_err why = KZ_ERR_INIT;
	bool is_set = false;
	enum kz_rc rc = kz_conf_policy_at(dir, name, &b, &is_set, &why);

	if (rc == KZ_E_OS) {
		if (err)
			*err = why;
		return rc;
	}
	if (rc || is_set)
		*to = kz_str_dup(rc || !is_text(&b) ? NONSENSE : kz_buf_str(&b));
	return (rc || is_set) && !*to ? kz_err_set(err, KZ_E_OS, "out of memory") : KZ_OK;
}

/* The next entry of a comma-separated list, blanks around it off. out: false behind the last */
static bool next_entry(const char **list, const char **p, size_t *n)
{
	const char *s = *list;

	if (!s)
		return false;
	*n = strcspn(s, ",");
	*list = s[*n] ? s + *n + 1 : NULL;
	while (*n > 0 && (*s == ' ' || *s == '\t'))
		s++, (*n)--;
	while (*n > 0 && (s[*n - 1] == ' ' || s[*n - 1] == '\t'))
		(*n)--;
	*p = s;
	return true;
}

/* Is every entry of list a one of b? */
static bool is_within(const char *a, const char *b)
{
	const char *p, *q;
	size_t n, m;

	while (next_entry(&a, &p, &n)) {
		const char *rest = b;
		bool found = false;

		while (!found && next_entry(&rest, &q, &m))
			found = n == m && memcmp(p, q, n) == 0;
		if (!found)
			return false;
	}
	return true;
}

/* The packaged ranges are nobody's decision about private answers, in whatever order they stand. [POL-14] */
static bool is_own(const char *cidrs)
{
	const char *packaged = kz_setting_table[KZ_SETTING_SANDBOX_EGRESS_PRIVATE_CIDRS].packaged;

	return cidrs && !(is_within(cidrs, packaged) && is_within(packaged, cidrs));
}

static bool is_file(const char *state, const char *name)
{
	char path[KZ_PROXY_PATH];
	struct stat st;

	return !kz_str_format(path, sizeof(path), NULL, "%s/keys/%s", state, name) &&
	       lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

enum kz_rc kz_policy_load(const struct kz_conf *c, struct kz_policy *out, struct kz_err *err)
{
	kz_auto_close int dir = -1;
	char proxy[KZ_PROXY_PATH];
	enum kz_rc rc;

	memset(out, 0, sizeof(*out));
	rc = kz_conf_env_open(c->state, &dir, err);
	for (int i = 0; !rc && i < TEXTS; i++)
		rc = read_text(dir, kz_setting_table[names[i]].name, &out->texts[i], err);
	if (rc)
		return rc;
	out->proxy_url = out->texts[PROXY];
	out->vintage = out->texts[VINTAGE];
	out->config = (struct kz_scope_config){
		.enabled = out->texts[ENABLED],
		.mode = out->texts[MODE],
		.hosts = out->texts[HOSTS],
		.cidrs = out->texts[CIDRS],
		.ports = out->texts[PORTS],
		.ttl = out->texts[TTL],
		.deny_cidrs = out->texts[DENY],
		.is_cidrs_own = is_own(out->texts[CIDRS]),
		/* The one derives from the other; without its root it is none any more. */
		.has_field_key = is_file(c->state, "field.key") && is_file(c->state, "grant.key"),
		.has_proxy = out->proxy_url && kz_policy_proxy(c->state, out->proxy_url, proxy),
	};
	return kz_policy_revision(&out->config, out->revision, err);
}

void kz_policy_release(struct kz_policy *p)
{
	for (int i = 0; i < TEXTS; i++)
		free(p->texts[i]);
	memset(p, 0, sizeof(*p));
}

enum kz_rc kz_policy_revision(const struct kz_scope_config *c, char out[KZ_REVISION_TEXT],
			      struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(TEXT_MAX * TEXTS);

	_Static_assert(KZ_REVISION_TEXT == KZ_SHA256_HEX, "a revision is a SHA-256");
	if (!kz_scope_canonical(c, &b))
		return kz_err_set(err, KZ_E_OS, "out of memory");
	kz_sha256_hex(b.data, b.len, out);
	return KZ_OK;
}

enum kz_reason kz_policy_resolve(const struct kz_policy *p, struct kz_scope *out)
{
	return kz_scope_resolve(&p->config, out);
}

const char *kz_policy_mode(const struct kz_policy *p)
{
	enum kz_scope_mode mode;

	if (!p->config.mode || !*p->config.mode)
		return "unset";
	return kz_scope_mode_parse(p->config.mode, &mode) ? kz_scope_mode_name(mode) : "unknown";
}

static const struct {
	enum kz_reason reason;
	const char *fix;
} fixes[] = {
	{ KZ_R_EGRESS_DISABLED, "kz config set SANDBOX_EGRESS_ENABLED=true" },
	{ KZ_R_MODE_UNKNOWN,
	  "kz config set SANDBOX_EGRESS_MODE=public_internet (or private_network, host_allowlist, isolated)" },
	{ KZ_R_PORTS_UNUSABLE, "kz config set SANDBOX_EGRESS_ALLOWED_PORTS=80,443" },
	{ KZ_R_HOSTS_UNUSABLE,
	  "kz config set SANDBOX_EGRESS_HOST_ALLOWLIST=HOST,... (exact names, no wildcard, no port)" },
	{ KZ_R_CIDRS_UNUSABLE,
	  "kz config set SANDBOX_EGRESS_PRIVATE_CIDRS=ADDRESS/BITS,... (private ranges only)" },
	{ KZ_R_TTL_UNUSABLE, "kz config set SANDBOX_EGRESS_TOKEN_TTL_SECONDS=600" },
	{ KZ_R_DENY_UNUSABLE, "kz config set KZ_EGRESS_DENY_CIDRS=ADDRESS/BITS,..." },
	{ KZ_R_PROXY_UNSET, "kz config set KZ_PROXY_URL=unix:run/proxy/proxy.sock" },
	{ KZ_R_FIELD_KEY_MISSING, "kz up" },
	{ KZ_R_NOT_APPROVED, "kz-run --approve ID" },
	{ KZ_R_PROXY_UNREACHABLE, "kz up; kz logs kz-proxy" },
	{ KZ_R_PROXY_KEYLESS, "kz-grant keys -w" },
	{ KZ_R_KEY_MISSING, "kz up" },
};

const char *kz_policy_fix(enum kz_reason reason)
{
	for (size_t i = 0; i < sizeof(fixes) / sizeof(fixes[0]); i++)
		if (fixes[i].reason == reason)
			return fixes[i].fix;
	return "";
}

bool kz_policy_proxy(const char *state, const char *url, char out[KZ_PROXY_PATH])
{
	if (!kz_str_has_prefix(url, "unix:") || !url[5] || kz_str_has_control(url))
		return false;
	return !(url[5] == '/' ? kz_str_copy(out, KZ_PROXY_PATH, url + 5, NULL) :
				 kz_str_format(out, KZ_PROXY_PATH, NULL, "%s/%s", state, url + 5));
}
