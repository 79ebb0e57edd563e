/* Keeping output within its bound. */
#include "worker/keep.h"

#include <stdlib.h>
#include <string.h>

enum kz_rc kz_keep_start(struct kz_keep *k, int64_t bound, struct kz_err *err)
{
	*k = (struct kz_keep){ .bound = bound, .share = bound / 8 };
	if (k->share > KZ_KEEP_SHARE_MOST)
		k->share = KZ_KEEP_SHARE_MOST;
	k->held = malloc((size_t)k->share + 1);
	if (!k->held)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	for (int s = 0; s < KZ_KEEP_STREAMS; s++)
		kz_sha256_start(&k->of[s].hash);
	return KZ_OK;
}

void kz_keep_release(struct kz_keep *k)
{
	free(k->held);
	k->held = NULL;
	k->held_n = 0;
}

static size_t least(size_t n, int64_t room)
{
	if (room <= 0)
		return 0;
	return (uint64_t)room < n ? (size_t)room : n;
}

size_t kz_keep_add(struct kz_keep *k, enum kz_keep_stream s, const void *p, size_t n)
{
	int64_t used = k->of[KZ_KEEP_OUT].kept + k->of[KZ_KEEP_ERR].kept;
	size_t now, hold;

	k->of[s].seen += (int64_t)n;
	kz_sha256_add(&k->of[s].hash, p, n);
	if (s == KZ_KEEP_ERR) {
		now = least(n, k->bound - used);
		/* only a prefix is ever kept: after a gap nothing more is */
		if (k->of[s].seen - (int64_t)n > k->of[s].kept)
			now = 0;
		k->of[s].kept += (int64_t)now;
		return now;
	}
	now = k->held_n || k->of[s].seen - (int64_t)n > k->of[s].kept ?
		      0 :
		      least(n, k->bound - k->share - used);
	k->of[s].kept += (int64_t)now;
	/* the held part continues what was sent without a gap */
	if (k->of[s].seen - (int64_t)n + (int64_t)now == k->of[s].kept + (int64_t)k->held_n) {
		hold = least(n - now, k->share - (int64_t)k->held_n);
		memcpy(k->held + k->held_n, (const char *)p + now, hold);
		k->held_n += hold;
	}
	return now;
}

size_t kz_keep_end(struct kz_keep *k, const char **p)
{
	size_t n = least(k->held_n, k->bound - k->of[KZ_KEEP_OUT].kept - k->of[KZ_KEEP_ERR].kept);

	*p = k->held;
	k->of[KZ_KEEP_OUT].kept += (int64_t)n;
	return n;
}
