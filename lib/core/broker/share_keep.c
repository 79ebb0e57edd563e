/* The process that may speak to Valkey: four questions, and nothing else. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/mark.h"
#include "base/str.h"
#include "base/time.h"
#include "core/broker/share_parts.h"
#include "core/conf/conf.h"
#include "port/vk.h"

#define VALKEY_MS 100
#define AWAY_MS 5000
#define LOOK_MS 500
/* Keys that are made: so many at once, and one more for each so many ms.  They live 75 s: 1,300 at most. */
#define KEYS_MOST 64
#define KEY_EACH_MS 60

struct keeper {
	const char *state;
	struct kz_vk *vk;
	struct kz_deadline away,
		look; /* Valkey is not asked, the settings are not looked at before */
	uint64_t mark;
	char url[300], deployment[64]; /* "" none */
	int64_t keys_ms;               /* the time up to which keys were made; it may be ahead */
};

/* Take up where Valkey is, and whose keys they are; settings that make no sense leave the former ones. */
static void look(struct keeper *k)
{
	char path[300], url[300];
	struct kz_conf c;
	uint64_t mark;

	if (!kz_deadline_passed(k->look) ||
	    kz_str_format(path, sizeof path, NULL, "%s/env", k->state) != KZ_OK)
		return;
	k->look = kz_deadline_in(KZ_MS(LOOK_MS));
	mark = kz_mark_dir(path);
	if (mark == k->mark || kz_conf_load(&c, k->state, NULL) != KZ_OK ||
	    kz_conf_valkey_url(&c, url, sizeof url, NULL) != KZ_OK)
		return;
	k->mark = mark;
	if (kz_str_eq(url, k->url) && kz_str_eq(c.set.kz_deployment_id, k->deployment))
		return;
	kz_vk_close(kz_take(k->vk));
	k->away = (struct kz_deadline){ 0 };
	(void)kz_str_copy(k->url, sizeof k->url, url, NULL);
	(void)kz_str_copy(k->deployment, sizeof k->deployment, c.set.kz_deployment_id, NULL);
}

static struct kz_vk_reply *call(struct keeper *k, const struct kz_vk_arg *args, size_t count)
{
	struct kz_deadline until = kz_deadline_in(KZ_MS(VALKEY_MS));
	struct kz_vk_reply *reply = NULL;

	if (!*k->url || !kz_deadline_passed(k->away))
		return NULL;
	if ((k->vk || kz_vk_open(&k->vk, k->url, until, NULL) == KZ_OK) &&
	    kz_vk_call(k->vk, args, count, until, &reply, NULL) == KZ_OK)
		return reply;
	kz_vk_close(kz_take(k->vk));
	k->away = kz_deadline_in(KZ_MS(AWAY_MS));
	return NULL;
}

static bool may_make_key(struct keeper *k)
{
	int64_t now = kz_time_boot_ms(), from = now - (int64_t)KEYS_MOST * KEY_EACH_MS;

	if (k->keys_ms < from)
		k->keys_ms = from;
	return k->keys_ms < now;
}

/* A key that lives so long. out: false: nobody knows; n: 1 it was made, 0 there was one */
static bool set_for(struct keeper *k, const char *key, int64_t ms, bool is_new, int64_t *n)
{
	char number[24];
	struct kz_vk_arg args[] = { kz_vk_text("SET"), kz_vk_text(key), kz_vk_text("1"),
				    kz_vk_text("PX"),  { 0 },           kz_vk_text("NX") };
	kz_auto_vk_reply struct kz_vk_reply *reply = NULL;

	if (!may_make_key(k))
		return false;
	args[4] = kz_vk_num(number, ms);
	reply = call(k, args, is_new ? 6 : 5);
	*n = reply && kz_str_eq(kz_vk_str(reply), "OK");
	k->keys_ms += *n * KEY_EACH_MS;
	return reply != NULL;
}

/* The keys of a host. */
struct names {
	char cool[400], probe[400];
};

static bool answer(struct keeper *k, enum kz_share_what what, const struct names *of, int64_t *n)
{
	kz_auto_vk_reply struct kz_vk_reply *reply = NULL;

	switch (what) {
	case KZ_SHARE_FAILED: return set_for(k, of->cool, KZ_COOL_MS + KZ_SUSPECT_MS, false, n);
	case KZ_SHARE_PROBE: return set_for(k, of->probe, KZ_PROBE_MS, true, n);
	case KZ_SHARE_LEFT:
		reply = call(k, (struct kz_vk_arg[]){ kz_vk_text("PTTL"), kz_vk_text(of->cool) },
			     2);
		break;
	case KZ_SHARE_REACHED:
		reply = call(k,
			     (struct kz_vk_arg[]){ kz_vk_text("DEL"), kz_vk_text(of->cool),
						   kz_vk_text(of->probe) },
			     3);
		break;
	}
	*n = kz_vk_int(reply);
	return reply != NULL;
}

/* One of the four, about a host in its one spelling, and nothing behind it? */
static bool is_question(const struct kz_share_question *q)
{
	char again[KZ_AUTHORITY_TEXT] = "";
	size_t n = strnlen(q->at, sizeof q->at);
	struct kz_target t;

	if (!memchr("lfpr", q->what, 4) || n == sizeof q->at ||
	    kz_target_parse(q->at, n, 0, &t) != KZ_R_NONE)
		return false;
	kz_target_print(&t, again);
	for (size_t i = n; i < sizeof q->at; i++)
		if (q->at[i])
			return false;
	return kz_str_eq(again, q->at);
}

static void consider(struct keeper *k, const struct kz_share_question *q, struct kz_share_answer *a)
{
	struct names of;
	int64_t n = 0;

	look(k);
	(void)kz_str_format(of.cool, sizeof of.cool, NULL, "{kz:%s}:registry:cool:%s",
			    k->deployment, q->at);
	(void)kz_str_format(of.probe, sizeof of.probe, NULL, "{kz:%s}:registry:probe:%s",
			    k->deployment, q->at);
	a->is_known = answer(k, (enum kz_share_what)q->what, &of, &n);
	a->n = a->is_known ? n : 0;
}

static void complain(bool *is_told)
{
	if (!*is_told)
		kz_log(KZ_LOG_ERROR, "the gateway asked for what no gateway asks for", NULL);
	*is_told = true;
}

void kz_share_keep(int fd, const void *arg)
{
	struct keeper k = { .state = arg };
	bool is_told = false;
	ssize_t n;

	/* a server that went is no end of this */
	(void)signal(SIGPIPE, SIG_IGN);
	for (;;) {
		struct kz_share_question q = { .number = 0 };
		struct kz_share_answer a = { .number = 0 };

		/* what is longer than a question is cut, and told to be so */
		n = recv(fd, &q, sizeof q, MSG_TRUNC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		a.number = q.number;
		if (n == sizeof q && is_question(&q))
			consider(&k, &q, &a);
		else
			complain(&is_told);
		if (send(fd, &a, sizeof a, MSG_NOSIGNAL) != sizeof a)
			break;
	}
	kz_vk_close(k.vk);
}
