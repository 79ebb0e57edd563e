/* The outbox of Valkey goes to the audit store. */
#include "base/log.h"
#include "core/audit/rotate.h"
#include "core/pool/keeper_parts.h"

#define ROWS 100
#define ROUNDS 20 /* then other things have their turn */

static void lose_audit(struct kz_keeper *k, const struct kz_err *err)
{
	k->bad_audit = *err;
	kz_audit_close(k->audit);
	k->audit = NULL;
}

static enum kz_rc open_audit(struct kz_keeper *k, struct kz_err *err)
{
	/* A store that was moved away or replaced takes rows that nobody finds. */
	if (k->audit && !kz_audit_is_current(k->audit)) {
		kz_audit_close(k->audit);
		k->audit = NULL;
	}
	return k->audit ? KZ_OK : kz_audit_open(&k->audit, k->audit_path, err);
}

/* Move one batch. out: whether there may be more */
static enum kz_rc move_batch(struct kz_keeper *k, bool *more, struct kz_err *err)
{
	struct kz_transition rows[ROWS];
	struct kz_err own = KZ_ERR_INIT;
	size_t count = 0;
	bool starts = false;
	enum kz_rc rc;

	*more = false;
	if (k->is_owner && kz_auth_outbox(k->auth, k->conf.set.kz_node, rows, ROWS, &count, &starts,
					  &own) != KZ_OK) {
		kz_keeper_fault(k, &own);
		return KZ_OK;
	}
	/* Also with nothing to write: that it could be written is part of admission [AUD-10]. */
	rc = count ? kz_audit_transitions(k->audit, rows, count, starts, err) :
		     kz_audit_probe(k->audit, err);
	if (rc != KZ_OK || !count)
		return rc;
	if (kz_auth_outbox_ack(k->auth, k->conf.set.kz_node, rows[count - 1].store,
			       rows[count - 1].seq, &own) != KZ_OK) {
		kz_keeper_fault(k, &own);
		return KZ_OK;
	}
	*more = count == ROWS;
	return KZ_OK;
}

static void rotate(struct kz_keeper *k)
{
	struct kz_audit_keep keep = kz_audit_keep_default(k->conf.set.kz_audit_keep_days);
	struct kz_audit_rotated done;
	struct kz_err err = KZ_ERR_INIT;

	if (!kz_deadline_passed(k->next_rotate))
		return;
	k->next_rotate = kz_deadline_in(KZ_SECONDS(600));
	if (kz_audit_rotate(k->audit_path, &keep, &done, &err) != KZ_OK)
		kz_log(KZ_LOG_WARNING, "audit segments not rotated", "text", err.text, NULL);
	else if (done.is_closed || done.removed_count)
		kz_log(KZ_LOG_INFO, "audit segments rotated", "closed", done.is_closed ? "1" : "0",
		       "removed", kz_log_int(done.removed_count), NULL);
	if (k->audit && kz_audit_checkpoint(k->audit, &err) != KZ_OK)
		lose_audit(k, &err);
}

void kz_keeper_drain_outbox(struct kz_keeper *k)
{
	struct kz_err err = KZ_ERR_INIT;
	bool more = true;

	if (!k->has_conf)
		return;
	if (open_audit(k, &err) != KZ_OK) {
		lose_audit(k, &err);
		return;
	}
	for (int i = 0; i < ROUNDS && more && k->auth; i++)
		if (move_batch(k, &more, &err) != KZ_OK) {
			lose_audit(k, &err);
			return;
		}
	k->bad_audit = (struct kz_err)KZ_ERR_INIT;
	rotate(k);
}
