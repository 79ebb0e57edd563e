/* Numbers for lines, then the greedy walk with its trace. */
#include "rule/hashline_diff.h"

#include <stdlib.h>
#include <string.h>

#include "rule/tag.h"

static enum kz_rc no_memory(struct kz_err *err)
{
	return kz_err_set(err, KZ_E_OS, "no memory for a comparison");
}

void kz_diff_release(struct kz_diff *d)
{
	free(d->map);
	free(d->id);
	free(d->in_old);
	free(d->in_new);
	memset(d, 0, sizeof *d);
}

/* The table that gives numbers to lines. */
struct table {
	const struct kz_line **slot; /* the first line of its bytes */
	uint32_t *number, *hash;
	size_t mask;
	uint32_t given;
	size_t steps_left; /* whoever makes lines collide pays with a refusal, not with time */
};

static void table_release(struct table *t)
{
	free(t->slot);
	free(t->number);
	free(t->hash);
}

static bool table_make(struct table *t, size_t lines)
{
	size_t room = 16;

	while (room < lines * 2)
		room *= 2;
	*t = (struct table){ .mask = room - 1, .steps_left = 16 * lines + 1024 };
	t->slot = calloc(room, sizeof(const struct kz_line *));
	t->number = malloc(room * sizeof *t->number);
	t->hash = malloc(room * sizeof *t->hash);
	return t->slot && t->number && t->hash;
}

/* out: false: out of steps */
static bool number_of(struct table *t, const struct kz_line *l, uint32_t *out)
{
	uint32_t h = kz_xxh32(l->p, l->n, 0x6b7a);
	size_t i = h & t->mask;

	for (; t->slot[i]; i = (i + 1) & t->mask) {
		if (t->hash[i] == h && kz_row_same(kz_line_row(t->slot[i]), kz_line_row(l))) {
			*out = t->number[i];
			return true;
		}
		if (t->steps_left-- == 0)
			return false;
	}
	t->slot[i] = l;
	t->hash[i] = h;
	*out = t->number[i] = t->given++;
	return true;
}

static bool number_all(struct table *t, const struct kz_text *x, uint32_t *id, uint32_t *in)
{
	for (uint32_t i = 0; i < x->count; i++) {
		if (!number_of(t, &x->line[i], &id[i]))
			return false;
		in[id[i]]++;
	}
	return true;
}

/* The middle parts of both texts, in numbers, and how far each diagonal got. */
struct walk {
	const uint32_t *a, *b;
	int n, m;
	int *v;     /* of diagonal k at v[k + most] */
	int *trace; /* v as it was before each round, -d..d of it */
	int most;
};

/* One round of d differences. returns whether the end was reached */
static bool round_of(struct walk *w, int d)
{
	int *v = w->v + w->most;

	memcpy(w->trace + (size_t)d * (size_t)d, v - d, (size_t)(2 * d + 1) * sizeof *v);
	for (int k = -d; k <= d; k += 2) {
		int x = k == -d || (k != d && v[k - 1] < v[k + 1]) ? v[k + 1] : v[k - 1] + 1;
		int y = x - k;

		while (x < w->n && y < w->m && w->a[x] == w->b[y]) {
			x++;
			y++;
		}
		v[k] = x;
		if (x >= w->n && y >= w->m)
			return true;
	}
	return false;
}

/* Back from the end; diagonals are what both texts have. */
static void back(const struct walk *w, int d, uint32_t *map, uint32_t shift)
{
	int x = w->n, y = w->m;

	for (; d > 0; d--) {
		const int *v = w->trace + (size_t)d * (size_t)d + d;
		int k = x - y;
		int from = k == -d || (k != d && v[k - 1] < v[k + 1]) ? k + 1 : k - 1;

		while (x > v[from] && y > v[from] - from) {
			x--;
			y--;
			map[x] = (uint32_t)y + 1 + shift;
		}
		x = v[from];
		y = x - from;
	}
	while (x > 0 && y > 0) {
		x--;
		y--;
		map[x] = (uint32_t)y + 1 + shift;
	}
}

/* in: map and shift of the middle part. out: *capped */
static enum kz_rc middle(struct walk *w, uint32_t *map, uint32_t shift, bool *capped,
			 struct kz_err *err)
{
	size_t lines = (size_t)w->n + (size_t)w->m, most = KZ_DIFF_WORK / (lines ? lines : 1);
	size_t cells;
	int d = 0;

	most = most > KZ_DIFF_MOST ? KZ_DIFF_MOST : most;
	most = most > lines ? lines : most;
	w->most = (int)most + 1;
	cells = (most + 2) * (most + 2);
	w->v = calloc(2 * (size_t)w->most + 1, sizeof *w->v);
	w->trace = malloc(cells * sizeof *w->trace);
	if (!w->v || !w->trace)
		return no_memory(err);
	while (d <= (int)most && !round_of(w, d))
		d++;
	*capped = d > (int)most;
	if (!*capped)
		back(w, d, map, shift);
	return KZ_OK;
}

static enum kz_rc walk_through(const struct kz_text *old, const struct kz_text *now,
			       const uint32_t *other, struct kz_diff *d, struct kz_err *err)
{
	uint32_t n = old->count, m = now->count, head = 0, tail = 0;
	struct walk w = { .most = 0 };
	enum kz_rc rc;

	while (head < n && head < m && d->id[head] == other[head]) {
		d->map[head] = head + 1;
		head++;
	}
	while (tail < n - head && tail < m - head && d->id[n - 1 - tail] == other[m - 1 - tail]) {
		d->map[n - 1 - tail] = m - tail;
		tail++;
	}
	w.a = d->id + head;
	w.b = other + head;
	w.n = (int)(n - head - tail);
	w.m = (int)(m - head - tail);
	rc = middle(&w, d->map + head, head, &d->is_capped, err);
	free(w.v);
	free(w.trace);
	return rc;
}

enum kz_rc kz_diff_make(const struct kz_text *old, const struct kz_text *now, struct kz_diff *d,
			struct kz_err *err)
{
	size_t all = (size_t)old->count + now->count;
	struct table t = { .mask = 0 };
	uint32_t *other = NULL;
	enum kz_rc rc = KZ_OK;
	bool fits;

	memset(d, 0, sizeof *d);
	d->map = calloc((size_t)old->count + 1, sizeof *d->map);
	d->id = calloc((size_t)old->count + 1, sizeof *d->id);
	d->in_old = calloc(all + 1, sizeof *d->in_old);
	d->in_new = calloc(all + 1, sizeof *d->in_new);
	other = calloc((size_t)now->count + 1, sizeof *other);
	fits = table_make(&t, all);
	if (!d->map || !d->id || !d->in_old || !d->in_new || !other || !fits)
		rc = no_memory(err);
	else if (!number_all(&t, old, d->id, d->in_old) || !number_all(&t, now, other, d->in_new))
		d->is_capped = true;
	else
		rc = walk_through(old, now, other, d, err);
	free(other);
	table_release(&t);
	return rc;
}
