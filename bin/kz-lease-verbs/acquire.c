/* kz-lease acquire and with: a lease for somebody. */
#include <signal.h>

#include "base/proc.h"
#include "base/sig.h"
#include "verbs.h"

const struct kz_column kz_lease_columns[] = {
	{ "lease", "lease", NULL },
	{ "worker", "worker", NULL },
	{ "token", "token", NULL },
	{ "fence", "fence", NULL },
	{ "expires_ms", "expires", kz_out_format_time },
	{ NULL, NULL, NULL },
};

const struct kz_ms *kz_wait_of(const struct kz_who_options *o, struct kz_ms *store)
{
	store->ms = o->wait_ms;
	return o->wait_ms >= 0 ? store : NULL;
}

struct kz_json *kz_lease_object(const struct kz_lease *l, bool has_token)
{
	struct kz_json *o = kz_out_object("lease");

	kz_json_set_str(o, "lease", l->id);
	kz_json_set_str(o, "worker", l->worker);
	if (has_token)
		kz_json_set_str(o, "token", l->token);
	kz_json_set_int(o, "fence", l->fence);
	kz_json_set_int(o, "expires_ms", l->expires_ms);
	return o;
}

int kz_verb_acquire(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_who_options o = { .wait_ms = -1 };
	struct kz_hold h kz_auto_hold = { 0 };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	kz_auto_close int sig_fd = -1;
	char holder[KZ_HOLDER_TEXT];
	struct kz_proc_id self;
	struct kz_ms wait;
	bool is_told = false;
	int sig;
	const struct kz_opt opts[] = { KZ_WHO_OPTIONS(&o), KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = {
		"kz-lease", "acquire", KZ_ACQUIRE_SYNOPSIS, KZ_ACQUIRE_WHAT, opts, 0, 0
	};
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_who_set(&h.who, o.actor, o.conversation, &cli->err);
	if (!rc)
		rc = kz_hold_open_to_acquire(&h, &cli->err);
	/* A signal while waiting leaves no ticket; one after the grant must not lose the token. */
	if (!rc)
		rc = kz_sig_open(signals, &sig_fd, &cli->err);
	/* This process is the holder until the token has been printed, so that a kill in between holds no worker. */
	if (!rc)
		rc = kz_proc_self_id(&self, &cli->err);
	if (!rc) {
		kz_proc_id_format(&self, holder, sizeof(holder));
		rc = kz_hold_acquire(&h, kz_wait_of(&o, &wait), holder, sig_fd, &cli->err);
	}
	if (!rc)
		rc = kz_out_record(cli, kz_lease_columns, kz_lease_object(&h.lease, true));
	is_told = !rc && kz_out_flush(cli);
	if (is_told)
		rc = kz_auth_hand_over(h.auth, &h.lease, &cli->err);
	/* A token that nobody could read would hold the worker until it expires. */
	if (h.lease.id[0] && (rc || !is_told)) {
		kz_auto_json struct kz_json *evidence = NULL;
		struct kz_err ignored = KZ_ERR_INIT;

		kz_hold_release(&h, NULL, &evidence, &ignored);
	}
	sig = sig_fd >= 0 && rc ? kz_sig_next(sig_fd) : 0;
	return sig ? kz_main_end_as(cli, rc, 128 + sig) : kz_main_end(cli, rc);
}

int kz_verb_with(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_who_options o = { .wait_ms = -1 };
	struct kz_hold h kz_auto_hold = { 0 };
	struct kz_ms wait;
	int status = 125;
	const struct kz_opt opts[] = { KZ_WHO_OPTIONS(&o), KZ_OPT_END };
	const struct kz_usage usage = { "kz-lease", "with", KZ_WITH_SYNOPSIS, KZ_WITH_WHAT, opts,
					1,          -1 };
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_who_set(&h.who, o.actor, o.conversation, &cli->err);
	if (rc)
		return kz_main_end(cli, rc);
	rc = kz_hold_open_to_acquire(&h, &cli->err);
	if (!rc)
		rc = kz_hold_with(&h, kz_wait_of(&o, &wait), cli->operands, &status, &cli->err);
	return kz_main_end_as(cli, rc, status);
}
