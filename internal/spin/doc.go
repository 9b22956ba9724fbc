// Package spin has the protocol of the ledger as a model in Promela, which SPIN checks in every state: ledger.pml has
// how processes reserve ahead, charge, return, crash and restart while limits are set and windows open
// (ledger/internal/engine: spender.go, pool.go, note.go, recall.go, limit.go), trace.pml who uses a trace, lease.pml
// how traces take steps by a lease and are saved together (lease.go), file.pml the steps of a transaction in the file. Names
// are the code's.
//
// Left out: several accounts and units, ChargeOnce, Charge without a statement, questions, releases, and that callers of one
// process share a transaction. With one caller in each process, steps that change its memory alone follow at once.
// PER=2 has two, and leaves nothing out. DOUBT has transactions that may be stored although they fail, which are an
// engine.InDoubtError. Leases are modelled without limits that change and windows, and with one caller in each process.
package spin
