/* Replies: reading them, and what the errors among them mean. */
#include "port/vk_reply.h"

#include <hiredis/hiredis.h>

#include "base/str.h"
#include "port/vk.h"

/* kz_vk_reply is hiredis' reply under a name of ours. */
static const redisReply *reply_of(const struct kz_vk_reply *r)
{
	return (const redisReply *)(const void *)r;
}

struct mapping {
	const char *prefix, *reason;
	enum kz_rc rc;
};

enum kz_rc kz_vk_map_error(const char *text, struct kz_err *err)
{
	static const struct mapping map[] = {
		{ "LOADING", "coordination_loading", KZ_E_UNAVAILABLE },
		{ "READONLY", "coordination_readonly", KZ_E_UNAVAILABLE },
		{ "NOREPLICAS", "coordination_readonly", KZ_E_UNAVAILABLE },
		{ "MISCONF", "coordination_readonly", KZ_E_UNAVAILABLE },
		{ "OOM", "coordination_memory", KZ_E_UNAVAILABLE },
		{ "BUSY", "coordination_busy", KZ_E_UNAVAILABLE },
		{ "MASTERDOWN", "coordination_unavailable", KZ_E_UNAVAILABLE },
		{ "NOAUTH", "coordination_unavailable", KZ_E_UNAVAILABLE },
		{ "NOPERM", "coordination_unavailable", KZ_E_UNAVAILABLE },
		{ "WRONGPASS", "coordination_unavailable", KZ_E_UNAVAILABLE },
		{ "ERR max number of clients", "coordination_unavailable", KZ_E_UNAVAILABLE },
		{ "ERR Function not found", "library_missing", KZ_E_PROTOCOL },
		{ "ERR ACL failure", "coordination_unavailable", KZ_E_UNAVAILABLE },
		{ "KZALTERED", "not_reconciled", KZ_E_UNAVAILABLE }, /* said by our library */
		{ "KZSUPERSEDED", "library_missing",
		  KZ_E_PROTOCOL }, /* said by an older library itself */
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++) {
		if (!kz_str_has_prefix(text, map[i].prefix))
			continue;
		kz_err_set(err, map[i].rc, "valkey: %.300s", text);
		kz_err_reason(err, map[i].reason);
		return map[i].rc;
	}
	kz_err_set(err, KZ_E_SOFTWARE, "valkey: %.300s", text);
	kz_err_reason(err, "internal");
	return KZ_E_SOFTWARE;
}

void kz_vk_reply_free(struct kz_vk_reply *r)
{
	if (r)
		freeReplyObject(r);
}

size_t kz_vk_count(const struct kz_vk_reply *r)
{
	const redisReply *x = reply_of(r);

	return x && x->type == REDIS_REPLY_ARRAY ? (size_t)x->elements : 0;
}

const struct kz_vk_reply *kz_vk_at(const struct kz_vk_reply *r, size_t i)
{
	const redisReply *x = reply_of(r);

	return i < kz_vk_count(r) ? (const struct kz_vk_reply *)(const void *)x->element[i] : NULL;
}

const char *kz_vk_str(const struct kz_vk_reply *r)
{
	const redisReply *x = reply_of(r);

	return x && (x->type == REDIS_REPLY_STRING || x->type == REDIS_REPLY_STATUS) ? x->str : "";
}

int64_t kz_vk_int(const struct kz_vk_reply *r)
{
	const redisReply *x = reply_of(r);
	int64_t n = 0;

	if (x && x->type == REDIS_REPLY_INTEGER)
		return x->integer;
	return kz_str_int(kz_vk_str(r), INT64_MIN, INT64_MAX, &n, NULL) ? 0 : n;
}

bool kz_vk_is_null(const struct kz_vk_reply *r)
{
	return !r || reply_of(r)->type == REDIS_REPLY_NIL;
}
