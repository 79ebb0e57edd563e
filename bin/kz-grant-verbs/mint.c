/* kz-grant mint. */
#include <string.h>
#include <unistd.h>

#include "verbs.h"
#include "base/time.h"
#include "core/audit/audit.h"
#include "core/egress/manual.h"
#include "core/run/who.h"
#include "rule/reason.h"

struct options {
	const char *run, *execution, *actor, *worker, *at;
	int64_t uid_base, uid_count, ttl;
	bool any_peer;
	struct kz_opt_list hosts, cidrs, ports;
};

static void options_release(struct options *o)
{
	kz_opt_list_release(&o->hosts);
	kz_opt_list_release(&o->cidrs);
	kz_opt_list_release(&o->ports);
}

/* Whose connections it is good for: those of the caller's own user, unless something else is asked. */
static void take_ids(const struct options *o, struct kz_manual *m)
{
	m->uid_base = (uint32_t)(o->uid_base < 0 ? (int64_t)getuid() : o->uid_base);
	m->uid_count = (uint32_t)o->uid_count;
	if (o->any_peer)
		m->uid_base = m->uid_count = 0;
}

static enum kz_rc mint(struct kz_cli *cli, const struct options *o, const struct kz_conf *c,
		       struct kz_grant *g, struct kz_buf *token)
{
	kz_auto_audit struct kz_audit *audit = NULL;
	struct kz_who who = { .actor = "" };
	struct kz_manual m = {
		.run = o->run,
		.execution = o->execution,
		.worker = o->worker,
		.at_s = kz_time_wall_ms() / 1000,
		.ttl_s = o->ttl,
		.hosts = o->hosts.items,
		.cidrs = o->cidrs.items,
		.ports = o->ports.items,
		.host_count = o->hosts.count,
		.cidr_count = o->cidrs.count,
		.port_count = o->ports.count,
	};
	enum kz_rc rc;

	take_ids(o, &m);
	if ((o->at && (rc = kz_grant_time(o->at, &m.at_s, &cli->err))) ||
	    (rc = kz_who_set(&who, o->actor, NULL, &cli->err)) ||
	    (rc = kz_who_hash(&who, c->state, &cli->err)) ||
	    (rc = kz_grant_audit(c, &audit, &cli->err)))
		return rc;
	m.actor = who.actor_id;
	return kz_egress_mint(c, &m, audit, g, token, &cli->err);
}

static enum kz_rc print(struct kz_cli *cli, const struct options *o)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_conf c;
	struct kz_grant g;
	enum kz_rc rc = kz_conf_load(&c, NULL, &cli->err);

	if (!rc)
		rc = mint(cli, o, &c, &g, &token);
	if (rc)
		return rc;
	if (cli->json)
		return kz_out_json(cli, kz_grant_object(&g, kz_buf_str(&token)));
	kz_out_text(cli, "%s\n", kz_buf_str(&token));
	return KZ_OK;
}

int kz_verb_mint(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto(options_release) struct options o = { .worker = "manual",
						      .uid_base = -1,
						      .uid_count = 1 };
	const struct kz_opt opts[] = {
		{ 'A', "actor", KZ_OPT_TEXT, &o.actor, "ACTOR",
		  "who it is for (default: the calling user)", 0, 0 },
		{ 'r', "run", KZ_OPT_TEXT, &o.run, "ID", "its run (default: a new id)", 0, 0 },
		{ 'x', "execution", KZ_OPT_TEXT, &o.execution, "ID",
		  "its execution (default: a new id)", 0, 0 },
		{ 'w', "worker", KZ_OPT_TEXT, &o.worker, "NAME", "its worker (default: manual)", 0,
		  0 },
		{ 'u', "uid-base", KZ_OPT_INT, &o.uid_base, "UID",
		  "first user id that may show it (default: the caller's)", 0, 4294967294 },
		{ 'n', "uid-count", KZ_OPT_INT, &o.uid_count, "N", "how many of them (default: 1)",
		  1, 4294967294 },
		{ 'p', "any-peer", KZ_OPT_FLAG, &o.any_peer, NULL,
		  "whoever shows it, also over TCP, where nobody has a user id", 0, 0 },
		{ 't', "ttl", KZ_OPT_INT, &o.ttl, "SECONDS",
		  "its life (default: as the policy says)", 1, KZ_GRANT_TTL_MOST },
		{ 'b', "begin", KZ_OPT_TEXT, &o.at, "TIME",
		  "when it begins, 2026-01-31T23:59:59Z (default: now)", 0, 0 },
		{ 'H', "host", KZ_OPT_LIST, &o.hosts, "HOST",
		  "only this host of the policy's; may be repeated", 0, 0 },
		{ 'C', "cidr", KZ_OPT_LIST, &o.cidrs, "RANGE",
		  "only this range within the policy's; may be repeated", 0, 0 },
		{ 'P', "port", KZ_OPT_LIST, &o.ports, "PORT",
		  "only this port of the policy's; may be repeated", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-grant", "mint", KZ_MINT_SYNOPSIS, KZ_MINT_WHAT, opts,
					0,          0 };

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	return kz_main_end(cli, print(cli, &o));
}
