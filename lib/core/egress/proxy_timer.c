/* Deadlines: a wheel of slots; a connection is looked at again when it may be late. */
#include "core/egress/proxy_loop.h"

#define ANSWER_MS 3000
#define LINGER_MS 2000

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The end of its grant as boot time; the wall clock may be set meanwhile, so it is asked each time. */
static int64_t expiry(const struct kz_px_conn *c)
{
	if (!c->grant)
		return INT64_MAX;
	return kz_time_boot_ms() + (c->grant->grant.expires_s * 1000 - kz_time_wall_ms());
}

static int64_t plain_deadline(const struct kz_px_conn *c)
{
	const struct kz_px_world *w = c->loop->world;
	bool is_awaited = !c->plain->is_answered && c->plain->framer.is_done &&
			  c->plain->out_at == c->plain->out.len;

	return c->active_ms + (is_awaited ? w->first_byte_ms : w->idle_ms);
}

static int64_t deadline(const struct kz_px_conn *c)
{
	const struct kz_px_world *w = c->loop->world;

	switch (c->state) {
	case KZ_PX_HEAD: return c->since_ms + w->head_ms;
	case KZ_PX_PARKED: return c->since_ms + 1000;
	case KZ_PX_RESOLVE: return least(c->since_ms + w->connect_ms, expiry(c));
	case KZ_PX_CONNECT: return least(c->limit_ms, expiry(c));
	case KZ_PX_TUNNEL: return least(c->active_ms + w->idle_ms, expiry(c));
	case KZ_PX_PLAIN: return least(plain_deadline(c), expiry(c));
	case KZ_PX_ANSWER: return c->since_ms + ANSWER_MS;
	case KZ_PX_LINGER: return c->since_ms + LINGER_MS;
	case KZ_PX_DEAD: break;
	}
	return INT64_MAX;
}

static void late(struct kz_px_conn *c)
{
	switch (c->state) {
	case KZ_PX_HEAD: kz_px_refuse(c, KZ_R_HEAD_TIMEOUT); return;
	case KZ_PX_PARKED: kz_px_judge_again(c); return;
	case KZ_PX_RESOLVE: kz_px_refuse_late(c, KZ_R_DNS_FAILED); return;
	case KZ_PX_CONNECT: kz_px_dial_late(c); return;
	case KZ_PX_PLAIN:
		if (!c->plain->is_begun) {
			kz_px_refuse_late(c, KZ_R_CONNECT_TIMEOUT);
			return;
		}
		kz_px_close(c, true);
		return;
	case KZ_PX_TUNNEL:
	case KZ_PX_ANSWER:
	case KZ_PX_LINGER:
	case KZ_PX_DEAD: kz_px_close(c, c->state == KZ_PX_TUNNEL); return;
	}
}

void kz_px_timer_forget(struct kz_px_conn *c)
{
	struct kz_px_loop *l = c->loop;

	if (c->slot < 0)
		return;
	*(c->timer.prev ? &c->timer.prev->timer.next : &l->slots[c->slot]) = c->timer.next;
	if (c->timer.next)
		c->timer.next->timer.prev = c->timer.prev;
	c->timer = (struct kz_px_link){ NULL, NULL };
	c->slot = -1;
	l->timer_count--;
}

static void put(struct kz_px_conn *c, int64_t due)
{
	struct kz_px_loop *l = c->loop;
	int64_t far = l->now_ms + (KZ_PX_SLOTS - 2) * KZ_PX_TICK_MS, tick;

	if (due < l->now_ms)
		due = l->now_ms;
	if (due > far)
		due = far;
	tick = due / KZ_PX_TICK_MS + 1; /* the first tick at which it is late */
	c->due_ms = due;
	c->slot = (int)(tick % KZ_PX_SLOTS);
	c->timer = (struct kz_px_link){ NULL, l->slots[c->slot] };
	if (c->timer.next)
		c->timer.next->timer.prev = c;
	l->slots[c->slot] = c;
	l->timer_count++;
}

void kz_px_timer(struct kz_px_conn *c)
{
	int64_t due = deadline(c);

	/* one that is looked at too early is put back then */
	if (c->slot >= 0 && c->due_ms <= due)
		return;
	kz_px_timer_forget(c);
	put(c, due);
}

static void look(struct kz_px_conn *c)
{
	int64_t due = deadline(c);

	kz_px_timer_forget(c);
	if (due <= c->loop->now_ms)
		late(c);
	if (c->state != KZ_PX_DEAD && c->slot < 0)
		put(c, deadline(c));
}

void kz_px_timers(struct kz_px_loop *l)
{
	int64_t now = l->now_ms / KZ_PX_TICK_MS;

	if (now - l->tick > KZ_PX_SLOTS)
		l->tick = now - KZ_PX_SLOTS;
	for (; l->tick <= now; l->tick++) {
		struct kz_px_conn *c, **slot = &l->slots[l->tick % KZ_PX_SLOTS];

		/* aside, since what is put back may come into this very slot */
		l->slots[KZ_PX_SLOTS] = *slot;
		*slot = NULL;
		for (c = l->slots[KZ_PX_SLOTS]; c; c = c->timer.next)
			c->slot = KZ_PX_SLOTS;
		while ((c = l->slots[KZ_PX_SLOTS]))
			look(c);
	}
}

int kz_px_timers_wait(const struct kz_px_loop *l)
{
	if (l->timer_count == 0)
		return -1;
	for (int64_t t = l->tick; t < l->tick + KZ_PX_SLOTS; t++)
		if (l->slots[t % KZ_PX_SLOTS])
			return t * KZ_PX_TICK_MS <= l->now_ms ?
				       0 :
				       (int)(t * KZ_PX_TICK_MS - l->now_ms);
	return -1;
}
