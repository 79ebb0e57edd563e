/*
 * State machines: one step over a generated table.
 *
 * The tables come from the .sm files of statemachines; what they allow is the only thing that
 * may happen [POOL-10, INV-15].  Pure: the caller says which guards hold and
 * carries out the action.  Layer 2.
 */
#ifndef KZ_RULE_SM_H
#define KZ_RULE_SM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gen/machine.h" /* struct kz_sm, struct kz_sm_cell, enum kz_guard, kz_machines */

/*
 * Take one step: what does the machine do with this event in this state?
 * in: holds has the bit of each guard (KZ_GUARD_BIT) that the caller found to hold.
 * out: to and action (-1: none) on KZ_OK only.
 * err: the reason of the first guard that does not hold; state_refused (class
 * later or no); KZ_E_SOFTWARE for class bug and for numbers outside the machine.
 * wait: never.  src: POOL-10
 */
enum kz_rc kz_sm_step(const struct kz_sm *m, int state, int event, uint32_t holds, int *to,
		      int *action, struct kz_err *err);

/* The cell of a pair, static; NULL when a number lies outside the machine. */
const struct kz_sm_cell *kz_sm_cell(const struct kz_sm *m, int state, int event);
/* Is state one in which the machine ends? */
bool kz_sm_is_final(const struct kz_sm *m, int state);
/* Numbers by name, -1 for none; a machine by name, NULL for none. */
int kz_sm_state(const struct kz_sm *m, const char *name);
int kz_sm_event(const struct kz_sm *m, const char *name);
const struct kz_sm *kz_sm_find(const char *name);
/* Names by number, static, "?" outside. */
const char *kz_sm_state_name(const struct kz_sm *m, int state);
const char *kz_sm_event_name(const struct kz_sm *m, int event);
const char *kz_sm_action_name(const struct kz_sm *m, int action);

#endif
