/*
 * The registries that packages come from: what SANDBOX_PACKAGE_REGISTRIES says,
 *   {"pypi":{"index":URL,"hosts":[...],"addresses":[...],
 *            "user":"","password_file":"","ca":""},
 *    "npm":{"registry":URL,"hosts":[...],...}}
 * read strictly.  A host that is named here is the operator's word; any other is not
 * asked, whatever a registry says.  Layer 3.
 * src: BRK-1, BRK-8, BRK-32
 */
#ifndef KZ_CORE_BROKER_REGISTRY_H
#define KZ_CORE_BROKER_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "rule/package.h"
#include "rule/url.h"

#define KZ_REGISTRY_HOSTS 32
#define KZ_REGISTRY_RANGES 8
#define KZ_REGISTRY_PATH 256
#define KZ_REGISTRY_PASSWORD 4096 /* with its NUL; some clouds give out tokens of 2 KiB */

struct kz_registry_conf {
	bool is_set;
	struct kz_url index; /* where names are looked up; its path ends in '/' */
	struct kz_target
		hosts[KZ_REGISTRY_HOSTS]; /* where files may be besides; port 0: the scheme's own */
	size_t host_count;
	struct kz_cidr own
		[KZ_REGISTRY_RANGES]; /* where they may be, though no public or private network is there */
	size_t own_count;
	char user[128]; /* "" with a password file: the file holds a bearer token */
	char password_file[KZ_REGISTRY_PATH], ca[KZ_REGISTRY_PATH]; /* absolute, or "" */
};

struct kz_registries {
	struct kz_registry_conf of[KZ_REGISTRIES]; /* by enum kz_registry */
};

/* Read the setting. out: nothing is set unless KZ_OK. err: registry_invalid, naming the member */
enum kz_rc kz_registries_parse(const char *json, struct kz_registries *out, struct kz_err *err);
/* Is at least one registry set? */
bool kz_registries_any(const struct kz_registries *r);
/* May this be asked: the registry's own host and port, or one of its list; and no plain http where the registry has https? */
bool kz_registry_allows(const struct kz_registry_conf *r, const struct kz_url *u);

#endif
