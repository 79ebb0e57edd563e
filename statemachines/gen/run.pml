/* Do not edit: made by kzgen from statemachines/run.sm. */
#define RUN_S_ADMITTED 0
#define RUN_S_PREPARED 1
#define RUN_S_DISPATCHED 2
#define RUN_S_COMPLETED 3
#define RUN_S_FAILED 4
#define RUN_S_NOT_RUN 5
#define RUN_S_BOUNDED 6
#define RUN_S_REFUSED 7
#define RUN_S_OUTCOME_UNKNOWN 8
#define RUN_E_PREPARE 0
#define RUN_E_DISPATCH 1
#define RUN_E_DENY 2
#define RUN_E_ABORT 3
#define RUN_E_COMPLETE 4
#define RUN_E_FAIL 5
#define RUN_E_BOUND 6
#define RUN_E_LOSE 7

/* Move s by event e where the table and the guards allow it; ok tells. The model defines a
 * macro G_NAME(x) for each guard; x is passed through. */
inline run_step(s, e, x, ok)
{
	if
	:: s == RUN_S_ADMITTED && e == RUN_E_PREPARE ->
		s = RUN_S_PREPARED; ok = true
	:: s == RUN_S_ADMITTED && e == RUN_E_DENY ->
		s = RUN_S_REFUSED; ok = true
	:: s == RUN_S_ADMITTED && e == RUN_E_ABORT ->
		s = RUN_S_NOT_RUN; ok = true
	:: s == RUN_S_PREPARED && e == RUN_E_DISPATCH && G_IN_FORCE(x) && G_AUDIT_WRITTEN(x) ->
		s = RUN_S_DISPATCHED; ok = true
	:: s == RUN_S_PREPARED && e == RUN_E_DENY ->
		s = RUN_S_REFUSED; ok = true
	:: s == RUN_S_PREPARED && e == RUN_E_ABORT ->
		s = RUN_S_NOT_RUN; ok = true
	:: s == RUN_S_DISPATCHED && e == RUN_E_DENY ->
		s = RUN_S_REFUSED; ok = true
	:: s == RUN_S_DISPATCHED && e == RUN_E_ABORT ->
		s = RUN_S_NOT_RUN; ok = true
	:: s == RUN_S_DISPATCHED && e == RUN_E_COMPLETE ->
		s = RUN_S_COMPLETED; ok = true
	:: s == RUN_S_DISPATCHED && e == RUN_E_FAIL ->
		s = RUN_S_FAILED; ok = true
	:: s == RUN_S_DISPATCHED && e == RUN_E_BOUND ->
		s = RUN_S_BOUNDED; ok = true
	:: s == RUN_S_DISPATCHED && e == RUN_E_LOSE ->
		s = RUN_S_OUTCOME_UNKNOWN; ok = true
	:: else -> ok = false
	fi
}
