/*
 * What the ledger's file has of one account, and what transactions do to it. Names are those of
 * the Go code: Standing and openWindow are in ledger/rules/standing.go and window.go, Post in
 * ledger/file/transaction.go and ledger/postgres/transaction.go. A term is named by its start, 0 without
 * a window; it ends at start + WINDOW.
 *
 * Macros that begin with FAULT_ plant a fault, and are not set otherwise.
 */

#ifndef LIMIT
#define LIMIT 2   /* limits are 0 to LIMIT */
#endif
#ifndef WINDOW
#define WINDOW 1  /* ticks; 0: limits have no window */
#endif
#if WINDOW == 0
#define TIMES 0
#endif
#ifndef TIMES
#define TIMES (WINDOW + 1) /* the clock shows 1 to TIMES */
#endif

byte now = 1;     /* the clock, which may be set to anything at any time */

/* Rows of the tables budget and balance. */
byte limit = LIMIT;
byte spent, reserved;
byte StoredStart, StoredSpent; /* Standing.Stored */
#ifdef REWINDOW
bool windowed = (WINDOW > 0);  /* whether the limit has a window */
byte LimitSet = 1;
#else
#define windowed (WINDOW > 0)
#define LimitSet 1
#endif

/* What no code keeps: what was granted, and used, in each term. */
byte grantedIn[TIMES + 1];
byte usedIn[TIMES + 1];
#if WINDOW == 2
#define granted_ever (grantedIn[0] + grantedIn[1] + grantedIn[2] + grantedIn[3])
#elif WINDOW == 1
#define granted_ever (grantedIn[0] + grantedIn[1] + grantedIn[2])
#else
#define granted_ever grantedIn[0]
#endif

/* A Standing as a transaction reads it. What is scratch is no part of the state. Spin's search by breadth, which
 * finds the shortest counterexample, does not know that. */
#ifdef BREADTH
#define scratch
#else
#define scratch hidden
#endif
scratch byte TermStart, WindowSpent, Remaining;
scratch byte wStart, wSpent;
scratch short change, net;

/* What is asserted: the names are those that the verifier prints. */
scratch byte window_was_over, within_limit, reserved_is_there;

inline openWindow() {
	if
	:: !windowed -> TermStart = 0; WindowSpent = 0
	:: else ->
		wStart = StoredStart; wSpent = StoredSpent;
		if
		:: wStart == 0 && spent + reserved > 0 -> wStart = LimitSet; wSpent = spent + reserved
		:: else
		fi;
		if
#ifdef FAULT_WINDOW_EARLY
		:: wStart == 0 || now > wStart -> TermStart = now; WindowSpent = 0
#else
		:: wStart == 0 || now >= wStart + WINDOW -> TermStart = now; WindowSpent = 0
#endif
		:: else -> TermStart = wStart; WindowSpent = wSpent
		fi
	fi;
	wStart = 0; wSpent = 0
}

/* Standing reads the standing at the time of the transaction. */
inline Standing() {
	openWindow();
	net = limit - (windowed -> WindowSpent : spent + reserved);
	Remaining = (net > 0 -> net : 0);
	net = 0
}

/* Post writes a change whose term is from, after Standing in the same transaction. */
inline Post(s, r, from) {
	change = r;
	if
#ifndef FAULT_RETURN_TO_NEW_WINDOW
	:: s + change < 0 && from != TermStart -> change = -(s) /* ReservedChange */
#endif
	:: else
	fi;
	net = s + change;
	reserved_is_there = (reserved + change >= 0 && (net >= 0 || !windowed || WindowSpent + net >= 0));
	assert(reserved_is_there);
	spent = spent + s;
	reserved = reserved + change;
	if /* WindowAfter */
	:: net == 0
	:: net != 0 && !windowed -> StoredStart = 0; StoredSpent = 0
	:: else ->
		window_was_over = (StoredStart == 0 || TermStart == StoredStart || TermStart >= StoredStart + WINDOW);
		assert(window_was_over);
		StoredStart = TermStart; StoredSpent = WindowSpent + net;
		usedIn[TermStart] = StoredSpent
	fi;
	within_limit = (net <= 0 || (windowed -> StoredSpent : spent + reserved) <= limit);
	assert(within_limit);
	change = 0; net = 0
}

#define Over(start) ((start) != 0 && now >= (start) + WINDOW) /* Term.Over */
#define least(a, b) ((a) < (b) -> (a) : (b))
#define most(a, b) ((a) > (b) -> (a) : (b))
