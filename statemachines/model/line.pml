/*
 * The line for workers: tickets over the generated table, waiters that fall silent or
 * give up, a member with a limit, workers that come and go.
 *
 *   N waiters (1 and 2 are one member, 3 is another)   QUEUE tickets that may wait
 *   LIMIT leases of a member   FREE workers
 *   PROP the property that is on; 0: all
 */
#ifndef N
#define N 3
#endif
#ifndef QUEUE
#define QUEUE 2
#endif
#ifndef LIMIT
#define LIMIT 1
#endif
#ifndef FREE
#define FREE 1
#endif
#ifndef PROP
#define PROP 0
#endif

#define PROVE(p, c) assert((PROP != 0 && PROP != p) || (c))

/* Index 0 is nobody. */
byte tst[N + 1];  /* ticket states */
byte num[N + 1];  /* place in line, 1 is the lowest; 0 none */
bool mute[N + 1]; /* silent: passed over, keeps its number */
bool over[N + 1]; /* its wait is over by Valkey's clock */
bool has[N + 1];  /* holds a lease */
byte free = FREE;

#define MEMBER(t) ((t) == 3)
#define HELD(t) (MEMBER(t) -> has[3] : has[1] + has[2])
#define WAITS(t) (tst[t] == TICKET_S_WAITING)
#define WAITING (WAITS(1) + WAITS(2) + WAITS(3))
#define ELIGIBLE(t) (WAITS(t) && !mute[t] && HELD(t) < LIMIT)
#define BEFORE(a, t) (a != t && ELIGIBLE(a) && num[a] < num[t])

#define G_ADMISSION_OPEN(x) true
#define G_QUEUE_HAS_ROOM(x) (WAITING < QUEUE)
#define G_FIRST_IN_LINE(x) (ELIGIBLE(x) && !BEFORE(1, x) && !BEFORE(2, x) && !BEFORE(3, x))
#define G_WAIT_OVER(x) (over[x])
/* For wrong tables: is the waiter alive? */
#define G_IN_FORCE(x) (!mute[x])

#include "ticket.pml"

/* Leave the line: those behind move up (numbers only matter by their order). */
inline drop(t)
{
	if :: num[1] > num[t] -> num[1]-- :: else fi;
	if :: num[2] > num[t] -> num[2]-- :: else fi;
	if :: num[3] > num[t] -> num[3]-- :: else fi;
	num[t] = 0; over[t] = false; mute[t] = false
}

inline enqueue()
{
	tst[t] = TICKET_S_NONE;
	ticket_step(tst[t], TICKET_E_ENQUEUE, t, ok);
	if
	:: ok ->
		num[t] = WAITING;
		PROVE(5, WAITING <= QUEUE)
	:: else
	fi
}

/* The waiter asks again and is served if a worker is free and it is its turn. */
inline ask_again()
{
	mute[t] = false;
	ticket_step(tst[t], TICKET_E_ASK, t, ok);
	if
	:: ok && free > 0 && HELD(t) < LIMIT ->
		turn = !BEFORE(1, t) && !BEFORE(2, t) && !BEFORE(3, t);
		ticket_step(tst[t], TICKET_E_SERVE, t, ok);
		PROVE(26, ok || !turn); /* nobody who cannot be served now stands in the way */
		if
		:: ok ->
			PROVE(12, turn);
			free--; has[t] = true;
			PROVE(4, HELD(t) <= LIMIT);
			drop(t)
		:: else
		fi;
		turn = false
	:: else
	fi
}

proctype waiter(byte t)
{
	bool ok, turn;

	do
	:: atomic { !has[t] && !WAITS(t) -> enqueue(); ok = false }
	:: atomic { WAITS(t) -> ask_again(); ok = false }
	:: atomic { WAITS(t) && !mute[t] -> mute[t] = true } /* stopped or dead; may come back */
	:: atomic { WAITS(t) ->
		ticket_step(tst[t], TICKET_E_LEAVE, t, ok);
		if :: ok -> drop(t) :: else fi;
		ok = false }
	:: atomic { has[t] -> has[t] = false; free++ }
	od
}

/* What each authority call does first: end the waits that are over. */
proctype sweep(byte t)
{
	bool ok;

	do
	:: atomic { WAITS(t) && over[t] ->
		ticket_step(tst[t], TICKET_E_TIME_OUT, t, ok);
		if :: ok -> drop(t) :: else fi;
		ok = false }
	od
}

proctype clock(byte t)
{
	do
	:: atomic { WAITS(t) && !over[t] -> over[t] = true }
	od
}

init
{
	atomic {
		run waiter(1); run waiter(2); run waiter(3);
		run sweep(1); run sweep(2); run sweep(3);
		run clock(1); run clock(2); run clock(3)
	}
}

/* INV-22: a ticket is served, times out or is given up; it never waits for ever. */
#ifdef LIVE
ltl live { [] (WAITS(1) -> <> !WAITS(1)) }
#endif
