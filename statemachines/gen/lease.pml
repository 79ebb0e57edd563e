/* Do not edit: made by kzgen from statemachines/lease.sm. */
#define LEASE_S_NONE 0
#define LEASE_S_HELD 1
#define LEASE_S_RELEASED 2
#define LEASE_S_EXPIRED 3
#define LEASE_S_LOST 4
#define LEASE_E_GRANT 0
#define LEASE_E_RENEW 1
#define LEASE_E_RELEASE 2
#define LEASE_E_EXPIRE 3
#define LEASE_E_LOSE 4

/* Move s by event e where the table and the guards allow it; ok tells. The model defines a
 * macro G_NAME(x) for each guard; x is passed through. */
inline lease_step(s, e, x, ok)
{
	if
	:: s == LEASE_S_NONE && e == LEASE_E_GRANT && G_ADMISSION_OPEN(x) && G_MEMBER_BELOW_LIMIT(x) && G_CONVERSATION_FREE(x) ->
		s = LEASE_S_HELD; ok = true
	:: s == LEASE_S_HELD && e == LEASE_E_RENEW && G_TOKEN_MATCHES(x) && G_IN_FORCE(x) ->
		s = LEASE_S_HELD; ok = true
	:: s == LEASE_S_HELD && e == LEASE_E_RELEASE && G_TOKEN_MATCHES(x) && G_IN_FORCE(x) ->
		s = LEASE_S_RELEASED; ok = true
	:: s == LEASE_S_HELD && e == LEASE_E_EXPIRE && G_EXPIRED(x) ->
		s = LEASE_S_EXPIRED; ok = true
	:: s == LEASE_S_HELD && e == LEASE_E_LOSE ->
		s = LEASE_S_LOST; ok = true
	:: s == LEASE_S_RELEASED && e == LEASE_E_RELEASE && G_TOKEN_MATCHES(x) ->
		s = LEASE_S_RELEASED; ok = true
	:: else -> ok = false
	fi
}
