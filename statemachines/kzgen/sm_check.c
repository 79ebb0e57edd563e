/* What must hold of a machine as a whole. */
#include "sm.h"

static void check_pairs(const struct machine *m)
{
	for (int s = 0; s < m->state_count; s++)
		for (int e = 0; e < m->event_count; e++)
			if (!m->pairs[s][e].line)
				fail(m->file, m->states[s].line,
				     "pair %s %s is neither a transition nor refused",
				     m->states[s].name, m->events[e].name);
}

static void check_reachable(const struct machine *m)
{
	uint32_t seen = UINT32_C(1) << m->initial;

	for (uint32_t before = 0; before != seen;) {
		before = seen;
		for (int s = 0; s < m->state_count; s++)
			for (int e = 0; e < m->event_count; e++)
				if (seen & (UINT32_C(1) << s) && m->pairs[s][e].to >= 0)
					seen |= UINT32_C(1) << m->pairs[s][e].to;
	}
	for (int s = 0; s < m->state_count; s++)
		if (!(seen & (UINT32_C(1) << s)))
			fail(m->file, m->states[s].line, "state %s is never reached",
			     m->states[s].name);
}

/* A final state may be left by nothing, any other must be left by something. */
static void check_ways_out(const struct machine *m)
{
	for (int s = 0; s < m->state_count; s++) {
		bool is_final = m->finals & (UINT32_C(1) << s);
		bool leaves = false;

		for (int e = 0; e < m->event_count; e++) {
			const struct pair *p = &m->pairs[s][e];

			if (p->to < 0 || p->to == s)
				continue;
			leaves = true;
			if (is_final)
				fail(m->file, p->line, "final state %s is left", m->states[s].name);
		}
		if (!leaves && !is_final)
			fail(m->file, m->states[s].line, "state %s is not final and has no way out",
			     m->states[s].name);
	}
}

void check_machine(const struct machine *m)
{
	if (!m->name)
		fail(m->file, 0, "no line names the machine");
	if (m->initial < 0)
		fail(m->file, m->line, "machine %s has no initial state", m->name);
	for (int i = 0; i < m->action_count; i++)
		if (!m->actions[i].used)
			fail(m->file, m->actions[i].line, "action %s is not used",
			     m->actions[i].name);
	for (int i = 0; i < m->event_count; i++)
		if (!m->events[i].used)
			fail(m->file, m->events[i].line, "event %s moves nothing",
			     m->events[i].name);
	check_pairs(m);
	check_reachable(m);
	check_ways_out(m);
}
