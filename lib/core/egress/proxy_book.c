/* Verified grants and the counts of the proxy. */
#include "core/egress/proxy_book.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

void kz_px_book_init(struct kz_px_book *b, size_t most)
{
	memset(b, 0, sizeof *b);
	pthread_mutex_init(&b->lock, NULL);
	b->most = most;
}

void kz_px_book_release(struct kz_px_book *b)
{
	for (size_t i = 0; i < KZ_PX_BUCKETS; i++)
		while (b->buckets[i]) {
			struct kz_px_known *k = b->buckets[i];

			b->buckets[i] = k->next;
			free(k);
		}
	pthread_mutex_destroy(&b->lock);
}

static struct kz_px_known **bucket(struct kz_px_book *b, const char *digest)
{
	unsigned h = 0;

	for (int i = 0; i < 8; i++)
		h = h * 31 + (unsigned char)digest[i];
	return &b->buckets[h % KZ_PX_BUCKETS];
}

static void unlink_idle(struct kz_px_book *b, struct kz_px_known *k)
{
	*(k->older ? &k->older->newer : &b->oldest) = k->newer;
	*(k->newer ? &k->newer->older : &b->newest) = k->older;
	k->older = k->newer = NULL;
	b->idle--;
}

static void drop(struct kz_px_book *b, struct kz_px_known *k)
{
	struct kz_px_known **at = bucket(b, k->digest);

	unlink_idle(b, k);
	while (*at != k)
		at = &(*at)->next;
	*at = k->next;
	free(k);
}

static enum kz_reason enter(struct kz_px_book *b, struct kz_px_known *k, unsigned most,
			    struct kz_px_known **out)
{
	if (k->connections >= most)
		return KZ_R_TUNNEL_LIMIT;
	if (k->connections++ == 0)
		unlink_idle(b, k);
	*out = k;
	return KZ_R_NONE;
}

/* in: lock held */
static struct kz_px_known *find(struct kz_px_book *b, const char *digest, uint64_t keys_number)
{
	struct kz_px_known *k = *bucket(b, digest);

	while (k && (k->keys_number != keys_number || strcmp(k->digest, digest) != 0))
		k = k->next;
	return k;
}

enum kz_reason kz_px_book_find(struct kz_px_book *b, const char *digest, uint64_t keys_number,
			       unsigned most, struct kz_px_known **out)
{
	struct kz_px_known *k;
	enum kz_reason why = KZ_R_NONE;

	*out = NULL;
	pthread_mutex_lock(&b->lock);
	if ((k = find(b, digest, keys_number)))
		why = enter(b, k, most, out);
	pthread_mutex_unlock(&b->lock);
	return why;
}

static void leave(struct kz_px_book *b, struct kz_px_known *k)
{
	if (--k->connections > 0)
		return;
	k->older = b->newest;
	*(b->newest ? &b->newest->newer : &b->oldest) = k;
	b->newest = k;
	b->idle++;
	if (b->idle > KZ_PX_KNOWN)
		drop(b, b->oldest);
}

enum kz_reason kz_px_book_add(struct kz_px_book *b, const char *digest, uint64_t keys_number,
			      const struct kz_grant *g, unsigned most, struct kz_px_known **out)
{
	struct kz_px_known *k = calloc(1, sizeof *k), *other;
	enum kz_reason why = KZ_R_NONE;

	*out = NULL;
	if (!k)
		return KZ_R_SYSTEM_FAILED;
	kz_str_copy(k->digest, sizeof k->digest, digest, NULL);
	k->keys_number = keys_number;
	k->grant = *g;
	pthread_mutex_lock(&b->lock);
	if ((other = find(b, digest, keys_number))) {
		free(k);
		why = enter(b, other, most, out);
	} else {
		struct kz_px_known **at = bucket(b, digest);

		k->connections = 1;
		k->next = *at;
		*out = *at = k;
	}
	pthread_mutex_unlock(&b->lock);
	return why;
}

enum kz_reason kz_px_book_ask(struct kz_px_book *b, struct kz_px_known *k)
{
	enum kz_reason why = KZ_R_NAME_LIMIT;

	pthread_mutex_lock(&b->lock);
	if (k->names < KZ_PX_NAMES_GRANT && b->names < KZ_PX_NAMES_MOST) {
		k->names++;
		b->names++;
		why = KZ_R_NONE;
	}
	pthread_mutex_unlock(&b->lock);
	return why;
}

void kz_px_book_answered(struct kz_px_book *b, struct kz_px_known *k)
{
	pthread_mutex_lock(&b->lock);
	k->names--;
	b->names--;
	pthread_mutex_unlock(&b->lock);
}

size_t kz_px_book_names(struct kz_px_book *b)
{
	size_t n;

	pthread_mutex_lock(&b->lock);
	n = b->names;
	pthread_mutex_unlock(&b->lock);
	return n;
}

void kz_px_book_leave(struct kz_px_book *b, struct kz_px_known *k)
{
	pthread_mutex_lock(&b->lock);
	leave(b, k);
	pthread_mutex_unlock(&b->lock);
}
