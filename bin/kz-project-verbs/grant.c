/* kz-project grant. */
#include <string.h>

#include "base/fd.h"
#include "rule/pointer.h"
#include "rule/reason.h"
#include "verbs.h"

#define INPUT_MAX (1 << 20)

static enum kz_rc bad(struct kz_cli *cli, const char *what)
{
	return kz_err_set(&cli->err, KZ_E_DATA, "standard input: %s", what);
}

/* Only what is known, so that a misspelt "withdrawn" grants nothing. "default" may be told and changes nothing [PROJ-9]. */
static enum kz_rc check_keys(const struct kz_json *in, struct kz_err *err)
{
	static const char *const top[] = { "pointer", "membership", "request", NULL };
	static const char *const pointer[] = { "item",      "kind",      "project", "shared",
					       "withdrawn", "linked_by", NULL };
	static const char *const membership[] = { "project", "members", "default", NULL };
	static const char *const request[] = { "reader", "item", "project", "right", NULL };
	enum kz_rc rc = kz_json_only(in, top, err);

	if (!rc)
		rc = kz_json_only(kz_json_get(in, "pointer"), pointer, err);
	if (!rc)
		rc = kz_json_only(kz_json_get(in, "membership"), membership, err);
	return rc ? rc : kz_json_only(kz_json_get(in, "request"), request, err);
}

static bool has_member(const struct kz_json *members, const char *who)
{
	for (size_t i = 0; i < kz_json_count(members); i++)
		if (kz_json_is_string(kz_json_at(members, i)) &&
		    strcmp(kz_json_str_value(kz_json_at(members, i)), who) == 0)
			return true;
	return false;
}

static enum kz_rc decide(struct kz_cli *cli, const struct kz_json *in, enum kz_reason *out)
{
	const struct kz_json *p = kz_json_get(in, "pointer"), *m = kz_json_get(in, "membership");
	const struct kz_json *q = kz_json_get(in, "request");
	struct kz_pointer pointer = { kz_json_str(p, "item", ""), kz_json_str(p, "project", ""),
				      kz_json_flag(p, "shared", false),
				      kz_json_flag(p, "withdrawn", true) };
	struct kz_pointer_request request = { kz_json_str(q, "item", ""),
					      kz_json_str(q, "project", ""), false };
	const char *reader = kz_json_str(q, "reader", "");
	bool is_member;

	if (!*pointer.item || !*pointer.project || !*reader ||
	    !kz_json_is_bool(kz_json_get(p, "shared")) ||
	    !kz_json_is_bool(kz_json_get(p, "withdrawn")) ||
	    !kz_json_is_array(kz_json_get(m, "members")))
		return bad(cli, "item, project, shared, withdrawn, members or reader is missing");
	if (!kz_pointer_right(kz_json_str(q, "right", ""), &request.is_read))
		return bad(cli,
			   "right is none of read, write, rename, publish, delete, fork, reshare");
	/* the members of another Project say nothing about this one */
	is_member = strcmp(kz_json_str(m, "project", ""), pointer.project) == 0 &&
		    has_member(kz_json_get(m, "members"), reader);
	*out = kz_pointer_decide(&pointer, is_member, &request);
	return KZ_OK;
}

static enum kz_rc grant(struct kz_cli *cli, enum kz_reason *reason)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(INPUT_MAX);
	kz_auto_json struct kz_json *in = NULL;
	struct kz_json *o;
	bool is_denied;
	enum kz_rc rc = kz_fd_read_all(0, &text, &cli->err);

	if (!rc)
		rc = kz_json_parse(kz_buf_str(&text), text.len, &in, &cli->err);
	if (!rc && (!kz_json_is_object(in) || !kz_json_is_object(kz_json_get(in, "pointer")) ||
		    !kz_json_is_object(kz_json_get(in, "membership")) ||
		    !kz_json_is_object(kz_json_get(in, "request"))))
		rc = bad(cli, "pointer, membership or request is no object");
	if (!rc)
		rc = check_keys(in, &cli->err);
	if (!rc)
		rc = decide(cli, in, reason);
	if (rc)
		return rc;
	is_denied = *reason != KZ_R_NONE;
	if (!cli->json) {
		kz_out_text(cli, "%s%s\n", is_denied ? "deny: " : "allow: read, and nothing else",
			    is_denied ? kz_reason_code(*reason) : "");
		return KZ_OK;
	}
	o = kz_out_object("project_grant");
	kz_json_set_str(o, "decision", is_denied ? "deny" : "allow");
	kz_json_set_str(o, "reason", is_denied ? kz_reason_code(*reason) : NULL);
	kz_json_set_str(o, "access", is_denied ? "none" : "read");
	return kz_out_json(cli, o);
}

int kz_verb_grant(struct kz_cli *cli, int argc, char **argv)
{
	enum kz_reason reason = KZ_R_NONE;
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = {
		"kz-project", "grant", KZ_GRANT_SYNOPSIS, KZ_GRANT_WHAT, opts, 0, 0
	};
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = grant(cli, &reason);
	return rc ? kz_main_end(cli, rc) : kz_main_end_as(cli, KZ_OK, reason == KZ_R_NONE ? 0 : 1);
}
