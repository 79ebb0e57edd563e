/*
 * kz-worker: process 1 of a worker.  One thread, one loop; owns the tenant's wall,
 * the control API and the decision whose the worker is.
 */
#ifndef KZ_WORKER_WORKER_H
#define KZ_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "port/serve.h"
#include "worker/boot.h"
#include "worker/census.h"
#include "worker/deny.h"
#include "worker/tenure.h"
#include "worker/run.h"
#include "worker/shared.h"
#include "worker/space.h"
#include "worker/wall.h"

#define KZ_WORKER_CLIENTS 64

struct kz_client; /* one control connection */
struct kz_json;
struct kz_tree_in;

struct kz_worker {
	struct kz_boot boot;
	struct kz_serve *serve;
	struct kz_deny deny;
	struct kz_wall wall;
	struct kz_space space;
	struct kz_wall next; /* of the next tenant, made while one runs; may be missing */
	struct kz_space next_space;
	struct kz_tenure tenure;
	struct kz_shared shared;
	struct kz_run *run;
	struct kz_timer *lease_timer, *head_timer;
	struct kz_watch *listener, *terminator;
	int signals; /* signalfd */
	struct kz_census baseline;
	int64_t own_sockets; /* of process 1's network namespace at the baseline */
	struct kz_json *posture;
	struct kz_client *clients[KZ_WORKER_CLIENTS];
	int client_count;
	struct kz_client *holder; /* its connection bound the lease */
	struct kz_client *runner; /* its connection runs the program */
	struct kz_client *resetter;
	struct kz_tree_in *tree_in; /* the workspace on its way in, from one connection */
	struct kz_client *tree_from;
	char tree_label[KZ_TENURE_LABEL]; /* what it will be called */
	bool tree_is_packages;
	char reset_token[129];
	char reset_dirty[32]; /* fault build */
};

/* Whole life of process 1: boot object on descriptor 3 to the end. returns KZ_OK when told to end; err: posture_failed, KZ_E_* */
enum kz_rc kz_worker_main(struct kz_err *err);

/* The tenant's wall stands and serves a program; makes another around the same files when the last was used. err: KZ_E_OS */
enum kz_rc kz_worker_ready_wall(struct kz_worker *w, struct kz_err *err);
/* End whatever runs, keep the files. */
void kz_worker_end_tenant(struct kz_worker *w, const char *cause);

/* reset.c: begin to make the next tenant's wall, while the caller's program runs. A failure is no harm: the reset makes it then. */
void kz_worker_prepare(struct kz_worker *w);
/* End, wipe, make anew, measure; answers w->resetter. in: the tenure is resetting already */
void kz_worker_reset(struct kz_worker *w);
/* Empty the cgroup's part, file system, wall, rest of the census. err: KZ_E_OS */
enum kz_rc kz_worker_renew(struct kz_worker *w, struct kz_census *c, int clients,
			   struct kz_err *err);

#endif
