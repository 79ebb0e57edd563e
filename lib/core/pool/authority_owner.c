/* Who speaks for a node. */
#include <string.h>

#include "base/proc.h"
#include "base/str.h"
#include "core/pool/authority_call.h"
#include "core/pool/authority_keeper.h"
#include "rule/reason.h"

static bool is_dead(const char *holder)
{
	struct kz_proc_id id;

	return kz_proc_id_parse(holder, &id, NULL) == KZ_OK && kz_proc_id_alive(&id) == 0;
}

static enum kz_rc refuse(const char *node, const char *holder, struct kz_err *err)
{
	struct kz_proc_id id;

	if (kz_proc_id_parse(holder, &id, NULL) == KZ_OK && kz_proc_id_alive(&id) == 1)
		return kz_refuse(err, KZ_R_NODE_TAKEN,
				 "process %lld of this machine speaks for node %s (KZ_NODE)",
				 (long long)id.pid, node);
	return kz_refuse(
		err, KZ_R_NODE_TAKEN,
		"another controller speaks for node %s; give each machine a KZ_NODE of its own",
		node);
}

enum kz_rc kz_auth_own(struct kz_auth *a, const char *node, const char *instance, bool *is_over,
		       struct kz_err *err)
{
	struct kz_proc_id self;
	char holder[KZ_HOLDER_TEXT], dead[KZ_ID_HEX] = "-";
	enum kz_rc rc = kz_proc_self_id(&self, err);

	*is_over = false;
	if (rc != KZ_OK)
		return rc;
	kz_proc_id_format(&self, holder, sizeof(holder));
	for (int tries = 0; tries < 3; tries++) {
		kz_auto_vk_reply struct kz_vk_reply *r = NULL;
		const char *const args[] = { node, instance, holder, dead, NULL };
		const char *before;

		rc = kz_auth_call_text(a, "own", args, &r, err);
		before = kz_vk_str(kz_vk_at(r, 2));
		if (rc == KZ_OK) {
			*is_over =
				!kz_str_eq(kz_vk_str(kz_vk_at(r, 1)), "stale") || is_dead(before);
			return kz_str_copy(a->owner, sizeof(a->owner), instance, err);
		}
		if (!r)
			return rc;
		if (!is_dead(before))
			return refuse(node, before, err);
		rc = kz_str_copy(dead, sizeof(dead), kz_vk_str(kz_vk_at(r, 1)), err);
		if (rc != KZ_OK)
			return rc;
	}
	return kz_refuse(err, KZ_R_NODE_TAKEN, NULL);
}

enum kz_rc kz_auth_disown(struct kz_auth *a, const char *node, struct kz_err *err)
{
	const char *const args[] = { node, kz_auth_me(a), NULL };

	a->owner[0] = '\0';
	return kz_auth_call_text(a, "disown", args, NULL, err);
}
