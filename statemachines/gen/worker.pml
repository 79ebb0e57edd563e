/* Do not edit: made by kzgen from statemachines/worker.sm. */
#define WORKER_S_ABSENT 0
#define WORKER_S_CREATING 1
#define WORKER_S_WARM 2
#define WORKER_S_LEASED 3
#define WORKER_S_RESETTING 4
#define WORKER_S_RETIRING 5
#define WORKER_E_CREATE 0
#define WORKER_E_READY 1
#define WORKER_E_CREATE_FAILED 2
#define WORKER_E_CREATE_UNKNOWN 3
#define WORKER_E_ASSIGN 4
#define WORKER_E_RELEASE 5
#define WORKER_E_EXPIRE 6
#define WORKER_E_PUBLISH 7
#define WORKER_E_RESET_FAILED 8
#define WORKER_E_ABANDON 9
#define WORKER_E_QUARANTINE 10
#define WORKER_E_IDLE_RETIRE 11
#define WORKER_E_IMAGE_CHANGED 12
#define WORKER_E_LOST 13
#define WORKER_E_ABSENT_CONFIRMED 14
#define WORKER_E_ORPHAN_FOUND 15

/* Move s by event e where the table and the guards allow it; ok tells. The model defines a
 * macro G_NAME(x) for each guard; x is passed through. */
inline worker_step(s, e, x, ok)
{
	if
	:: s == WORKER_S_ABSENT && e == WORKER_E_CREATE && G_IMAGE_PUBLISHED(x) && G_UNDER_CEILING(x) && G_UNDER_CREATE_BOUND(x) ->
		s = WORKER_S_CREATING; ok = true
	:: s == WORKER_S_ABSENT && e == WORKER_E_ORPHAN_FOUND ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_CREATING && e == WORKER_E_READY && G_TOKEN_MATCHES(x) && G_IMAGE_MATCHES(x) ->
		s = WORKER_S_WARM; ok = true
	:: s == WORKER_S_CREATING && e == WORKER_E_CREATE_FAILED && G_TOKEN_MATCHES(x) && G_ABSENT_PROVED(x) ->
		s = WORKER_S_ABSENT; ok = true
	:: s == WORKER_S_CREATING && e == WORKER_E_CREATE_UNKNOWN && G_TOKEN_MATCHES(x) ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_CREATING && e == WORKER_E_EXPIRE && G_EXPIRED(x) ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_CREATING && e == WORKER_E_IMAGE_CHANGED ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_CREATING && e == WORKER_E_ABSENT_CONFIRMED && G_ABSENT_PROVED(x) ->
		s = WORKER_S_ABSENT; ok = true
	:: s == WORKER_S_WARM && e == WORKER_E_ASSIGN && G_IMAGE_MATCHES(x) && G_ADMISSION_OPEN(x) && G_MEMBER_BELOW_LIMIT(x) && G_CONVERSATION_FREE(x) ->
		s = WORKER_S_LEASED; ok = true
	:: s == WORKER_S_WARM && e == WORKER_E_QUARANTINE ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_WARM && e == WORKER_E_IDLE_RETIRE && G_IDLE_TOO_LONG(x) && G_OVER_DESIRED(x) ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_WARM && e == WORKER_E_IMAGE_CHANGED ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_WARM && e == WORKER_E_LOST ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_LEASED && e == WORKER_E_RELEASE && G_TOKEN_MATCHES(x) && G_IN_FORCE(x) ->
		s = WORKER_S_RESETTING; ok = true
	:: s == WORKER_S_LEASED && e == WORKER_E_EXPIRE && G_EXPIRED(x) ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_LEASED && e == WORKER_E_ABANDON && G_TOKEN_MATCHES(x) ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_LEASED && e == WORKER_E_QUARANTINE && G_TOKEN_MATCHES(x) ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_LEASED && e == WORKER_E_LOST ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_RESETTING && e == WORKER_E_EXPIRE && G_EXPIRED(x) ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_RESETTING && e == WORKER_E_PUBLISH && G_TOKEN_MATCHES(x) && G_EVIDENCE_OK(x) && G_IMAGE_MATCHES(x) && G_IN_FORCE(x) ->
		s = WORKER_S_WARM; ok = true
	:: s == WORKER_S_RESETTING && e == WORKER_E_RESET_FAILED && G_TOKEN_MATCHES(x) ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_RESETTING && e == WORKER_E_ABANDON && G_TOKEN_MATCHES(x) ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_RESETTING && e == WORKER_E_QUARANTINE && G_TOKEN_MATCHES(x) ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_RESETTING && e == WORKER_E_IMAGE_CHANGED ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_RESETTING && e == WORKER_E_LOST ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_RETIRING && e == WORKER_E_EXPIRE && G_EXPIRED(x) ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_RETIRING && e == WORKER_E_QUARANTINE ->
		s = WORKER_S_RETIRING; ok = true
	:: s == WORKER_S_RETIRING && e == WORKER_E_ABSENT_CONFIRMED && G_ABSENT_PROVED(x) ->
		s = WORKER_S_ABSENT; ok = true
	:: else -> ok = false
	fi
}
