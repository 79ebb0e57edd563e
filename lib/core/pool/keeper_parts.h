/*
 * The parts of the keeper, for the files of core/pool only.
 *
 * Every part does one step without waiting (but for bounded calls to Valkey and
 * to a worker's health) and is called again by the loop.  Nothing here remembers
 * an allocation: after a failure of Valkey all is told anew.  Layer 3.
 */
#ifndef KZ_CORE_POOL_KEEPER_PARTS_H
#define KZ_CORE_POOL_KEEPER_PARTS_H

#include "core/audit/audit.h"
#include "core/conf/conf.h"
#include "core/conf/keys.h"
#include "core/driver/driver.h"
#include "core/pool/authority_keeper.h"
#include "core/pool/authority_outbox.h"
#include "core/pool/keeper.h"
#include "core/pool/keeper_job.h"
#include "port/json.h"
#include "rule/reason.h"

/* A worker that does not answer, and how often in a row. */
struct kz_silent {
	char worker[KZ_WORKER_NAME];
	int rounds;
	bool is_seen; /* in the round under way */
};

/* Deleted since the list under way was asked for: the list may still name them. */
#define KZ_GONE_MOST 64
struct kz_gone {
	char worker[KZ_WORKER_NAME], instance[KZ_ID_HEX];
};

struct kz_keeper {
	struct kz_conf conf; /* the last settings that made sense */
	bool has_conf;
	uint64_t conf_mark; /* of the files they came from */
	struct kz_secret worker_key;
	char driver[512], audit_path[512];

	struct kz_auth *auth;   /* NULL while Valkey cannot be used */
	struct kz_audit *audit; /* NULL while the store cannot be used */
	int epoll, signals, ready_fd, lock;
	struct kz_job *jobs;

	struct kz_json *probe; /* the driver's word on its runtime; NULL: not yet, or it failed */
	char image[96];        /* identity of the image, "" unknown */
	char me[KZ_ID_HEX];    /* names this life of the controller */
	bool is_owner; /* it speaks for its node; without, it asks for that and does nothing else */
	bool is_configured, is_published, is_reconciled, is_open;
	bool is_close_told; /* Valkey knows why this node is closed */
	bool has_begun;     /* what an earlier controller left half done was settled */
	bool is_closed_by_operator;
	struct kz_err why;  /* why admission is closed; rc KZ_OK while it is open */
	struct kz_err said; /* what was last logged and written */
	bool has_said, is_logged;

	struct kz_err bad_conf, bad_valkey, bad_driver, bad_image,
		bad_audit; /* rc KZ_OK: that part works */
	struct kz_deadline next_conf, next_connect, next_driver, next_image, next_inventory,
		next_step, next_rotate;
	struct kz_gone gone[KZ_GONE_MOST];
	size_t gone_count; /* more than KZ_GONE_MOST: the list is of no use */
	struct kz_silent *silent;
	size_t silent_count;

	int ends; /* 0 runs; 1 drains; 2 deletes its workers; 3 done */
	struct kz_deadline drain_until, delete_until;
	bool has_listed, has_heard; /* deleting: a list came back; draining: workers were asked */
	size_t listed, bound;       /* and held so many; and so many of them are held, or silent */
};

/* -- keeper_say.c -- */

/* Close admission of this node for a reason (and say so once). in: why is copied */
void kz_keeper_close(struct kz_keeper *k, const struct kz_err *why);
/* Open it if everything holds; else close it with what does not. */
void kz_keeper_open(struct kz_keeper *k);
/* Tell Valkey of the image that the driver told of, unless it knows. err: coordination_*, node_taken */
enum kz_rc kz_keeper_publish(struct kz_keeper *k, struct kz_err *err);
/* Valkey failed in a way that it should not: everything it was told must be told anew. */
void kz_keeper_fault(struct kz_keeper *k, const struct kz_err *err);
/* Log and write STATE/run/controller.json when something changed. */
void kz_keeper_say(struct kz_keeper *k);

/* -- keeper_setup.c -- */

/* Read the settings when their files changed. */
void kz_keeper_conf(struct kz_keeper *k);
/* Connect to Valkey, load the library, tell the settings, publish the image: as far as possible. */
void kz_keeper_connect(struct kz_keeper *k);

/* -- keeper_work.c -- */

/* A finished verb. in: reply may be NULL */
void kz_keeper_done(struct kz_keeper *k, const struct kz_job *j, const struct kz_json *reply,
		    enum kz_answer answer);
/* One keeper step: ask Valkey what to do and put it in line. */
void kz_keeper_step(struct kz_keeper *k);

/* -- keeper_audit.c -- */

/* Move the outbox to the audit store; rotate segments now and then. */
void kz_keeper_drain_outbox(struct kz_keeper *k);

/* -- recover.c -- */

/* A list came back: ask the workers, tell Valkey, and report those that are dead or silent. */
void kz_recover(struct kz_keeper *k, const struct kz_job *j, const struct kz_json *reply);

/* -- keeper_end.c -- */

/* While ending: every listed worker goes. */
void kz_keeper_listed(struct kz_keeper *k, const struct kz_json *reply);
/* One step towards the end once ends > 0. */
void kz_keeper_end(struct kz_keeper *k);

#endif
