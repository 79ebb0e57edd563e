/* Do not edit: made by kzgen from statemachines/run.sm. */
#ifndef KZ_GEN_RUN_SM_H
#define KZ_GEN_RUN_SM_H

#include "gen/machine.h"

enum kz_run_state {
	KZ_RUN_S_ADMITTED, /* the request is well-formed */
	KZ_RUN_S_PREPARED, /* a lease is bound and the inputs are in the workspace */
	KZ_RUN_S_DISPATCHED, /* the worker was told to start the program; it may be running */
	KZ_RUN_S_COMPLETED, /* the program ended with status 0 */
	KZ_RUN_S_FAILED, /* the program ended otherwise: status, signal, or ended by the caller */
	KZ_RUN_S_NOT_RUN, /* the program certainly never started */
	KZ_RUN_S_BOUNDED, /* a bound ended it (wall, processor time, memory, processes) */
	KZ_RUN_S_REFUSED, /* policy or state said no before it started */
	KZ_RUN_S_OUTCOME_UNKNOWN, /* it may have run; nobody can tell how it ended */
	KZ_RUN_S_COUNT
};

enum kz_run_event {
	KZ_RUN_E_PREPARE, /* lease, bind and inputs are done */
	KZ_RUN_E_DISPATCH, /* the exec request is sent */
	KZ_RUN_E_DENY, /* a refusal before the program started */
	KZ_RUN_E_ABORT, /* a fault before the program started, or it could not be executed */
	KZ_RUN_E_COMPLETE, /* the worker's record says exit 0 */
	KZ_RUN_E_FAIL, /* the worker's record says another status or a signal */
	KZ_RUN_E_BOUND, /* the worker's record names a bound */
	KZ_RUN_E_LOSE, /* the stream ended without a record, or the lease was lost under the run */
	KZ_RUN_E_COUNT
};

enum kz_run_action {
	KZ_RUN_A_COUNT
};

extern const struct kz_sm kz_run_sm;

#endif
