//go:build planted

package planted

// Bugs of leases, by which traces take steps without a mark of their own. They show after a crash, or beside another
// process, of which an audit has none: tests find them.
var leases = []Bug{
	{
		Name: "unstored-lease", Title: "traces take steps by a lease that is not stored",
		Function: "predictive_step", Test: "TestConformance/Lease/LeaseLeftByACrash",
		Edits: []Edit{{
			File: "ledger/internal/engine/lease.go",
			Old:  "		taken, err = tx.TakeLeases(l.user, t.unit, accounts, most)\n",
			New: `
		if planted.Is("unstored-lease") {
			taken = accounts
			return nil
		}
` + "		taken, err = tx.TakeLeases(l.user, t.unit, accounts, most)\n",
		}},
	},
	{
		Name: "unseen-lease", Title: "a process does not look for the leases of others",
		Function: "predictive_step", Test: "TestConformance/Lease/LeaseIsTaken",
		Edits: []Edit{
			{
				File: "ledger/internal/engine/lease.go",
				Old:  "		case by.User == nil:\n",
				New:  `		case by.User == nil || planted.Is("unseen-lease"):` + "\n",
			},
			{
				File: "ledger/internal/engine/trace.go",
				Old:  "		t.user == nil && (l.User != nil || t.byLease) && !t.knows(l.User) {\n",
				New:  `		t.user == nil && (l.User != nil || t.byLease) && !t.knows(l.User) && !planted.Is("unseen-lease") {` + "\n",
			},
		},
	},
	{
		Name: "lease-ends-first", Title: "a lease ends before what was done by it is saved",
		Function: "predictive_step", Test: "TestConformance/Lease/LeaseEnds",
		Edits: []Edit{{
			File: "ledger/internal/engine/lease.go",
			Old:  "		c.waiting, c.waitingBytes, c.ending = nil, 0, nil\n",
			New: `
		if planted.Is("lease-ends-first") && len(ending) > 0 {
			traces = nil
			c.ending = nil
		} else {
			c.waiting, c.waitingBytes, c.ending = nil, 0, nil
		}
`,
		}},
	},
	{
		Name: "new-traces-forgotten", Title: "after a crash a restart counts what is lost of the traces that the ledger knows, and of no others",
		Function: "predictive_step", Test: "TestConformance/Lease/LeaseLeftByACrash",
		Edits: []Edit{{
			File: "ledger/file/trace.go",
			Old:  "	return t.exec(\"UPDATE lease SET user = NULL, most = 0, lost = lost + most WHERE user = ?1\", user)\n",
			New: `
	if planted.Is("new-traces-forgotten") {
		return t.EndLeases(user)
	}
` + "	return t.exec(\"UPDATE lease SET user = NULL, most = 0, lost = lost + most WHERE user = ?1\", user)\n",
		}},
	},
}
