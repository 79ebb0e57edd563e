/* Do not edit: made by kzgen from statemachines/ticket.sm. */
#define TICKET_S_NONE 0
#define TICKET_S_WAITING 1
#define TICKET_S_SERVED 2
#define TICKET_S_TIMED_OUT 3
#define TICKET_S_GONE 4
#define TICKET_E_ENQUEUE 0
#define TICKET_E_ASK 1
#define TICKET_E_SERVE 2
#define TICKET_E_TIME_OUT 3
#define TICKET_E_LEAVE 4

/* Move s by event e where the table and the guards allow it; ok tells. The model defines a
 * macro G_NAME(x) for each guard; x is passed through. */
inline ticket_step(s, e, x, ok)
{
	if
	:: s == TICKET_S_NONE && e == TICKET_E_ENQUEUE && G_ADMISSION_OPEN(x) && G_QUEUE_HAS_ROOM(x) ->
		s = TICKET_S_WAITING; ok = true
	:: s == TICKET_S_WAITING && e == TICKET_E_ASK ->
		s = TICKET_S_WAITING; ok = true
	:: s == TICKET_S_WAITING && e == TICKET_E_SERVE && G_FIRST_IN_LINE(x) ->
		s = TICKET_S_SERVED; ok = true
	:: s == TICKET_S_WAITING && e == TICKET_E_TIME_OUT && G_WAIT_OVER(x) ->
		s = TICKET_S_TIMED_OUT; ok = true
	:: s == TICKET_S_WAITING && e == TICKET_E_LEAVE ->
		s = TICKET_S_GONE; ok = true
	:: else -> ok = false
	fi
}
