/*
 * Steps of traces by a lease: ledger/internal/engine/lease.go, over trace.go. Processes with a pool open, step, save and
 * close the traces of one account, some by a lease and some by a mark of their own, save them together, restart them, also
 * while their users live, and crash. Every step below is a transaction with what its caller does in memory around it, of
 * which nobody else sees anything. A step costs 1. Saved steps, gaps and what is lost of a trace are in Counted.
 */
#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef LEASING
#define LEASING PROCESSES /* so many of them have pools, and take leases */
#endif
#ifndef NAMES
#define NAMES 2    /* traces, none of which is there at first */
#endif
#ifndef POINTS
#define POINTS 2   /* of a trace, gaps too */
#endif
#ifndef MOST
#define MOST 1     /* a lease is for 1 to MOST steps of a trace that are not saved */
#endif
#define WINDOW 0
#ifndef LIMIT
#define LIMIT 2
#endif
#include "file.pml"

/* The rows of the traces and of the lease. */
typedef Row { bool there; byte User, Saved, Held, Counted }
Row rows[NAMES];
byte LeaseUser, LeaseMost, LeaseLost;
#define R rows[x]

/* What no code keeps: steps of each trace that were seen. */
byte seen[NAMES];

/* What Core keeps in memory. Random names are small numbers that nobody uses. */
typedef Core {
	byte Left;              /* pool */
	byte q_lease, q_most;   /* pool.lease, pool.most */
	byte lease;             /* Core.lease */
	byte using;             /* statement.lease */
	byte ending;
	byte head;              /* the trace that waits longest to be saved */
}
Core core[PROCESSES];
#define P core[p]

#define Closed 0
#define Open 1
#define Waiting 2
typedef Trace { byte at, user, saved, gap, held, used, points, lease; bool byLease, inDoubt }
Trace traces[PROCESSES * NAMES];
#define at(p, x) traces[(p) * NAMES + (x)]
#define T at(p, x)
#define token(p) ((p) + 1)
#define TOKENS 4

mtype = { stored, failed, doubtStored, doubtLost }; /* how a transaction ends */
scratch mtype outcome;
#define is_stored (outcome == stored || outcome == doubtStored)
#define in_doubt (outcome == doubtStored || outcome == doubtLost)

scratch byte w, n, k, held, fresh;
scratch byte broken, taken;
scratch short spends, reserves;
scratch byte seen_is_covered, lost_is_counted, follows_its_state;

/* How a transaction ends. One that fails changes nothing. */
inline commit() {
	if
	:: outcome = stored
#ifdef DOUBT
	:: outcome = doubtStored
	:: outcome = doubtLost
#endif
	fi
}

/* may_be_lost is what a restart would count, now. */
#define may_be_lost(x) (rows[x].User != 0 -> rows[x].Held : (LeaseUser != 0 -> LeaseMost : 0))
#define counted(x) ((rows[x].there -> rows[x].Counted : LeaseLost) + may_be_lost(x))
#if NAMES == 1
#define seen_of_all seen[0]
#define all_counted (seen[0] <= counted(0))
#else
#define seen_of_all (seen[0] + seen[1])
#define all_counted (seen[0] <= counted(0) && seen[1] <= counted(1))
#endif

inline check() {
	seen_is_covered = (seen_of_all <= spent + reserved);
	assert(seen_is_covered);
	lost_is_counted = all_counted;
	assert(lost_is_counted);
	w = 0; n = 0; k = 0; held = 0; fresh = 0; broken = false; taken = false; outcome = stored
}

#define knows(p, x, l) ((l) != 0 && (at(p, x).lease == (l) || core[p].lease == (l)))

#ifdef FAULT_LEASE_UNSEEN
#define checkLease(p, x) true
#else
#define checkLease(p, x) (LeaseUser == 0 && !at(p, x).byLease || knows(p, x, LeaseUser))
#endif
#ifdef FAULT_LOST_UNSEEN
#define checkLost(p, x) true
#else
#define checkLost(p, x) (rows[x].there || LeaseLost == at(p, x).gap)
#endif
#define checkUser(p, x) (rows[x].User == at(p, x).user && rows[x].Saved == at(p, x).saved && (at(p, x).user != 0 || checkLost(p, x) && checkLease(p, x)))

inline forget(p, x) {
	T.at = Closed; T.user = 0; T.saved = 0; T.gap = 0; T.held = 0; T.used = 0; T.points = 0; T.lease = 0; T.byLease = false; T.inDoubt = false
}

/* post writes what is not saved. */
inline post(p, x, back) {
	if
	:: T.points > 0 ->
		follows_its_state = (R.User == T.user && R.Saved == T.saved);
		assert(follows_its_state) /* nobody has advanced the trace since its state was read */
	:: else
	fi;
	spends = T.used; reserves = -(T.used + (back));
	if
	:: spends != 0 || reserves != 0 -> Standing(); Post(spends, reserves, 0)
	:: else
	fi;
	spends = 0; reserves = 0;
	R.there = true; R.Counted = R.Counted + T.used + T.gap; R.Saved = T.saved + T.points + (T.gap > 0 -> 1 : 0);
	R.Held = T.held - (back)
}

/* updateTraces is what a transaction does after its work: it saves the traces that wait, the first of a lease after a
 * look, and ends the lease that nobody uses. */
inline updateTraces(p) {
	w = P.head; n = 0; held = 0;
	do
	:: n < NAMES ->
		if
#ifdef FAULT_ENDED_FIRST
		:: P.ending != 0
#endif
		:: at(p, w).at == Waiting ->
			if
			:: !is_stored
#ifndef FAULT_SAVED_UNSEEN
	#ifdef FAULT_SAVED_IN_DOUBT
			:: is_stored && (at(p, w).user != 0 || at(p, w).lease != held || held == 0) && !checkUser(p, w)
#else
			:: is_stored && (at(p, w).user != 0 || at(p, w).inDoubt || at(p, w).lease != held || held == 0) && !checkUser(p, w)
#endif
#endif
			:: else ->
				held = (at(p, w).user == 0 -> at(p, w).lease : held);
				post(p, w, at(p, w).held);
				rows[w].User = 0
			fi;
			if
#ifndef FAULT_ENDED_IN_DOUBT
			:: in_doubt && P.lease == at(p, w).lease -> P.lease = 0
#endif
			:: else
			fi;
			forget(p, w)
		:: else
		fi;
		n++; w = (w + 1) % NAMES
	:: else -> break
	od;
	if
	:: is_stored && P.ending != 0 && LeaseUser == P.ending -> LeaseUser = 0; LeaseMost = 0
	:: else
	fi;
	P.ending = 0; P.head = 0;
	forget_pool_lease(p)
}

/* A lease that nobody goes by any more is not looked at. */
inline forget_pool_lease(p) {
	if
	:: P.q_lease != P.lease && P.q_lease != at(p, 0).lease && P.q_lease != at(p, NAMES - 1).lease -> P.q_lease = 0; P.q_most = 0
	:: else
	fi
}

/* endIfIdle has the next transaction end a lease that nobody uses. */
inline endIfIdle(p) {
	n = 0;
	do
	:: n < NAMES && (at(p, n).at != Open || at(p, n).lease != P.lease) -> n++
	:: else -> break
	od;
	if
	:: P.lease != 0 && P.using != P.lease && n == NAMES ->
		P.ending = (P.q_lease == P.lease -> P.lease : 0);
		P.lease = 0
	:: else
	fi;
	n = 0
}

/* newName finds a name that nobody uses, or TOKENS + 1. */
#define used_by(p, k) (LeaseUser == k || P.q_lease == k || P.using == k || P.ending == k || at(p, 0).lease == k || at(p, NAMES - 1).lease == k)
inline newName(p) {
	k = 1;
	do
	:: k <= TOKENS && used_by(p, p * TOKENS + k) -> k++
	:: else -> break
	od;
	fresh = (k <= TOKENS -> p * TOKENS + k : 0);
	k = 0
}

#define waits(p) (core[p].ending != 0 || at(p, 0).at == Waiting || at(p, NAMES - 1).at == Waiting)
#define few_gaps (LeaseLost + LeaseMost <= POINTS && rows[0].Saved <= POINTS && rows[NAMES - 1].Saved <= POINTS)

proctype use(byte p, x) {
end_of_points: /* all of them may wait for ever */
	do
	/* OpenTrace, which waits for other leases */
#ifdef FAULT_LEASE_UNSEEN
	:: d_step { T.at == Closed && R.User == 0 && R.Saved < POINTS ->
#else
	:: d_step { T.at == Closed && R.User == 0 && R.Saved < POINTS && (LeaseUser == 0 || LeaseUser == P.lease) ->
#endif
		T.at = Open; T.saved = R.Saved; T.gap = (R.there -> 0 : LeaseLost);
		T.lease = (LeaseUser == 0 -> 0 : P.lease)
	}
	/* takeLease */
	:: atomic { T.at == Open && T.user == 0 && !T.inDoubt && P.Left > 0 && (T.lease == 0 || P.q_lease != T.lease) && checkUser(p, x) ->
		if
		:: fresh = 1
		:: MOST > 1 -> fresh = MOST
		fi;
		commit(); skip;
		d_step {
			k = fresh; fresh = 0;
			held = k; /* most */
			if
			:: P.lease == 0 -> newName(p); P.lease = fresh
			:: else
			fi;
			if
			:: P.lease == 0 /* no name is left */
			:: else ->
				P.using = P.lease; fresh = P.lease;
#ifndef FAULT_TAKEN_AGAIN
				broken = (P.q_lease == P.lease && LeaseUser != P.lease);
#endif
				taken = (!broken && (LeaseUser == 0 || LeaseUser == P.lease));
				if
				:: taken && is_stored ->
					LeaseUser = P.lease;
#ifdef FAULT_MOST_SHRINKS
					LeaseMost = held
#else
					LeaseMost = most(LeaseMost, held)
#endif
				:: else
				fi;
				if
				:: taken && outcome == stored -> P.q_lease = P.lease; P.q_most = held
#ifdef FAULT_LEASED_FIRST
				:: taken && outcome == doubtLost -> P.q_lease = P.lease; P.q_most = held; T.lease = P.lease
#endif
				:: else
				fi;
				if
				:: outcome == stored && !broken && T.lease == 0 -> T.lease = P.lease
				:: else
				fi;
				updateTraces(p);
				if
				:: in_doubt || broken -> P.lease = (P.lease == fresh -> 0 : P.lease)
				:: else
				fi
			fi;
			check()
		}
	}
	/* drawByLease and Add: the step is seen, from memory alone. */
	:: d_step { T.at == Open && T.user == 0 && !T.inDoubt && T.lease != 0 && P.q_lease == T.lease && P.Left > 0 && T.used < P.q_most && T.saved + T.points < POINTS ->
		P.Left--; T.used++; T.points++; T.byLease = true; seen[x]++;
		check()
	}
	/* Reserve: the trace is marked. */
	:: atomic { T.at == Open && T.held == 0 && T.saved + T.points < POINTS && checkUser(p, x) ->
		commit(); skip;
		d_step {
			Standing();
			if
			:: P.Left == 0 && Remaining == 0 /* a refusal */
			:: else ->
				if
				:: P.Left > 0 -> P.Left--
				:: P.Left == 0 && is_stored -> spends = 0; reserves = 1; Post(spends, reserves, 0); reserves = 0
				:: else
				fi;
				if
				:: is_stored -> R.there = true; R.User = token(p); R.Held = 1 + T.used + T.gap
				:: else
				fi;
				if
				:: outcome == stored -> T.user = token(p); T.held = 1
				:: else -> T.inDoubt = true
				fi;
				updateTraces(p)
			fi;
			check()
		}
	}
	/* Add */
	:: d_step { T.at == Open && T.held > 0 -> T.held--; T.used++; T.points++; seen[x]++; check() }
	/* Save */
	:: atomic { POINTS > 1 && T.at == Open && T.points > 0 && checkUser(p, x) ->
		commit(); skip;
		d_step {
			if
			:: is_stored -> post(p, x, 0)
			:: else
			fi;
			if
			:: outcome == stored -> T.saved = R.Saved; T.used = 0; T.points = 0; T.gap = 0
			:: else -> T.inDoubt = true
			fi;
			check()
		}
	}
	/* Close */
	:: d_step { T.at == Open ->
		if
		:: T.user != 0 || T.byLease && T.points > 0 ->
			T.at = Waiting;
			P.head = (at(p, NAMES - 1 - x).at == Waiting -> NAMES - 1 - x : x)
		:: else -> forget(p, x)
		fi;
		endIfIdle(p); forget_pool_lease(p);
		check()
	}
	/* RestartTrace, whoever uses it, after saveTraces */
	:: d_step { !waits(p) && (R.User != 0 || LeaseUser != 0 && LeaseUser != P.lease) && few_gaps ->
		k = R.User;
		if
		:: LeaseUser != 0 && LeaseUser != P.lease ->
			n = 0;
			do
			:: n < NAMES ->
				if
				:: rows[n].there && rows[n].User == 0 -> rows[n].Counted = rows[n].Counted + LeaseMost; rows[n].Saved++
				:: else
				fi;
				n++
			:: else -> break
			od;
#ifdef FAULT_RESTART_REFUNDS
			Standing(); reserves = -(reserved > 0 -> 1 : 0); spends = 0; Post(spends, reserves, 0); reserves = 0;
#endif
#ifndef FAULT_NEW_FORGOTTEN
			LeaseLost = LeaseLost + LeaseMost;
#endif
			LeaseUser = 0; LeaseMost = 0
		:: else
		fi;
		if
		:: k != 0 -> R.Counted = R.Counted + R.Held; R.Saved++; R.User = 0; R.Held = 0
		:: else
		fi;
		check()
	}
	od
}

proctype process(byte p) {
end_of_points:
	do
	/* Core.Reserve */
	:: d_step { p < LEASING && P.Left == 0 && spent + reserved < LIMIT ->
		Standing(); spends = 0; reserves = 1; Post(spends, reserves, 0); reserves = 0;
		P.Left = 1; check()
	}
	/* Statement.End, before saveTraces */
	:: d_step { P.using != 0 -> P.using = 0; endIfIdle(p); forget_pool_lease(p); check() }
	/* saveTraces */
	:: atomic { waits(p) ->
		commit(); skip;
		d_step { updateTraces(p); check() }
	}
#ifndef NO_CRASHES
	/* a crash */
	:: d_step {
		n = 0;
		do
		:: n < NAMES -> forget(p, n); n++
		:: else -> break
		od;
		P.Left = 0; P.q_lease = 0; P.q_most = 0; P.lease = 0; P.using = 0; P.ending = 0; P.head = 0;
		check()
	}
#endif
	od
}

init {
	byte p, x;
	atomic {
		do
		:: p < PROCESSES ->
			run process(p); x = 0;
			do
			:: x < NAMES -> run use(p, x); x++
			:: else -> break
			od;
			p++
		:: else -> break
		od;
		p = 0; x = 0
	}
}
