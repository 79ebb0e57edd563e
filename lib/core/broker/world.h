/*
 * What the broker goes by: registries with their credentials, bounds, the key of
 * tokens, what the operator denies; read again when a file changed.  For the files of the
 * broker only.  Layer 3.
 */
#ifndef KZ_CORE_BROKER_WORLD_H
#define KZ_CORE_BROKER_WORLD_H

#include "core/broker/net.h"
#include "core/broker/registry.h"
#include "core/egress/resolvers.h"
#include "port/seal.h"
#include "rule/decide.h"

#define KZ_BRK_SELF 512 /* addresses of this machine; with more nothing is fetched */

struct kz_brk_world {
	char state[256];
	uint64_t env_mark, public_mark, resolv_mark;
	struct kz_deadline look; /* when to look next */
	bool is_read, has_net;
	bool is_amiss; /* settings were not to be had, or make no sense: they are read again */
	bool is_stale; /* files changed that can be read from outside of the cell alone: start anew */
	char text[4001]; /* SANDBOX_PACKAGE_REGISTRIES as it was read */
	char servers[KZ_RESOLVERS_TEXT];
	enum kz_dns_families families;

	enum kz_reason why; /* KZ_R_NONE, or why nothing is fetched: registry_invalid */
	struct kz_registries registries;
	char passwords[KZ_REGISTRIES][KZ_REGISTRY_PASSWORD];
	char *cas[KZ_REGISTRIES]; /* trusted certificates; NULL: the machine's. own */
	int64_t max_index, max_file;
	struct kz_secret key;
	struct kz_cidr denied[KZ_SCOPE_CIDRS];
	struct kz_addr self[KZ_BRK_SELF];
	bool is_deny_bad; /* what the operator denies makes no sense */
	struct kz_decide_env env;
};

/* in: state directory. own: kz_brk_world_release */
void kz_brk_world_init(struct kz_brk_world *w, const char *state);
/* Wipe and give back; nothing may be fetched any more. */
void kz_brk_world_release(struct kz_brk_world *w);
/*
 * Look whether something changed, twice a second at most.  What is in no folder of the
 * gateway's cell (keys, passwords, certificates) is read at the first look, which comes
 * before it; when one of those changed later and cannot be read, is_stale is set.
 * in: net gets other name servers then. wait: it reads small files */
void kz_brk_world_look(struct kz_brk_world *w, struct kz_brk_net *net);

#endif
