/*
 * Workers and leases: the generated tables among several holders, a controller that
 * crashes, a driver that loses answers and carries out creates late, workers that die.
 *
 * Everybody tries what it may want in any state; the table decides.  So a wrong table
 * shows as a broken property and not as a blocked model.
 *
 *   W workers (names that are used again)   H holders, each freezes or dies anywhere
 *   CEIL ceiling   CREATES creates in flight   LIMIT leases of a member
 *   PROP the property that is on (INV-n, 20: LEASE-9); 0: all
 */
#ifndef W
#define W 2
#endif
#ifndef H
#define H 2
#endif
#ifndef CEIL
#define CEIL 2
#endif
#ifndef CREATES
#define CREATES 2
#endif
#ifndef LIMIT
#define LIMIT 2
#endif
#ifndef PROP
#define PROP 0
#endif
/* For liveness the environment may do its worst only so often; for safety it may do it for ever. */
#define CUT skip }; atomic { /* between two steps of the controller others act */
#ifdef LIVE
byte crashes, losses, deaths;
#define MAY(what) (what < 1)
#define DID(what) what++
#elif defined(CALM)
#define MAY(what) false /* nothing crashes, is lost or dies by itself: for more workers at one time */
#define DID(what) skip
#undef CUT
#define CUT skip; /* no crash, so its steps need not be told apart */
#else
#define MAY(what) true
#define DID(what) skip
#endif

#define PROVE(p, c) assert((PROP != 0 && PROP != p) || (c))

/* Whose token is the current one: 0 nobody's that lives, 1..H a holder, CTL the controller. */
#define CTL (H + 1)

/* -- the store -- */
byte wst[W]; /* worker states */
byte lst[W]; /* the last lease of each worker */
byte cur[W]; /* who knows the current token */
byte own[W]; /* holder that the lease in force belongs to, 0 none */
bool due[W]; /* the owner's deadline passed by Valkey's clock */

/* -- what is really there -- */
bool real[W];  /* the container exists */
bool pend[W];  /* a create was asked for and may still take effect */
bool late[W];  /* the driver's deadline passed: nothing asked before can take effect any more */
byte reply[W]; /* what came back of the create */
bool dirty[W]; /* something of a tenant is in it */
#define NOTHING 0
#define PRESENT 1
#define ABSENT 2

/* -- ghosts: seen by the properties only -- */
bool fresh[W];   /* published or ready since the last lease */
byte proof[W];   /* holder whose clean evidence belongs to the current token */
bool expired[W]; /* a lease of it expired and it was not absent since */

#if W == 1
#define COUNT(c0, c1) (c0)
#else
#define COUNT(c0, c1) ((c0) + (c1))
#endif
#define ALLOCATED COUNT(wst[0] != WORKER_S_ABSENT, wst[1] != WORKER_S_ABSENT)
#define IN_FLIGHT COUNT(wst[0] == WORKER_S_CREATING, wst[1] == WORKER_S_CREATING)
/* Holders 1 and 2 are one member, a third is another. */
#define MEMBER(h) ((h) == 3)
#define OF_MEMBER(h) COUNT(own[0] != 0 && MEMBER(own[0]) == MEMBER(h), own[1] != 0 && MEMBER(own[1]) == MEMBER(h))

/* -- the guards, as the store answers them; w is the worker at hand, x who asks -- */
#define G_TOKEN_MATCHES(x) (cur[w] == x)
#define G_EVIDENCE_OK(x) (clean)
#define G_IMAGE_MATCHES(x) true
#define G_IMAGE_PUBLISHED(x) true
#define G_UNDER_CEILING(x) (ALLOCATED < CEIL)
#define G_UNDER_CREATE_BOUND(x) (IN_FLIGHT < CREATES)
#define G_ADMISSION_OPEN(x) true
#define G_MEMBER_BELOW_LIMIT(x) (OF_MEMBER(x) < LIMIT)
#define G_CONVERSATION_FREE(x) true
#define G_EXPIRED(x) (due[w])
#define G_IN_FORCE(x) (!due[w])
#define G_ABSENT_PROVED(x) (!real[w] && late[w])
#define G_IDLE_TOO_LONG(x) true
#define G_OVER_DESIRED(x) true

#include "worker.pml" /* of the generated tables, right or wrong */
#include "lease.pml"

/* The lease of w ends. */
inline end_lease(lease_event)
{
	lease_step(lst[w], lease_event, x, ended);
	PROVE(20, ended);
	ended = false;
	lst[w] = LEASE_S_NONE; /* the next lease is another one */
	own[w] = 0
}

/* A transition was taken: fresh token for who asked, no deadline passed yet, old evidence is worth nothing. */
inline moved(x)
{
	cur[w] = x;
	due[w] = false;
	proof[w] = 0
}

/* Ask for an event on w as x; ok tells.  Leases end with the worker's move, in one operation [LEASE-9]. */
inline ask(worker_event, lease_end)
{
	worker_step(wst[w], worker_event, x, ok);
	if
	:: ok ->
		if
		:: lst[w] == LEASE_S_HELD -> end_lease(lease_end)
		:: else
		fi;
		moved(x)
	:: else
	fi
}

/* Capacity just fell: only a worker that is not there and cannot come any more may do that. */
inline check_absent()
{
	PROVE(9, !real[w] && !pend[w]);
	expired[w] = false; fresh[w] = false; dirty[w] = false; reply[w] = NOTHING; cur[w] = 0
}

inline sweep()
{
	held = lst[w] == LEASE_S_HELD;
	ask(WORKER_E_EXPIRE, LEASE_E_EXPIRE);
	if
	:: ok && held -> expired[w] = true
	:: else
	fi;
	held = false
}

inline create()
{
	ask(WORKER_E_CREATE, LEASE_E_LOSE);
	if
	:: ok ->
		PROVE(2, ALLOCATED <= CEIL);
		PROVE(3, IN_FLIGHT <= CREATES);
		pend[w] = true; late[w] = false; reply[w] = NOTHING
	:: else
	fi
}

/* The answer to a create reaches the controller that asked, or nothing does in time. */
inline hear()
{
	if
	:: reply[w] == PRESENT -> event = WORKER_E_READY
	:: reply[w] == ABSENT -> event = WORKER_E_CREATE_FAILED
	:: reply[w] == NOTHING && late[w] -> event = WORKER_E_CREATE_UNKNOWN
	:: MAY(losses) -> DID(losses); event = WORKER_E_CREATE_UNKNOWN
	:: else
	fi;
	if
	:: event != 0 ->
		ask(event, LEASE_E_LOSE);
		if
		:: ok && wst[w] == WORKER_S_WARM -> PROVE(6, event == WORKER_E_READY); fresh[w] = true; cur[w] = 0
		:: ok && wst[w] == WORKER_S_ABSENT -> check_absent()
		:: else
		fi
	:: else
	fi;
	reply[w] = (event == WORKER_E_CREATE_FAILED && !ok -> ABSENT : NOTHING);
	event = 0
}

/* Delete what retires; the inventory tells what is gone, whether or not it may be believed yet. */
inline remove()
{
	if
	:: wst[w] == WORKER_S_RETIRING -> real[w] = false
	:: wst[w] == WORKER_S_RETIRING && MAY(losses) -> DID(losses)
	:: else
	fi
}

inline inventory()
{
	if
	:: !real[w] && wst[w] != WORKER_S_ABSENT ->
		event = (wst[w] == WORKER_S_CREATING || wst[w] == WORKER_S_RETIRING ->
			WORKER_E_ABSENT_CONFIRMED : WORKER_E_LOST);
		ask(event, LEASE_E_LOSE);
		if
		:: ok && wst[w] == WORKER_S_ABSENT -> check_absent()
		:: else
		fi
	:: else
	fi;
	event = 0
}

/* One round after the other over the workers; dies anywhere between two steps and comes back knowing no token. */
active proctype controller()
{
	byte w;
	byte event;
	bool ok, ended, held;
	bool clean; /* a controller has no evidence */
	byte x = CTL;

	do
	:: atomic {
		sweep();
		if
		:: cur[w] == CTL && wst[w] == WORKER_S_CREATING -> hear()
		:: true -> create()
		:: true -> ask(WORKER_E_IDLE_RETIRE, LEASE_E_LOSE)
		:: skip
		fi;
		ok = false;
		CUT
		if
		:: MAY(crashes) ->
			DID(crashes);
			if :: cur[0] == CTL -> cur[0] = 0 :: else fi;
#if W > 1
			if :: cur[1] == CTL -> cur[1] = 0 :: else fi;
#endif
			skip
		:: skip
		fi;
		remove();
		CUT
		inventory(); ok = false; w = (w + 1) % W }
	od
}

/* Carries out creates at a time of its own choosing; answers may be lost; workers die. */
proctype driver(byte w)
{
	do
	:: atomic { pend[w] ->
		pend[w] = false;
		if
		:: real[w] = true; dirty[w] = false;
		   if
		   :: reply[w] = PRESENT
		   :: MAY(losses) -> DID(losses)
		   fi
		:: reply[w] = ABSENT
		:: MAY(losses) -> DID(losses)
		fi }
	:: atomic { !pend[w] && !late[w] && wst[w] != WORKER_S_ABSENT -> late[w] = true }
	:: atomic { real[w] && MAY(deaths) && !pend[w] -> DID(deaths); real[w] = false }
	od
}

/* Where a deadline matters: a controller that lives is never too late for itself. */
#ifdef CALM
#define OWNED (wst[w] == WORKER_S_LEASED || wst[w] == WORKER_S_RESETTING)
#else
#define OWNED (wst[w] == WORKER_S_LEASED || wst[w] == WORKER_S_RESETTING || wst[w] == WORKER_S_CREATING || \
	(wst[w] == WORKER_S_RETIRING && cur[w] != CTL))
#endif

/* Valkey's clock: any deadline passes at any time. */
proctype clock(byte w)
{
	do
	:: atomic { !due[w] && OWNED -> due[w] = true }
	od
}

inline take_lease()
{
	worker_step(wst[w], WORKER_E_ASSIGN, x, ok);
	if
	:: ok ->
		PROVE(1, lst[w] != LEASE_S_HELD);
		PROVE(1, !dirty[w]);
		PROVE(7, fresh[w]);
		PROVE(8, !expired[w]);
		if
		:: lst[w] == LEASE_S_HELD
		:: else ->
			lst[w] = LEASE_S_NONE;
			lease_step(lst[w], LEASE_E_GRANT, x, ok)
		fi;
		/* Only the guard of the lease may still say no; then the worker's said yes wrongly. */
		PROVE(4, ok);
		own[w] = x;
		PROVE(4, OF_MEMBER(x) <= LIMIT);
		moved(x);
		fresh[w] = false;
		dirty[w] = true
	:: else
	fi
}

/* What a holder tries with the worker it once got; the lease may be long gone. */
proctype holder(byte x)
{
	byte w;
	byte event;
	byte before; /* ghost: whose evidence there was */
	bool ok, ended;
	bool clean;
	bool has; /* it believes that it has a lease or a reset under way */

	do
	:: !has -> atomic {
		if :: w = 0 :: w = W - 1 fi;
		clean = false;
		take_lease();
		has = ok; ok = false;
		if :: !has -> w = 0 :: else fi }
	:: has -> atomic {
		lease_step(lst[w], LEASE_E_RENEW, x, ok); ok = false } /* asks for time; the clock may be faster */
	:: atomic { has && cur[w] == x && wst[w] == WORKER_S_RESETTING ->
		/* The worker takes a reset only from who bound it last; what it finds is what is. */
		if
		:: real[w] -> dirty[w] = false; clean = true; proof[w] = x
		:: clean = false
		fi }
	:: has -> atomic {
		if
		:: event = WORKER_E_RELEASE
		:: event = WORKER_E_PUBLISH
		:: event = WORKER_E_RESET_FAILED
		:: event = WORKER_E_ABANDON
		:: event = WORKER_E_QUARANTINE
		fi;
		before = proof[w];
		ask(event, (event == WORKER_E_RELEASE -> LEASE_E_RELEASE : LEASE_E_LOSE));
		if
		:: ok && event == WORKER_E_PUBLISH ->
			PROVE(6, before == x);
			PROVE(8, !expired[w]);
			fresh[w] = true
		:: else
		fi;
		if
		:: event != WORKER_E_RELEASE && (ok || event != WORKER_E_PUBLISH) ->
			if :: ok && wst[w] == WORKER_S_WARM -> cur[w] = 0 :: else fi;
			has = false; clean = false; w = 0
		:: else
		fi;
		before = 0; event = 0; ok = false }
	:: has -> atomic { /* dies, or gives up: its token is known to nobody */
		if :: cur[w] == x -> cur[w] = 0 :: else fi;
		has = false; clean = false; w = 0 }
	od
}

init
{
	atomic {
		run driver(0); run clock(0);
#if W > 1
		run driver(1); run clock(1);
#endif
		run holder(1);
#if H > 1
		run holder(2);
#endif
#if H > 2
		run holder(3);
#endif
		skip
	}
}

#ifdef LIVE
#if PROP == 24
/* INV-24, FENCE-4: what is being made or retired does not stay so: an ambiguous create is resolved. */
ltl live { [] ((wst[0] == WORKER_S_CREATING || wst[0] == WORKER_S_RETIRING) ->
	<> (wst[0] != WORKER_S_CREATING && wst[0] != WORKER_S_RETIRING)) }
#else
/* INV-23, FENCE-2: a worker whose lease expired becomes absent. */
ltl live { [] (expired[0] -> <> !expired[0]) }
#endif
#endif
