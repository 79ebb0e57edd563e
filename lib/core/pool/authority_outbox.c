/* The outbox: lines of twelve words become transitions. */
#include "core/pool/authority_outbox.h"

#include <string.h>

#include "base/str.h"
#include "core/pool/authority_call.h"
#include "rule/reason.h"

struct word {
	char *to;
	size_t size;
};

/* Cut the next word off s into w; "-" stands for nothing, "." for the subject. */
static bool next_word(const char **s, struct word w, const char *subject)
{
	size_t n = strcspn(*s, " ");

	if (n == 0 || n >= w.size)
		return false;
	memcpy(w.to, *s, n);
	w.to[n] = 0;
	if (kz_str_eq(w.to, "-"))
		w.to[0] = 0;
	if (kz_str_eq(w.to, ".") && kz_str_copy(w.to, w.size, subject, NULL))
		return false;
	*s += n;
	if (**s == ' ')
		(*s)++;
	return true;
}

static bool parse(const char *s, struct kz_transition *t)
{
	char seq[24], at[24];
	const struct word words[] = {
		{ t->store, sizeof(t->store) },
		{ seq, sizeof(seq) },
		{ at, sizeof(at) },
		{ t->machine, sizeof(t->machine) },
		{ t->from, sizeof(t->from) },
		{ t->event, sizeof(t->event) },
		{ t->to, sizeof(t->to) },
		{ t->subject, sizeof(t->subject) },
		{ t->worker, sizeof(t->worker) },
		{ t->lease, sizeof(t->lease) },
		{ t->actor, sizeof(t->actor) },
		{ t->cause, sizeof(t->cause) },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!next_word(&s, words[i], t->subject))
			return false;
	return !*s && !kz_str_int(seq, 1, INT64_MAX, &t->seq, NULL) &&
	       !kz_str_int(at, 0, INT64_MAX, &t->at_ms, NULL);
}

enum kz_rc kz_auth_outbox(struct kz_auth *a, const char *node, struct kz_transition *out,
			  size_t max, size_t *count, bool *starts, struct kz_err *err)
{
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	char most[24];
	const struct kz_vk_reply *lines;
	const struct kz_vk_arg args[] = { kz_vk_text(node),
					  kz_vk_num(most, max > 100 ? 100 : (int64_t)max),
					  kz_vk_text(kz_auth_me(a)) };
	enum kz_rc rc;

	*count = 0;
	*starts = false;
	if (max == 0)
		return KZ_OK;
	rc = kz_auth_call(a, "outbox", args, 3, kz_deadline_in(KZ_AUTH_CALL), &r, err);
	lines = kz_vk_at(r, 1);
	*starts = kz_vk_int(kz_vk_at(r, 2)) == 1;
	for (size_t i = 0; !rc && i < kz_vk_count(lines) && i < max; i++) {
		if (!parse(kz_vk_str(kz_vk_at(lines, i)), &out[i]))
			return kz_refuse(err, KZ_R_INTERNAL, "valkey: malformed transition");
		*count = i + 1;
	}
	return rc;
}

enum kz_rc kz_auth_outbox_ack(struct kz_auth *a, const char *node, const char *store, int64_t seq,
			      struct kz_err *err)
{
	char number[24];
	const char *const args[] = { node, store, kz_vk_num(number, seq).p, kz_auth_me(a), NULL };

	return kz_auth_call_text(a, "ack", args, NULL, err);
}
