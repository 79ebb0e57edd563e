/*
 * The census: one reading of every surface that a tenant could leave something
 * on (rule/surfaces.tbl).  It is taken at birth, which is the baseline, and after
 * each reset, by process 1 and the next tenant's fresh first process [RESET-5, 6].
 */
#ifndef KZ_WORKER_CENSUS_H
#define KZ_WORKER_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "rule/evidence.h"
#include "worker/boot.h"
#include "worker/space.h"
#include "worker/wall.h"

/* now is -1 where a surface could not be read */
struct kz_census {
	struct {
		int64_t now;
		char digest[65];
	} at[KZ_SURFACE_COUNT];
	/* of the tenant's side, and of process 1's: to say in words what a digest cannot */
	struct kz_view_mode modes_in[KZ_VIEW_PLACES], modes_out[KZ_VIEW_PLACES];
};

/* First part, with no tenant process alive: the tenant's cgroup. */
void kz_census_empty(struct kz_census *c, const struct kz_boot *b);
/*
 * The rest, with the next tenant's namespaces standing and not yet in the cgroup.
 * in: clients: control connections that are open now
 * err: KZ_E_* when the tenant's side did not answer; its surfaces stay unread
 */
enum kz_rc kz_census_take(struct kz_census *c, const struct kz_boot *b, const struct kz_space *s,
			  struct kz_wall *w, int clients, struct kz_deadline until,
			  struct kz_err *err);
/* Keys that count against the ids of this user namespace (/proc/key-users shows no others). out: -1: cannot be read */
int64_t kz_census_keys(void);
/* Was every surface read? out: the first that was not, when false */
bool kz_census_whole(const struct kz_census *c, int *missing);

#endif
