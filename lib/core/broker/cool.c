/* Hosts that are left alone. */
#include "core/broker/cool.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "port/vk.h"

#define HOSTS 64
#define SUSPECT_MS 60000 /* so long after the cooldown one probe at a time */
#define PROBE_MS 8000    /* longer than a connection may take */
#define VALKEY_MS 100
#define AWAY_MS 5000

struct host {
	char at[KZ_AUTHORITY_TEXT];
	struct kz_deadline cool, suspect, probe;
	bool is_shared; /* it came from Valkey, or went there */
};

struct kz_cool {
	char url[300], deployment[64];
	struct kz_vk *vk;
	struct kz_deadline away; /* Valkey is not asked before */
	struct host hosts[HOSTS];
};

struct kz_cool *kz_cool_new(const char *url, const char *deployment)
{
	struct kz_cool *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	(void)kz_str_copy(c->url, sizeof c->url, url, NULL);
	(void)kz_str_copy(c->deployment, sizeof c->deployment, deployment, NULL);
	/* Now, while a socket of the file system can be reached. */
	if (*url)
		(void)kz_vk_open(&c->vk, url, kz_deadline_in(KZ_SECONDS(1)), NULL);
	return c;
}

void kz_cool_free(struct kz_cool *c)
{
	if (!c)
		return;
	kz_vk_close(c->vk);
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

static struct kz_vk_reply *ask(struct kz_cool *c, const struct kz_vk_arg *args, size_t count)
{
	struct kz_deadline until = kz_deadline_in(KZ_MS(VALKEY_MS));
	struct kz_vk_reply *reply = NULL;

	if (!*c->url || !kz_deadline_passed(c->away))
		return NULL;
	if ((c->vk || kz_vk_open(&c->vk, c->url, until, NULL) == KZ_OK) &&
	    kz_vk_call(c->vk, args, count, until, &reply, NULL) == KZ_OK)
		return reply;
	kz_vk_close(c->vk);
	c->vk = NULL;
	c->away = kz_deadline_in(KZ_MS(AWAY_MS));
	return NULL;
}

static void key_of(const struct kz_cool *c, const char *what, const char *at, char out[400])
{
	(void)kz_str_format(out, 400, NULL, "{kz:%s}:registry:%s:%s", c->deployment, what, at);
}

static bool set_for(struct kz_cool *c, const char *what, const char *at, int64_t ms, bool is_new)
{
	char key[400], number[24];
	struct kz_vk_arg args[] = { kz_vk_text("SET"), { 0 }, kz_vk_text("1"),
				    kz_vk_text("PX"),  { 0 }, kz_vk_text("NX") };
	kz_auto_vk_reply struct kz_vk_reply *reply = NULL;

	key_of(c, what, at, key);
	args[1] = kz_vk_text(key);
	args[4] = kz_vk_num(number, ms);
	reply = ask(c, args, is_new ? 6 : 5);
	return reply && kz_str_eq(kz_vk_str(reply), "OK");
}

/* What Valkey says of the host: how long its key lives. out: false: nobody knows */
static bool left_of(struct kz_cool *c, const char *at, int64_t *ms)
{
	char key[400];
	struct kz_vk_arg args[] = { kz_vk_text("PTTL"), { 0 } };
	kz_auto_vk_reply struct kz_vk_reply *reply = NULL;

	key_of(c, "cool", at, key);
	args[1] = kz_vk_text(key);
	reply = ask(c, args, 2);
	if (reply)
		*ms = kz_vk_int(reply);
	return reply != NULL;
}

static bool may_alone(struct kz_cool *c, const char *at)
{
	struct host *h = find(c, at);

	if (!h || kz_deadline_passed(h->suspect))
		return true;
	if (!kz_deadline_passed(h->cool) || !kz_deadline_passed(h->probe))
		return false;
	h->probe = kz_deadline_in(KZ_MS(PROBE_MS));
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
	if (!left_of(c, at, &ms))
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
	if (ms > SUSPECT_MS)
		return false;
	return set_for(c, "probe", at, PROBE_MS, true);
}

void kz_cool_failed(struct kz_cool *c, const struct kz_target *t)
{
	char at[KZ_AUTHORITY_TEXT];
	struct host *h;

	kz_target_print(t, at);
	h = place(c, at);
	h->cool = kz_deadline_in(KZ_MS(KZ_COOL_MS));
	h->suspect = kz_deadline_in(KZ_MS(KZ_COOL_MS + SUSPECT_MS));
	h->probe = (struct kz_deadline){ 0 };
	h->is_shared = set_for(c, "cool", at, KZ_COOL_MS + SUSPECT_MS, false);
}

void kz_cool_reached(struct kz_cool *c, const struct kz_target *t)
{
	char at[KZ_AUTHORITY_TEXT], key[400], probe[400];
	struct kz_vk_arg args[] = { kz_vk_text("DEL"), { 0 }, { 0 } };
	struct host *h;

	kz_target_print(t, at);
	h = find(c, at);
	if (!h)
		return;
	if (h->is_shared) {
		key_of(c, "cool", at, key);
		key_of(c, "probe", at, probe);
		args[1] = kz_vk_text(key);
		args[2] = kz_vk_text(probe);
		kz_vk_reply_free(ask(c, args, 3));
	}
	memset(h, 0, sizeof *h);
}
