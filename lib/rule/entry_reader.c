/* An entry stream in pieces. */
#include "rule/entry_reader.h"

#include <string.h>

void kz_entry_start(struct kz_entry_reader *r)
{
	memset(r, 0, sizeof *r);
}

/* Fill up to want bytes; out: what was used */
static size_t gather(struct kz_entry_reader *r, void *to, size_t want, const char *p, size_t n)
{
	size_t part = want - r->have < n ? want - r->have : n;

	memcpy((char *)to + r->have, p, part);
	r->have += part;
	return part;
}

static enum kz_rc take_head(struct kz_entry_reader *r, struct kz_err *err)
{
	r->have = 0;
	if (!kz_entry_parse(r->head, &r->e))
		return kz_err_set(err, KZ_E_DATA, "entry %lld is malformed",
				  (long long)r->count + 1);
	if (r->e.kind != KZ_ENTRY_END) {
		r->state = KZ_ENTRY_AT_NAME;
		return KZ_OK;
	}
	if (r->e.size != r->count)
		return kz_err_set(err, KZ_E_DATA, "%lld entries came, %lld were told",
				  (long long)r->count, (long long)r->e.size);
	r->skipped = r->e.mtime_s;
	r->state = KZ_ENTRY_AT_END;
	return KZ_OK;
}

static enum kz_rc take_name(struct kz_entry_reader *r, const struct kz_entry_sink *to,
			    struct kz_err *err)
{
	r->have = 0;
	r->name[r->e.name_len] = 0;
	if (!kz_entry_name_ok(r->name, r->e.name_len))
		return kz_err_set(err, KZ_E_DATA, "the name of entry %lld is not allowed",
				  (long long)r->count + 1);
	r->count++;
	r->left = r->e.size;
	r->state = r->left ? KZ_ENTRY_AT_DATA : KZ_ENTRY_AT_HEAD;
	return to->entry(to->arg, &r->e, r->name, err);
}

static enum kz_rc take_data(struct kz_entry_reader *r, const char *p, size_t n, size_t *used,
			    const struct kz_entry_sink *to, struct kz_err *err)
{
	*used = r->left < (int64_t)n ? (size_t)r->left : n;
	r->left -= (int64_t)*used;
	if (!r->left)
		r->state = KZ_ENTRY_AT_HEAD;
	return to->data(to->arg, p, *used, err);
}

static enum kz_rc take(struct kz_entry_reader *r, const char *p, size_t n, size_t *used,
		       const struct kz_entry_sink *to, struct kz_err *err)
{
	switch (r->state) {
	case KZ_ENTRY_AT_HEAD:
		*used = gather(r, r->head, KZ_ENTRY_HEAD, p, n);
		return r->have < KZ_ENTRY_HEAD ? KZ_OK : take_head(r, err);
	case KZ_ENTRY_AT_NAME:
		*used = gather(r, r->name, r->e.name_len, p, n);
		return r->have < r->e.name_len ? KZ_OK : take_name(r, to, err);
	case KZ_ENTRY_AT_DATA: return take_data(r, p, n, used, to, err);
	case KZ_ENTRY_AT_END: return kz_err_set(err, KZ_E_DATA, "there is more after the end");
	case KZ_ENTRY_AT_FAULT: break;
	}
	return kz_err_set(err, KZ_E_DATA, "the stream failed before");
}

enum kz_rc kz_entry_feed(struct kz_entry_reader *r, const void *p, size_t n,
			 const struct kz_entry_sink *to, struct kz_err *err)
{
	const char *at = p;

	while (n) {
		size_t used = 0;
		enum kz_rc rc = take(r, at, n, &used, to, err);

		if (rc != KZ_OK) {
			r->state = KZ_ENTRY_AT_FAULT;
			return rc;
		}
		at += used;
		n -= used;
	}
	return KZ_OK;
}

bool kz_entry_is_whole(const struct kz_entry_reader *r)
{
	return r->state == KZ_ENTRY_AT_END;
}
