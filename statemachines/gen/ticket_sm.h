/* Do not edit: made by kzgen from statemachines/ticket.sm. */
#ifndef KZ_GEN_TICKET_SM_H
#define KZ_GEN_TICKET_SM_H

#include "gen/machine.h"

enum kz_ticket_state {
	KZ_TICKET_S_NONE, /* no ticket */
	KZ_TICKET_S_WAITING, /* in line with a number */
	KZ_TICKET_S_SERVED, /* its waiter got a worker */
	KZ_TICKET_S_TIMED_OUT, /* its wait ended first */
	KZ_TICKET_S_GONE, /* its waiter gave up */
	KZ_TICKET_S_COUNT
};

enum kz_ticket_event {
	KZ_TICKET_E_ENQUEUE, /* no worker was free for an acquire that may wait */
	KZ_TICKET_E_ASK, /* the waiter asks again; the sign of its life */
	KZ_TICKET_E_SERVE, /* the waiter is first among the eligible and a worker is free */
	KZ_TICKET_E_TIME_OUT, /* the wait is over, whether the waiter lives or not */
	KZ_TICKET_E_LEAVE, /* the waiter gives up */
	KZ_TICKET_E_COUNT
};

enum kz_ticket_action {
	KZ_TICKET_A_TAKE_NUMBER, /* the next number; counted against the queue's bound */
	KZ_TICKET_A_NOTE_LIFE, /* remember when the waiter was last heard of */
	KZ_TICKET_A_DROP_TICKET, /* out of the line; the next is looked at */
	KZ_TICKET_A_COUNT
};

extern const struct kz_sm kz_ticket_sm;

#endif
