//go:build planted

package planted

// Bugs of leases, by which traces take steps without a mark of their own. They show after a crash, or beside another
// process, of which an audit has none: tests find them.
var leases = []Bug{
	{
		Name: "unstored-lease", Title: "traces take steps by a lease that is not stored",
		Function: "predictive_step", Package: "ledger/file", Test: "TestConformance/Lease/LeaseLeftByACrash",
		Edits: []Edit{before("engine.trace.takeLease", "tx.TakeLeases", `
			taken = accounts
			return nil
		`)},
	},
	{
		Name: "unseen-lease", Title: "a process does not look for the leases of others",
		Function: "predictive_step", Package: "ledger/file", Test: "TestConformance/Lease/LeaseIsTaken",
		Edits: []Edit{
			instead("engine.Core.readTrace", "by.User == nil", "by.User == nil || bug"),
			instead("engine.trace.checkUser", "!t.knows(", "!bug && !t.knows("),
		},
	},
	{
		Name: "lease-ends-first", Title: "a lease ends before what was done by it is saved",
		Function: "predictive_step", Package: "ledger/file", Test: "TestConformance/Lease/LeaseEnds",
		Edits: []Edit{after("engine.Core.updateTraces", "c.waitingBytes", `
			if len(ending) > 0 {
				c.waiting, traces = traces, nil
			}
		`)},
	},
	{
		Name: "new-traces-forgotten", Title: "after a crash a restart counts what is lost of the traces that the ledger knows, and of no others",
		Function: "predictive_step", Package: "ledger/file", Test: "TestConformance/Lease/LeaseLeftByACrash",
		Edits: []Edit{first("ledger/file.transaction.BreakLeases", `return t.EndLeases(user)`)},
	},
}
