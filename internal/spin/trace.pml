/*
 * Who uses a trace: ledger/internal/engine/trace.go. Processes open, use, save, close and restart one trace,
 * and crash. The fencing token is the random name of a use, TraceRow.User. A step costs 1.
 */
#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef STEPS
#define STEPS 3    /* points of the trace, gaps too */
#endif
#define WINDOW 0
#define LIMIT 4
#include "file.pml"

/* The row of the trace. */
byte User, Saved, Held;

/* What no code keeps: steps that were seen. */
byte seen_steps;

typedef Trace {
	bool open;
	byte user, saved, held, used, points;
}
Trace traces[PROCESSES];
#define T traces[p]
#define token(p) ((p) + 1)

scratch short spends, reserves;
scratch byte seen_is_covered, follows_its_state;

inline check() {
	seen_is_covered = (seen_steps <= spent + reserved);
	assert(seen_is_covered)
}

inline forget() { T.open = false; T.user = 0; T.saved = 0; T.held = 0; T.used = 0; T.points = 0 }

#ifdef FAULT_UNFENCED
#define checkUser(p) true
#else
#define checkUser(p) (User == T.user && Saved == T.saved)
#endif

/* save writes in a transaction. What returns is what was held, if the user is done. */
inline save(finished, back) {
	Standing();
	if
	:: T.points > 0 -> 
		follows_its_state = (Saved == T.saved);
		assert(follows_its_state) /* nobody has advanced the trace since its state was read */
	:: else
	fi;
	spends = T.used; reserves = -(T.used + back);
	Post(spends, reserves, 0);
	spends = 0; reserves = 0;
	Saved = T.saved + T.points; Held = T.held - back; User = (finished -> 0 : T.user);
	T.saved = Saved; T.held = Held; T.used = 0; T.points = 0
}

proctype use(byte p) {
end_of_points: /* all of them may wait for ever: a trace has STEPS points */
	do
	/* OpenTrace */
	:: d_step { !T.open && User == 0 && Saved < STEPS -> T.open = true; T.saved = Saved }
	/* Reserve, with one step ahead */
	:: d_step { T.open && T.held == 0 && Saved < STEPS ->
		Standing();
		if
		:: checkUser(p) && Remaining > 0 ->
			reserves = least(2, Remaining);
			Post(spends, reserves, 0);
			T.held = reserves; reserves = 0; T.user = token(p);
			User = T.user; Held = T.held + T.used
		:: else
		fi;
		check()
	}
	/* Add: the step is seen, from memory alone. */
	:: d_step { T.open && T.held > 0 && T.saved + T.points < STEPS ->
		T.held--; T.used++; T.points++; seen_steps++;
		check()
	}
	/* Save */
	:: d_step { T.open && T.points > 0 && checkUser(p) -> save(false, 0); check() }
	/* Close; after an error the trace stays taken. */
	:: d_step { T.open ->
		if
		:: (T.user != 0 || T.points > 0) && checkUser(p) -> save(true, T.held)
		:: else
		fi;
		forget(); check()
	}
	/* RestartTrace, whoever uses it. */
	:: d_step { User != 0 && Saved < STEPS -> Saved++; User = 0; Held = 0; check() }
	/* a crash */
	:: d_step { T.open -> forget() }
	od
}

init {
	byte p;
	atomic {
		do
		:: p < PROCESSES -> run use(p); p++
		:: else -> break
		od;
		p = 0
	}
}
