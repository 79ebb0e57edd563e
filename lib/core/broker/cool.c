/* Hosts that are left alone. */
#include "core/broker/cool.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define HOSTS 64

struct host {
	char at[KZ_AUTHORITY_TEXT];
	struct kz_deadline cool, suspect, probe;
	bool is_shared; /* it came from another gateway, or went there */
};

struct kz_cool {
	struct kz_share *share;
	struct host hosts[HOSTS];
};

struct kz_cool *kz_cool_new(struct kz_share *share)
{
	struct kz_cool *c = calloc(1, sizeof *c);

	if (c)
		c->share = share;
	return c;
}

void kz_cool_free(struct kz_cool *c)
{
	free(c);
}

static struct host *find(struct kz_cool *c, const char *at)
{
	for (size_t i = 0; i < HOSTS; i++)
		if (kz_str_eq(c->hosts[i].at, at))
			return &c->hosts[i];
	return NULL;
}

/* The host's own place, or that of the one whose trouble is over soonest. */
static struct host *place(struct kz_cool *c, const char *at)
{
	struct host *h = find(c, at);

	if (h)
		return h;
	h = &c->hosts[0];
	for (size_t i = 1; i < HOSTS; i++)
		if (c->hosts[i].suspect.boot_ms < h->suspect.boot_ms)
			h = &c->hosts[i];
	memset(h, 0, sizeof *h);
	(void)kz_str_copy(h->at, sizeof h->at, at, NULL);
	return h;
}

static bool may_alone(struct kz_cool *c, const char *at)
{
	struct host *h = find(c, at);

	if (!h || kz_deadline_passed(h->suspect))
		return true;
	if (!kz_deadline_passed(h->cool) || !kz_deadline_passed(h->probe))
		return false;
	h->probe = kz_deadline_in(KZ_MS(KZ_PROBE_MS));
	return true;
}

bool kz_cool_may(struct kz_cool *c, const struct kz_target *t)
{
	char at[KZ_AUTHORITY_TEXT];
	struct host *h;
	int64_t ms;

	kz_target_print(t, at);
	h = find(c, at);
	/* What this one saw itself counts in any case. */
	if (h && !kz_deadline_passed(h->cool))
		return false;
	if (!kz_share_ask(c->share, KZ_SHARE_LEFT, t, &ms))
		return may_alone(c, at);
	if (ms <= 0) {
		/* Reached by another, or long ago. */
		if (h && h->is_shared)
			h->suspect = (struct kz_deadline){ 0 };
		return may_alone(c, at);
	}
	h = place(c, at);
	h->is_shared = true;
	h->suspect = kz_deadline_in(KZ_MS(ms));
	if (ms > KZ_SUSPECT_MS)
		return false;
	return kz_share_ask(c->share, KZ_SHARE_PROBE, t, &ms) ? ms == 1 : may_alone(c, at);
}

void kz_cool_failed(struct kz_cool *c, const struct kz_target *t)
{
	char at[KZ_AUTHORITY_TEXT];
	struct host *h;
	int64_t n;

	kz_target_print(t, at);
	h = place(c, at);
	h->cool = kz_deadline_in(KZ_MS(KZ_COOL_MS));
	h->suspect = kz_deadline_in(KZ_MS(KZ_COOL_MS + KZ_SUSPECT_MS));
	h->probe = (struct kz_deadline){ 0 };
	h->is_shared = kz_share_ask(c->share, KZ_SHARE_FAILED, t, &n);
}

void kz_cool_reached(struct kz_cool *c, const struct kz_target *t)
{
	char at[KZ_AUTHORITY_TEXT];
	struct host *h;
	int64_t n;

	kz_target_print(t, at);
	h = find(c, at);
	if (!h)
		return;
	if (h->is_shared)
		(void)kz_share_ask(c->share, KZ_SHARE_REACHED, t, &n);
	memset(h, 0, sizeof *h);
}
