/* kzgen: a state machine as read from its .sm file, complete and checked. */
#ifndef KZGEN_SM_H
#define KZGEN_SM_H

#include "kzgen.h"

#define STATES_MOST 24
#define EVENTS_MOST 32
#define ACTIONS_MOST 24
#define GUARDS_MOST 32

struct guard {
	int line;
	bool used;
	char *name, *reason, *lua, *c, *meaning;
};

struct guards {
	const char *file;
	int count;
	struct guard all[GUARDS_MOST];
};

struct named {
	int line;
	bool used;
	char *name, *source, *meaning; /* source: events only */
};

/* What a state does with an event: goes to a state, or refuses with a class. */
struct pair {
	int line;   /* 0: not stated */
	int to;     /* -1: refused */
	int action; /* -1: none */
	uint32_t guards;
	const char *refused; /* later, no, bug */
};

struct machine {
	const char *file;
	char *name;
	int line;
	int state_count, event_count, action_count;
	int initial; /* -1 until read */
	uint32_t finals;
	struct named states[STATES_MOST];
	struct named events[EVENTS_MOST];
	struct named actions[ACTIONS_MOST];
	struct pair pairs[STATES_MOST][EVENTS_MOST];
};

struct machines {
	struct guards guards;
	int count;
	struct machine *all;
};

void read_guards(const char *file, struct guards *g);
void read_machine(const char *file, struct guards *g, struct machine *m);
/* Completeness: every pair stated, every state reachable and left, everything used. */
void check_machine(const struct machine *m);

/* Call each guard of a pair: for_guards(i, p, g) { ... } with i the guard's number. */
#define for_guards(i, p, g)                                                                        \
	for (int i = 0; i < (g)->count; i++)                                                       \
		if ((p)->guards & (UINT32_C(1) << i))

/* The guards of a pair as "a,b", "" for none (new). */
char *guard_list(const struct guards *g, const struct pair *p, const char *between);

void write_common(const struct machines *ms);
void write_machine_c(const struct machines *ms, const struct machine *m);
void write_machine_lua(const struct machines *ms, const struct machine *m);
void write_machine_sql(const struct machines *ms, const struct machine *m);
void write_machines_sql(const struct machines *ms);
void write_machine_pml(const struct machines *ms, const struct machine *m);
void write_machine_tsv(const struct machines *ms, const struct machine *m);
void write_machine_md(const struct machines *ms, const struct machine *m);
void write_docs_machines(const struct machines *ms);
void make_machines(const char *guards, char *const *files, int count);

#endif
