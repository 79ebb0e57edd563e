/* Writing revocations: for who holds grant.key and owns the state directory. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/egress/revoked.h"
#include "port/json.h"
#include "port/seal-sign.h"
#include "rule/reason.h"

#define SERIAL_MOST (INT64_C(1) << 53) /* no clock says more */

/*
 * The serial of a file that is not ours, as of one that a former key signed: who has seen it takes no
 * older one, whatever has become of the clock since.  Nothing else of it is believed.
 */
static int64_t serial_of(const struct kz_buf *text)
{
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_REVOKED_BYTES);
	kz_auto_json struct kz_json *o = NULL;
	int64_t serial;

	if (kz_token_payload_unverified(kz_buf_str(text), text->len, &payload, NULL) ||
	    kz_json_parse(kz_buf_str(&payload), payload.len, &o, NULL))
		return 0;
	serial = kz_json_num(o, "serial", 0);
	return serial > 0 && serial < SERIAL_MOST ? serial : 0;
}

/* What the file says, when it is ours; else nothing but its serial. out: is it? */
static bool load(int dir, const struct kz_public *own, struct kz_revoked *r)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_REVOKED_BYTES);
	bool is_read = kz_file_read(dir, "revoked", &text, NULL) == KZ_OK;

	if (is_read && kz_revoked_take(own, kz_buf_str(&text), text.len, r))
		return true;
	memset(r, 0, sizeof(*r));
	if (is_read)
		r->serial = serial_of(&text);
	return false;
}

/* Take out what no grant can need any more, and a former entry of this execution. */
static void prune(struct kz_revoked *r, const char *execution, int64_t now_s)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->list[i].expires_s + KZ_GRANT_TTL_MOST >= now_s &&
		    !kz_str_eq(r->list[i].execution, execution))
			r->list[kept++] = r->list[i];
	r->count = kept;
}

static enum kz_rc add(struct kz_revoked *r, const char *execution, int64_t now_s,
		      struct kz_err *err)
{
	size_t at = 0;

	if (r->count == KZ_REVOKED_MOST)
		return kz_refuse(err, KZ_R_REVOCATIONS_FULL, "%d executions are revoked already",
				 KZ_REVOKED_MOST);
	while (at < r->count && strcmp(r->list[at].execution, execution) < 0)
		at++;
	memmove(&r->list[at + 1], &r->list[at], (r->count - at) * sizeof(r->list[0]));
	r->count++;
	/* The grant is not at hand; it ends before this. */
	r->list[at].expires_s = now_s + KZ_GRANT_TTL_MOST;
	return kz_str_copy(r->list[at].execution, sizeof(r->list[at].execution), execution, err);
}

static enum kz_rc save(int dir, const struct kz_secret *key, const struct kz_public *own,
		       const struct kz_revoked *r, struct kz_err *err)
{
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_REVOKED_BYTES);
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_REVOKED_BYTES);
	char footer[KZ_FOOTER_TEXT];
	enum kz_rc rc = kz_revoked_write(r, &payload, err);

	kz_key_footer(own, footer);
	if (!rc)
		rc = kz_token_sign(key, payload.data, payload.len, footer, KZ_REVOCATION_ASSERTION,
				   &token, err);
	if (!rc)
		rc = kz_buf_puts(&token, "\n", err);
	return rc ? rc :
		    kz_file_replace(dir, "revoked", token.data, token.len, 0644, (gid_t)-1, err);
}

static enum kz_rc open_public(const char *state, int *dir, int *lock, struct kz_err *err)
{
	char path[300];

	if (kz_str_format(path, sizeof(path), err, "%s/public", state))
		return KZ_E_CONFIG;
	*dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dir < 0)
		return kz_refuse(err, KZ_R_KEY_MISSING, "no directory %s; make it with: kz up",
				 path);
	if (faccessat(*dir, ".", W_OK, AT_EACCESS) != 0)
		return kz_refuse(err, KZ_R_NO_PERMISSION,
				 "only the owner of %s may revoke grants; run it with sudo", path);
	return kz_file_lock(*dir, ".lock", kz_deadline_in(KZ_SECONDS(10)), lock, err);
}

static bool is_id(const char *s)
{
	return strlen(s) == KZ_ID_HEX - 1 && strspn(s, "0123456789abcdef") == KZ_ID_HEX - 1;
}

enum kz_rc kz_revoke(const char *state, const struct kz_secret *key, const char *execution,
		     int64_t before_s, int64_t now_ms, int64_t *serial, struct kz_err *err)
{
	int64_t now_s = now_ms / 1000;
	kz_auto_close int dir = -1;
	kz_auto_close int lock = -1;
	kz_auto_revoked struct kz_revoked *r = malloc(sizeof(*r));
	struct kz_public own;
	bool is_ours, is_nothing = !execution && before_s == 0;
	enum kz_rc rc = r ? kz_seal_init(err) : kz_err_set(err, KZ_E_OS, "out of memory");

	if (!rc && execution && !is_id(execution))
		rc = kz_refuse(err, KZ_R_MALFORMED_INPUT,
			       "an execution is named by 32 hexadecimal digits");
	if (!rc)
		rc = open_public(state, &dir, &lock, err);
	if (rc)
		return rc;
	kz_sign_public(key, &own);
	is_ours = load(dir, &own, r);
	if (!is_ours || !is_nothing) {
		prune(r, execution, now_s);
		if (before_s > r->before_s)
			r->before_s = before_s;
		/* Of the clock, so that a file that was lost or is of a former key is followed by a newer one, a moment later too. */
		r->serial = r->serial + 1 > now_ms ? r->serial + 1 : now_ms;
		rc = execution ? add(r, execution, now_s, err) : KZ_OK;
		if (!rc)
			rc = save(dir, key, &own, r, err);
	}
	if (!rc && serial)
		*serial = r->serial;
	return rc;
}
