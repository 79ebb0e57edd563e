/* One step over a generated table. */
#include "rule/sm.h"

#include <stddef.h>
#include <string.h>

#include "rule/reason.h"

const struct kz_sm_cell *kz_sm_cell(const struct kz_sm *m, int state, int event)
{
	if (state < 0 || state >= m->state_count || event < 0 || event >= m->event_count)
		return NULL;
	return &m->cells[state * m->event_count + event];
}

static enum kz_rc refuse_pair(const struct kz_sm *m, int state, int event, enum kz_sm_refusal class,
			      struct kz_err *err)
{
	const char *s = m->states[state];
	const char *e = m->events[event];

	switch (class) {
	case KZ_SM_LATER:
		return kz_refuse(err, KZ_R_STATE_BUSY, "%s is %s: no %s now", m->name, s, e);
	case KZ_SM_NO: return kz_refuse(err, KZ_R_STATE_REFUSED, "%s is %s: no %s", m->name, s, e);
	case KZ_SM_NONE:
	case KZ_SM_BUG: break;
	}
	return kz_refuse(err, KZ_R_INTERNAL, "%s is %s: %s cannot happen", m->name, s, e);
}

enum kz_rc kz_sm_step(const struct kz_sm *m, int state, int event, uint32_t holds, int *to,
		      int *action, struct kz_err *err)
{
	const struct kz_sm_cell *c = kz_sm_cell(m, state, event);

	if (!c)
		return kz_refuse(err, KZ_R_INTERNAL, "%s has no state %d or event %d", m->name,
				 state, event);
	if (c->to < 0)
		return refuse_pair(m, state, event, c->refusal, err);
	for (int g = 0; g < KZ_GUARD_COUNT; g++)
		if (c->guards & ~holds & KZ_GUARD_BIT(g))
			return kz_refuse(err, (enum kz_reason)kz_guard_rows[g].reason, NULL);
	*to = c->to;
	*action = c->action;
	return KZ_OK;
}

bool kz_sm_is_final(const struct kz_sm *m, int state)
{
	return state >= 0 && state < m->state_count && (m->finals >> state & 1);
}

static int find(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

int kz_sm_state(const struct kz_sm *m, const char *name)
{
	return find(m->states, m->state_count, name);
}

int kz_sm_event(const struct kz_sm *m, const char *name)
{
	return find(m->events, m->event_count, name);
}

const struct kz_sm *kz_sm_find(const char *name)
{
	for (int i = 0; i < KZ_MACHINE_COUNT; i++)
		if (strcmp(kz_machines[i]->name, name) == 0)
			return kz_machines[i];
	return NULL;
}

static const char *name_of(const char *const *names, int count, int i)
{
	return i >= 0 && i < count ? names[i] : "?";
}

const char *kz_sm_state_name(const struct kz_sm *m, int state)
{
	return name_of(m->states, m->state_count, state);
}

const char *kz_sm_event_name(const struct kz_sm *m, int event)
{
	return name_of(m->events, m->event_count, event);
}

const char *kz_sm_action_name(const struct kz_sm *m, int action)
{
	return name_of(m->actions, m->action_count, action);
}
