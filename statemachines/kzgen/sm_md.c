/* Machines for people: Mermaid diagrams and tables. */
#include "sm.h"

#include <string.h>

/* One arrow for each pair of states, with its events below each other. */
static void put_diagram(FILE *f, const struct machine *m)
{
	fprintf(f, "```mermaid\nstateDiagram-v2\n\t[*] --> %s\n", m->states[m->initial].name);
	for (int s = 0; s < m->state_count; s++)
		for (int t = 0; t < m->state_count; t++) {
			const char *between = " : ";

			for (int e = 0; e < m->event_count; e++) {
				if (m->pairs[s][e].to != t)
					continue;
				if (between[1] == ':')
					fprintf(f, "\t%s --> %s", m->states[s].name,
						m->states[t].name);
				fprintf(f, "%s%s", between, m->events[e].name);
				between = ", ";
			}
			if (between[1] != ':')
				fputc('\n', f);
		}
	for (int s = 0; s < m->state_count; s++)
		if (m->finals & (UINT32_C(1) << s))
			fprintf(f, "\t%s --> [*]\n", m->states[s].name);
	fputs("```\n", f);
}

static void put_named(FILE *f, const char *head, const struct named *list, int count,
		      bool has_source)
{
	fprintf(f, "\n| %s | %smeaning |\n|---|%s---|\n", head, has_source ? "comes from | " : "",
		has_source ? "---|" : "");
	for (int i = 0; i < count; i++)
		fprintf(f, "| `%s` | %s%s%s |\n", list[i].name, has_source ? list[i].source : "",
			has_source ? " | " : "", list[i].meaning);
}

static void put_transitions(FILE *f, const struct machines *ms, const struct machine *m)
{
	fputs("\n| from | event | if | to | do |\n|---|---|---|---|---|\n", f);
	for (int s = 0; s < m->state_count; s++)
		for (int e = 0; e < m->event_count; e++) {
			const struct pair *p = &m->pairs[s][e];

			if (p->to >= 0)
				fprintf(f, "| %s | %s | %s | %s | %s |\n", m->states[s].name,
					m->events[e].name, guard_list(&ms->guards, p, ", "),
					m->states[p->to].name,
					p->action >= 0 ? m->actions[p->action].name : "");
		}
	fputs("\n| refused in | later | no | bug |\n|---|---|---|---|\n", f);
	for (int s = 0; s < m->state_count; s++) {
		static const char *const classes[] = { "later", "no", "bug" };

		fprintf(f, "| %s |", m->states[s].name);
		for (int c = 0; c < 3; c++) {
			const char *between = " ";

			for (int e = 0; e < m->event_count; e++)
				if (m->pairs[s][e].to < 0 &&
				    strcmp(m->pairs[s][e].refused, classes[c]) == 0) {
					fprintf(f, "%s%s", between, m->events[e].name);
					between = ", ";
				}
			fputs(" |", f);
		}
		fputc('\n', f);
	}
}

static void put_machine(FILE *f, const struct machines *ms, const struct machine *m)
{
	fprintf(f, "\n## %s\n\n", m->name);
	put_diagram(f, m);
	put_named(f, "state", m->states, m->state_count, false);
	put_named(f, "event", m->events, m->event_count, true);
	if (m->action_count)
		put_named(f, "action", m->actions, m->action_count, false);
	put_transitions(f, ms, m);
}

void write_machine_md(const struct machines *ms, const struct machine *m)
{
	char *file = need(strlen(m->name) + 4);
	FILE *f;

	sprintf(file, "%s.md", m->name);
	f = out_open("statemachines/gen", file, COMMENT_HTML, m->file);
	put_machine(f, ms, m);
	out_close(f);
}

void write_docs_machines(const struct machines *ms)
{
	static const char head[] =
		"\n# State machines\n\n"
		"What may happen to a worker, a lease, a ticket and a run is written once, in `statemachines/*.sm`.\n"
		"`make gen` turns it into C, Lua for the Valkey library, SQL for the audit store, a model that is\n"
		"checked exhaustively (`make models`), the matrix that tests compare, and this page. Every pair of\n"
		"state and event is either a transition or a stated refusal: `later` (ask again), `no` (the answer\n"
		"is no) or `bug` (cannot happen unless kz is wrong).\n\n"
		"## Adding to the tables\n\n"
		"* **A transition, event or state**: edit the `.sm` file, run `make gen`. The generator names each\n"
		"  pair that is not stated yet. Run `make models`, commit the source and `statemachines/gen` together.\n"
		"* **A machine**: a new `.sm` file; nothing else lists the machines.\n"
		"* **A guard**: one row in `statemachines/guards.tbl`, with the function that answers it and the reason\n"
		"  told when it does not hold; then name it after `if`.\n"
		"* **A reason**: one row in `policy/reasons.tbl`, `make gen`, then `kz_refuse(err, KZ_R_CODE, ...)`.\n"
		"* **A setting**: one row in `policy/settings.tbl`, `make gen`, then `conf.set.name`.\n\n"
		"A merge conflict in `statemachines/gen` is answered by `make gen`.\n\n"
		"## What is proved about them\n\n"
		"`make models` searches every reachable state of two models that include the generated steps.\n"
		"`model/pool.pml` has several holders that freeze or die anywhere, a controller that crashes between\n"
		"any two steps, a driver that loses answers and carries out creates late, and workers that die:\n"
		"INV-1, 2, 3, 4, 6, 7, 8, 9, 23, 24. `model/line.pml` has waiters that fall silent, give up or come\n"
		"back: INV-4, 5, 12, 22, 26. Each property is also run on a wrong table (`wrong/*.sed`, an edit of the\n"
		"sources) and must break there. To add a property, add an edit that it catches. The models take the\n"
		"guards for granted: that Valkey and the driver answer them rightly is what the other tests show.\n\n"
		"## The language\n\nA line of a `.sm` file is one fact:\n\n"
		"```\nmachine NAME\ninitial STATE\nfinal STATE...\nstate NAME meaning\n"
		"event NAME client|clock|child|operator meaning\naction NAME meaning\n"
		"FROM EVENT [if GUARD[,GUARD...]] TO [do ACTION]\nrefuse STATE later|no|bug EVENT...\n```\n";
	FILE *f = out_open("docs", "machines.md", COMMENT_HTML, "statemachines/NAME.sm");

	fputs(head, f);
	for (int i = 0; i < ms->count; i++)
		put_machine(f, ms, &ms->all[i]);
	fputs("\n## guards\n\n| guard | holds when | reason when not |\n|---|---|---|\n", f);
	for (int i = 0; i < ms->guards.count; i++)
		fprintf(f, "| `%s` | %s | `%s` |\n", ms->guards.all[i].name,
			ms->guards.all[i].meaning, ms->guards.all[i].reason);
	out_close(f);
}
