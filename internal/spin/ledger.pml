/*
 * How processes reserve, charge and return: ledger/internal/engine (spender.go, pool.go, note.go,
 * recall.go, limit.go) over transactions, one account. Every step below is what the code does
 * under one lock or in one transaction; between two steps any other process may do anything, and its own
 * may crash. Nothing counts how often something happens: statements, limits, crashes and
 * changes of the clock go on for ever.
 */

#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef PER
#define PER 1     /* callers of a process, each with a statement */
#endif
#define CALLERS (PROCESSES * PER)
#ifndef COSTS
#define COSTS 1   /* a charge costs 1 to COSTS */
#endif
#ifndef AHEAD
#define AHEAD 1   /* most that is reserved beyond the need; with EXACT what Hold.Ahead says */
#endif
#define home(c) ((c) / PER)

#include "file.pml"

#if !defined(EXACT) && !defined(BREADTH) && PER == 1 && PROCESSES > 1
#define ORDER
c_code {
	/* order puts the processes in the order of what they have in memory. */
	void order() {
		int i, j;
		for (i = 0; i < PROCESSES; i++) for (j = i + 1; j < PROCESSES; j++) {
			int d = memcmp(&now.caller[i], &now.caller[j], sizeof now.caller[0]);
			if (d == 0) d = memcmp(&now.core[i], &now.core[j], sizeof now.core[0]);
			if (d > 0) {
				struct Caller caller = now.caller[i]; struct Core core = now.core[i];
				now.caller[i] = now.caller[j]; now.core[i] = now.core[j];
				now.caller[j] = caller; now.core[j] = core;
			}
		}
	}
}
#endif

mtype = { stored, failed, doubtStored, doubtLost }; /* how a transaction ends */

/* Where a caller is: what it does next. */
mtype = {
	Idle,
	Look, Looked,              /* checkForLimits */
	Limits, RecallFlushed, RecallNoted, /* checkLimits, spender.recall */
	TakeFromPool, TakeFromLimit, Committed, Undraw,
	EndNoted,                  /* statement.End */
	ReservePost, FillPools, ReturnLowered, /* Core.Reserve */
	PutLimit, RecallNow, Recalling, LimitNoted, /* Core.SetLimit */
	CloseNoted                 /* Ledger.Close */
};

/* What Core keeps in memory. */
typedef Core {
	bool pooled;               /* whether there is a pool */
	byte Left, Start, limit;   /* pool */
	byte used[TIMES + 1];      /* notes, added up by their terms: what is spent, */
	byte back[TIMES + 1];      /* and what returns */
	bool unseen;               /* limits were set that LimitsSet has not reported */
}
Core core[PROCESSES];

/* A caller with its spender, its hold, and what its call has in turn variables. */
typedef Caller {
	mtype at;
	bool begun, checked;       /* the statement has a hold; unchecked is above 0 */
#if PER > 1
	bool looked;               /* spender.looked */
#endif
	byte Left, Start, Limit, fromLimit, fromPool; /* hold */
	bool moved;                /* the revision is not the one that the hold or the call remembers */
	byte cost, drawn;
	byte start, granted, limit; /* what a transaction has read and reserved */
	byte began;                /* the earliest time during the call */
	byte under;                /* the highest limit that what is left was reserved under */
	byte floor;                /* what no hold may be above: see SetLimit in ledger.go */
#ifdef EXACT
	byte evaluations;          /* Hold.granted */
	bool last;                 /* spender.last: a charge was granted */
#endif
}
Caller caller[CALLERS];

#define C caller[c]
#define P core[home(c)]
#define unrecorded(c) (caller[c].fromLimit + caller[c].fromPool - caller[c].Left)

scratch byte used, fromLimit, fromPool, held, covered_by, i;
scratch mtype outcome;
scratch byte more;
scratch byte covers;
scratch byte granted_is_covered, granted_in_term_is_covered, held_is_reserved, term_was_open, limit_was_heeded;

/* A process with one caller fills no pools while it has a statement. */
#if PER > 1
#define has_looked C.looked
#define set_looked(x) C.looked = (x)
#else
#define has_looked true
#define set_looked(x) skip
#endif

/* What is asserted after every step. */
#define holds(c)   (caller[c].Left + (caller[c].at == Committed -> caller[c].granted - caller[c].cost : unrecorded(c)) \
	+ (fills(c) -> caller[c].cost : 0))
#define fills(c)   (caller[c].at == FillPools || caller[c].at == ReturnLowered)
#define holdsIn(c, t) ((caller[c].Start == t -> caller[c].Left : 0) \
	+ (caller[c].at == Committed && caller[c].start == t -> caller[c].granted : 0) \
	+ (fills(c) && caller[c].start == t -> caller[c].cost : 0))
#define waits(p, t) (core[p].used[t] + core[p].back[t])
#if WINDOW == 2
#define notes(p) (waits(p, 0) + waits(p, 1) + waits(p, 2) + waits(p, 3))
#elif WINDOW == 1
#define notes(p) (waits(p, 0) + waits(p, 1) + waits(p, 2))
#else
#define notes(p) waits(p, 0)
#endif
#define poolsIn(p, t) ((core[p].Start == t -> core[p].Left : 0) + core[p].back[t])
#if CALLERS == 1
#define of_callers(f) (f(0))
#define of_callersIn(f, t) (f(0, t))
#elif CALLERS == 2
#define of_callers(f) (f(0) + f(1))
#define of_callersIn(f, t) (f(0, t) + f(1, t))
#elif CALLERS == 3
#define of_callers(f) (f(0) + f(1) + f(2))
#define of_callersIn(f, t) (f(0, t) + f(1, t) + f(2, t))
#else
#define of_callers(f) (f(0) + f(1) + f(2) + f(3))
#define of_callersIn(f, t) (f(0, t) + f(1, t) + f(2, t) + f(3, t))
#endif
#define pools(p) (core[p].Left + notes(p))
#if PROCESSES == 1
#define of_processes(f) (f(0))
#define of_processesIn(f, t) (f(0, t))
#elif PROCESSES == 2
#define of_processes(f) (f(0) + f(1))
#define of_processesIn(f, t) (f(0, t) + f(1, t))
#else
#define of_processes(f) (f(0) + f(1) + f(2))
#define of_processesIn(f, t) (f(0, t) + f(1, t) + f(2, t))
#endif
#define coveredIn(t) (grantedIn[t] + of_callersIn(holdsIn, t) + of_processesIn(poolsIn, t) <= usedIn[t])

/* Where a process has one caller, nobody else sees the steps that only change its memory. They follow at
 * once, which leaves out orders that lead to the same. With more callers nothing is left out. */
#define NONE 255
byte turn = NONE;
#define ready(c) (turn == NONE || turn == c)
#ifdef EXACT
#define at_once(c) (C.at != Idle) /* a test makes the same calls, one after the other */
#elif defined(FAULT_LIMIT_READ_BEFORE)
#define at_once(c) (C.at != Idle && C.at != ReservePost && C.at != Committed && C.at != RecallNow && C.at != RecallFlushed)
#elif PER == 1
#define at_once(c) (C.at != Idle && C.at != Committed && C.at != RecallNow && C.at != RecallFlushed)
#else
#define at_once(c) false
#endif

inline check() {
	granted_is_covered = (granted_ever <= spent + reserved);
	assert(granted_is_covered);
#if WINDOW > 0
#if WINDOW == 2
	granted_in_term_is_covered = (coveredIn(1) && coveredIn(2) && coveredIn(3));
#else
	granted_in_term_is_covered = (coveredIn(1) && coveredIn(2));
#endif
	assert(granted_in_term_is_covered);
#endif
	held_is_reserved = (of_callers(holds) + of_processes(pools) <= reserved);
	assert(held_is_reserved)
}

#if defined(EXACT) || PER > 1
#define KEEPS_ALL true
#ifdef EXACT
#define has_last C.last
#else
#define has_last (C.Left > 0)
#endif
#define has_pools P.pooled
#define forget_what_does_not_matter(c) skip
#else
#define KEEPS_ALL false
#define has_last (C.Left > 0)
#define has_pools (P.Left > 0)
/* What is behind an amount of 0 is never looked at, but for the limit of a hold, which has the code return more than
 * it must. Forgetting it leaves fewer states. */
inline forget_what_does_not_matter(c) {
	if
	:: P.Left == 0 && C.fromPool == 0 && C.drawn == 0 && C.at != FillPools -> P.Start = 0; P.limit = 0
	:: else
	fi;
	if
	:: C.at == Idle && C.Left == 0 && unrecorded(c) == 0 -> C.Start = 0; C.fromLimit = 0; C.fromPool = 0
	:: else
	fi;
	if
	:: C.at == Idle && P.Left == 0 && C.Left == 0 -> P.unseen = false; C.moved = false; C.Limit = 0
	:: else
	fi;
	P.pooled = false;
	order_processes()
}
#endif

/* Processes are alike: of states that differ in their order one stands for all. */
inline order_processes() {
#ifdef ORDER
	if
	:: turn == NONE -> c_code { order(); }
	:: else
	fi
#else
	skip
#endif
}

/* leave ends a step of a caller. */
inline leave(c) {
	check();
	turn = (at_once(c) -> c : NONE);
	forget_what_does_not_matter(c)
}

/* grant is when the answer leaves: Charge has returned nil. */
inline grant(c, start) {
	term_was_open = (start == 0 || C.began < start + WINDOW);
	assert(term_was_open);
	limit_was_heeded = (C.under <= C.floor);
	assert(limit_was_heeded);
	C.under = (C.Left > 0 -> C.under : 0);
	grantedIn[start] = grantedIn[start] + C.cost;
#ifdef EXACT
	C.last = true;
#endif
	done(c)
}

/* done forgets the call's turn variables. */
inline done(c) {
	C.at = Idle; C.cost = 0; C.drawn = 0; C.start = 0; C.granted = 0; C.limit = 0; C.began = 0
}

/* Hold.Unused, with the use that is not recorded. */
inline Unused(c) {
	used = unrecorded(c);
	fromPool = (C.fromPool > used -> C.fromPool - used : 0);
	fromLimit = C.Left - fromPool
}

inline SetRecorded(c) {
	Unused(c);
	C.fromLimit = fromLimit; C.fromPool = fromPool;
	used = 0; fromLimit = 0; fromPool = 0
}

inline Drop(c) {
	C.fromLimit = 0; C.fromPool = 0; C.Left = 0; C.Limit = 0; C.Start = 0; C.under = 0;
#ifdef EXACT
	C.evaluations = 0
#endif
}

/* note notes the use that is not recorded, and what returns. */
inline note(c, returned) {
	used = unrecorded(c);
	P.used[C.Start] = P.used[C.Start] + used;
	P.back[C.Start] = P.back[C.Start] + returned;
	SetRecorded(c)
}

/* emptyPool is called under mu. */
inline emptyPool(p) {
	core[p].back[core[p].Start] = core[p].back[core[p].Start] + core[p].Left;
	core[p].Left = 0
}

/* returnToPool returns what was drawn. What returns to another term is lost. */
inline returnToPool(c, amount) {
	if
#ifndef FAULT_RETURNED_AFTER_RECALL
	:: C.moved -> P.back[C.Start] = P.back[C.Start] + amount
#endif
	:: else ->
		if
		:: P.Left == 0 -> P.Start = C.Start
		:: else
		fi;
		if
		:: P.Start == C.Start -> P.Left = P.Left + amount
		:: else
		fi
	fi
}

/* bump changes the revision of a process. */
inline bump(p) {
	i = 0;
	do
	:: i < CALLERS ->
		if
		:: home(i) == p && (caller[i].begun || caller[i].at != Idle) -> caller[i].moved = true
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0
}

/* Flush writes the notes that wait. They wait again if nothing is stored, and do not if that is not known. */
inline Flush(p) {
	i = 0;
	do
	:: i <= TIMES ->
		if
		:: outcome != failed && waits(p, i) > 0 ->
			if
			:: outcome != doubtLost -> Standing(); Post(core[p].used[i], -(core[p].used[i] + core[p].back[i]), i)
			:: else
			fi;
#ifdef FAULT_NOTES_WAIT_AGAIN
			if
			:: outcome == stored -> core[p].used[i] = 0; core[p].back[i] = 0
			:: else
			fi
#else
			core[p].used[i] = 0; core[p].back[i] = 0
#endif
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0
}

/* How a transaction ends. */
inline commit() {
	if
	:: outcome = stored
#ifndef NO_FAILURES
	:: outcome = failed
#endif
#ifdef DOUBT
	:: outcome = doubtStored
	:: outcome = doubtLost
#endif
	fi
}

/* restart forgets everything that a process has in memory. */
inline restart(p) {
	core[p].pooled = false; core[p].Left = 0; core[p].Start = 0; core[p].limit = 0; core[p].unseen = false;
	i = 0;
	do
	:: i <= TIMES -> core[p].used[i] = 0; core[p].back[i] = 0; i++
	:: else -> break
	od;
	i = 0;
	do
	:: i < CALLERS ->
		if
		:: home(i) == p -> forget(i)
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0
}

inline forget(k) {
	caller[k].at = Idle;
	caller[k].begun = false; caller[k].checked = false; caller[k].moved = false;
	caller[k].Left = 0; caller[k].Start = 0; caller[k].Limit = 0; caller[k].fromLimit = 0; caller[k].fromPool = 0;
	caller[k].cost = 0; caller[k].drawn = 0; caller[k].start = 0; caller[k].granted = 0; caller[k].limit = 0;
	caller[k].began = 0; caller[k].floor = 0; caller[k].under = 0;
#if PER > 1
	caller[k].looked = false;
#endif
#ifdef EXACT
	caller[k].evaluations = 0;
	caller[k].last = false
#endif
}

/* Ahead is how much to reserve; the code's choice is one of those that are verified. */
#ifdef EXACT
inline Ahead(c) {
	C.granted = least(most(1, C.evaluations), Remaining / 2 / C.cost) * C.cost;
	C.granted = most(C.cost - held, C.granted)
}
#else
inline Ahead(c) {
	C.granted = C.cost - held;
	C.granted = C.granted + least(more, Remaining - C.granted)
}
#endif

mtype = { charge, look, recalled, limits, recallFlushed, recallNoted, takeFromPool, takeFromLimit, committed, undraw,
	end, endNoted, reserve, reservePost, fillPools, returnLowered, setLimit, recallNow, close, closeNoted, crash, clock }
#define show(what, c, x) printf("step %e %d %d %e : now %d limit %d spent %d reserved %d window %d %d granted %d hold %d pool %d\n", \
	what, c, x, outcome, now, limit, spent, reserved, StoredStart, StoredSpent, granted_ever, C.Left, P.Left)
#define show_world(what, x) printf("step %e %d %d\n", what, x, x)

#define watched(p) (caller[(p) * PER].at == Looked || caller[(p) * PER + PER - 1].at == Looked) /* the watcher's lock */
#define all_idle(p) (caller[(p) * PER].at == Idle && !caller[(p) * PER].begun && caller[(p) * PER + PER - 1].at == Idle && !caller[(p) * PER + PER - 1].begun)

proctype call(byte c) {
	byte x;
	do
	/* Charge: without a lock while the hold covers the cost. */
	:: atomic { ready(c) && (C.at == Idle) ->
		select(x : 1 .. COSTS); skip;
		d_step {
			outcome = stored;
			C.cost = x; C.began = now;
			if
			:: !C.begun -> C.begun = true; C.moved = false; C.checked = false; C.floor = limit
			:: else
			fi;
#ifdef EXACT
			C.moved = C.moved && C.last; /* chargeFirst */
#endif
			if
#ifdef FAULT_OLD_TERM_USED
			:: C.checked && C.cost <= C.Left && !C.moved ->
#else
			:: C.checked && C.cost <= C.Left && !C.moved && !Over(C.Start) ->
#endif
				C.Left = C.Left - C.cost; grant(c, C.Start)
			:: else ->
#ifdef FAULT_ANSWER_FIRST
				grantedIn[C.Start] = grantedIn[C.Start] + C.cost;
#endif
				C.at = (C.checked && has_looked -> Limits : Look)
			fi;
			leave(c);
			show(charge, c, x)
		}; x = 0
	}
#ifndef EXACT
	/* Now and then unchecked is 0. */
	:: atomic { ready(c) && (C.at == Idle && C.begun && C.checked && P.unseen) -> C.checked = false }
#endif
	/* checkForLimitsIfHeld, checkForLimits: LimitsSet and recall. */
	:: d_step { ready(c) && (C.at == Look && !watched(home(c))) ->
			outcome = stored;
#ifdef FAULT_DRAWN_UNSEEN
			set_looked(true);
#else
			set_looked(has_pools || !C.checked && has_last);
#endif
			covers = (has_pools || !C.checked && has_last);
			C.checked = true;
			if
			:: P.unseen && covers -> P.unseen = false; C.limit = limit; bump(home(c)); C.at = Looked
			:: else -> C.at = Limits
			fi;
			covers = false;
			leave(c);
			show(look, c, 0)
	}
	:: d_step { ready(c) && (C.at == Looked || C.at == Recalling) ->
			outcome = stored;
			if
			::  C.limit < P.limit -> emptyPool(home(c))
			:: else
			fi;
			bump(home(c));
			if
			:: C.at == Looked -> C.limit = 0; C.at = Limits
			:: else -> C.at = LimitNoted
			fi;
			leave(c);
			show(recalled, c, 0)
	}
	/* checkLimits; spender.recall, which flushes before it reads the balance. */
	:: atomic { ready(c) && (C.at == Limits) ->
		commit(); skip;
		d_step {
			if
			:: !C.moved -> C.at = TakeFromPool
			:: else ->
				C.moved = false;
				Flush(home(c));
				if
				:: outcome == stored || notes(home(c)) == 0 && outcome == failed -> C.at = RecallFlushed
				:: else -> C.moved = true; done(c)
				fi
			fi;
			leave(c);
			show(limits, c, 0)
		}
	}
	:: d_step { ready(c) && (C.at == RecallFlushed) ->
			outcome = stored;
			if
			:: limit < C.Limit && C.Left > 0 -> note(c, C.Left); Drop(c); C.at = RecallNoted
			:: else -> C.at = TakeFromPool
			fi;
			leave(c);
			show(recallFlushed, c, 0)
	}
	:: atomic { ready(c) && (C.at == RecallNoted) ->
		commit(); skip;
		d_step {
			Flush(home(c));
			if
			:: outcome == stored -> C.at = TakeFromPool
			:: else -> C.moved = true; done(c)
			fi;
			leave(c);
			show(recallNoted, c, 0)
		}
	}
	/* takeFromPool, under mu. */
	:: d_step { ready(c) && (C.at == TakeFromPool) ->
			outcome = stored;
			if
			:: Over(C.Start) -> note(c, 0); Drop(c)
			:: else
			fi;
			C.drawn = 0;
			if
			:: !has_looked || P.Left == 0 || Over(P.Start) || C.Left > 0 && C.Start != P.Start -> covers = (C.cost <= C.Left)
			:: else ->
				covers = (C.cost <= C.Left + P.Left);
				if
				:: covers -> note(c, 0)
				:: else
				fi;
				C.drawn = P.Left; P.Left = 0;
				C.Start = P.Start; C.Limit = most(C.Limit, P.limit); C.under = most(C.under, P.limit);
				C.fromPool = C.fromPool + C.drawn; C.Left = C.Left + C.drawn
			fi;
			if
			:: covers -> C.Left = C.Left - C.cost; grant(c, C.Start)
			:: else -> C.at = TakeFromLimit
			fi;
			covers = false;
			leave(c);
			show(takeFromPool, c, 0)
	}
	/* takeFromLimit: the transaction. */
	:: atomic { ready(c) && (C.at == TakeFromLimit) ->
		commit(); skip;
#ifndef EXACT
		select(x : 0 .. AHEAD); skip;
		more = x; x = 0;
#endif
		d_step {
			Standing();
			held = (C.Start == TermStart -> C.Left : 0);
			if
			:: C.cost > held + Remaining -> /* a refusal */
				C.at = Undraw; outcome = failed
			:: outcome == failed -> C.at = Undraw
			:: else ->
				Ahead(c);
				C.start = TermStart; C.limit = limit;
				used = unrecorded(c) + C.cost;
				if
				:: outcome == doubtLost
				:: else -> Post(used, C.granted - used, 0)
				fi;
				used = 0;
				if
				:: outcome == stored -> C.at = Committed
				:: else ->
#ifdef FAULT_HOLD_KEPT_IN_DOUBT
					C.at = Undraw
#else
					/* It may be stored that this is spent: it is neither used nor returned. */
					Drop(c); done(c)
#endif
				fi
			fi;
			if
			:: C.at == Undraw -> C.start = 0; C.granted = 0; C.limit = 0;
				if
				:: C.drawn == 0 -> done(c)
				:: else
				fi
			:: else
			fi;
			held = 0; more = 0;
			leave(c);
			show(takeFromLimit, c, 0)
		}
	}
	/* takeFromLimit: after the commit. */
	:: d_step { ready(c) && (C.at == Committed) ->
			outcome = stored;
			SetRecorded(c);
			if
			:: C.start != C.Start -> Drop(c)
			:: else
			fi;
			C.Start = C.start;
			C.Limit = most(C.Limit, C.limit); C.under = most(C.under, C.limit);
			C.fromLimit = C.fromLimit + C.granted; C.Left = C.Left + C.granted;
#ifdef EXACT
			C.evaluations = C.evaluations + most(1, C.granted / C.cost);
#endif
			C.Left = C.Left - C.cost;
			SetRecorded(c);
			grant(c, C.Start);
			leave(c);
			show(committed, c, 0)
	}
	:: d_step { ready(c) && (C.at == Undraw) ->
			outcome = stored;
			C.fromPool = C.fromPool - C.drawn; C.Left = C.Left - C.drawn;
			C.under = (C.Left > 0 -> C.under : 0);
			returnToPool(c, C.drawn);
			done(c);
			leave(c);
			show(undraw, c, 0)
	}
	/* End: endSpenders under mu. */
	:: d_step { ready(c) && (C.at == Idle && C.begun) ->
			outcome = stored;
			Unused(c);
			covers = (fromLimit > 0 || fromPool > 0 && C.moved);
			more = fromLimit;
			if
			:: fromPool > 0 -> returnToPool(c, fromPool)
			:: else
			fi;
#ifdef FAULT_RETURNED_TWICE
			P.back[C.Start] = P.back[C.Start] + more;
#endif
			note(c, more);
			forget(c);
			C.at = (covers -> EndNoted : Idle);
			covers = false; more = 0;
			leave(c);
			show(end, c, 0)
	}
	:: atomic { ready(c) && (C.at == EndNoted || C.at == LimitNoted) ->
		commit(); skip;
		d_step {
			Flush(home(c));
			if
			:: !C.begun -> C.moved = false; C.floor = 0
			:: C.begun && C.at == LimitNoted && outcome == stored -> C.floor = least(C.floor, C.limit) /* SetLimit has returned */
			:: else
			fi;
			done(c);
			leave(c);
			show(endNoted, c, 0)
		}
	}
#ifndef NO_POOLS
	/* Reserve. */
	:: d_step { ready(c) && (C.at == Idle && !C.begun) ->
		outcome = stored; C.moved = false; C.at = ReservePost; C.cost = 1;
#ifdef FAULT_LIMIT_READ_BEFORE
		Standing(); C.granted = Remaining;
#endif
		leave(c); show(reserve, c, 1)
	}
	:: atomic { ready(c) && (C.at == ReservePost) ->
		commit(); skip;
		d_step {
			Standing();
#ifdef FAULT_LIMIT_READ_BEFORE
			Remaining = C.granted; /* as it was before the transaction */
			C.granted = 0;
#endif
			if
			:: outcome == failed || C.cost > Remaining -> outcome = failed; C.moved = false; done(c)
			:: else ->
				C.start = TermStart; C.limit = limit;
				if
				:: outcome == doubtLost
				:: else -> Post(0, C.cost, 0)
				fi;
				if
				:: outcome == stored -> C.at = FillPools
				:: else -> C.moved = false; done(c)
				fi
			fi;
			leave(c);
			show(reservePost, c, 0)
		}
	}
	:: d_step { ready(c) && (C.at == FillPools) ->
			outcome = stored;
			if
#ifndef FAULT_FILLED_AFTER_RECALL
			:: C.moved -> C.moved = false; C.at = ReturnLowered
#endif
			:: else ->
				P.pooled = true;
				P.limit = C.limit;
				P.Left = (P.Start == C.start -> P.Left : 0) + C.cost; P.Start = C.start;
				C.moved = false;
				done(c)
			fi;
			leave(c);
			show(fillPools, c, 0)
	}
	:: d_step { ready(c) && (C.at == ReturnLowered) ->
			outcome = stored;
			if
			:: limit < C.limit -> P.back[C.start] = P.back[C.start] + C.cost; C.moved = false; done(c)
			:: else -> C.at = FillPools
			fi;
			leave(c);
			show(returnLowered, c, 0)
	}
#endif
#ifndef NO_LIMITS
	/* SetLimit, beside a statement or without. */
	:: atomic { ready(c) && (C.at == Idle) ->
		select(x : 0 .. LIMIT); skip;
		commit(); skip;
		d_step {
			if
			:: outcome == failed
			:: outcome == doubtLost
			:: else ->
				limit = x;
#ifdef REWINDOW
				LimitSet = now;
#endif
				i = 0;
				do
				:: i < PROCESSES -> core[i].unseen = (KEEPS_ALL || core[i].Left > 0 || caller[i].begun); i++
				:: else -> break
				od;
				i = 0;
				do
				:: i < CALLERS ->
					if
					:: caller[i].begun -> caller[i].floor = most(caller[i].floor, limit)
					:: else
					fi;
					if
					:: caller[i].at == Recalling || caller[i].at == LimitNoted -> caller[i].limit = most(caller[i].limit, limit)
					:: else
					fi;
					i++
				:: else -> break
				od;
				i = 0;
#ifndef FAULT_LIMIT_NOT_RECALLED
				C.at = (outcome == stored -> RecallNow : Idle)
#else
				C.limit = limit;
				C.at = (outcome == stored -> LimitNoted : Idle)
#endif
			fi;
			leave(c);
			show(setLimit, c, x)
		}; x = 0
	}
	/* recallNow: View and recall. */
	:: d_step { ready(c) && (C.at == RecallNow) ->
			outcome = stored;
			C.limit = limit; bump(home(c)); C.at = Recalling;
			leave(c);
			show(recallNow, c, 0)
	}
#endif
	/* Close, and Open again. */
	:: d_step { ready(c) && (c % PER == 0 && all_idle(home(c)) && (P.Left > 0 || notes(home(c)) > 0)) ->
		outcome = stored; emptyPool(home(c)); C.at = CloseNoted; leave(c); show(close, c, 0)
	}
	:: atomic { ready(c) && (C.at == CloseNoted) ->
		commit(); skip;
		d_step { Flush(home(c)); restart(home(c)); leave(c); show(closeNoted, c, 0) }
	}
	od
}

/* crash is what happens to processes at any moment. */
inline crash_of(p) {
#ifdef FAULT_REFUND_AFTER_CRASH
	reserved = reserved - core[p].Left;
	if
	:: StoredSpent > core[p].Left -> StoredSpent = StoredSpent - core[p].Left
	:: else -> StoredSpent = 0
	fi;
#endif
	restart(p)
}

proctype world() {
	byte x;
	do
	:: atomic {
		turn == NONE;
		select(x : 0 .. PROCESSES - 1); skip;
		d_step { outcome = stored; crash_of(x); check(); order_processes(); show_world(crash, x) };
		x = 0
	}
#if WINDOW > 0
	:: atomic {
		turn == NONE;
		select(x : 1 .. TIMES); skip;
		d_step {
			now = x;
			i = 0;
			do
			:: i < CALLERS -> caller[i].began = least(caller[i].began, now); i++
			:: else -> break
			od;
			i = 0;
			show_world(clock, x)
		};
		x = 0
	}
#endif
	od
}

init {
	byte c;
	atomic {
		do
		:: c < CALLERS -> caller[c].at = Idle; run call(c); c++
		:: else -> break
		od;
		c = 0;
		run world()
	}
}
