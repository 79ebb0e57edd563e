/*
 * What "kz status -j" and "kz-grant scope -j" say, for a service that may not ask itself:
 * the scope is resolved where the grant key can be read, and the services where the
 * supervisor can.  A process that keeps its rights, parses nothing and takes one byte, "?",
 * runs the two programs and sends their lines back.  Answers younger than a second are given
 * again, and those who ask meanwhile wait for the same answer.  Layer 3.
 * src: ADM-1 to ADM-3, ADM-5, ADM-8, DEP-5
 */
#ifndef KZ_CORE_GATEWAY_FACTS_H
#define KZ_CORE_GATEWAY_FACTS_H

#include "port/json.h"
#include "port/serve.h"

struct kz_facts;

/* What there is to know. own: borrowed during the call */
struct kz_told {
	const struct kz_json
		*status; /* as policy/schema/status.json; NULL when it could not be told */
	const struct kz_json *scope; /* as policy/schema/scope.json; NULL likewise */
	int64_t age_ms;
};

/* One who asks; the owner's until it is told or forgets. */
struct kz_facts_wait {
	void (*told)(void *arg, const struct kz_told *t);
	void *arg;
	struct kz_facts_wait *next;
};

/*
 * Start the process that asks.  To be called with one thread, before rights are given up and sockets made.
 * in: watched: a file that its service cannot see replaced; when it is, the process ends
 * err: KZ_E_OS
 */
enum kz_rc kz_facts_start(struct kz_facts **out, const char *watched, struct kz_err *err);
/* Did it end because the watched file was replaced? */
bool kz_facts_is_replaced(const struct kz_facts *f);
/* Wait for it in this loop; lost is called when that process ends, and nothing is told any more. err: KZ_E_OS */
enum kz_rc kz_facts_serve(struct kz_facts *f, struct kz_serve *s, kz_serve_fn lost, void *arg,
			  struct kz_err *err);
/* Ask: w->told is called once, in this call or later. */
void kz_facts_ask(struct kz_facts *f, struct kz_facts_wait *w);
/* Do not tell w. */
void kz_facts_forget(struct kz_facts *f, struct kz_facts_wait *w);
/* That process ends too. NULL is fine. */
void kz_facts_free(struct kz_facts *f);

#endif
