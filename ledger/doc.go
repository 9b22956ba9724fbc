// Package ledger defines the interface of a ledger of privacy budgets, and holds the rules that every
// ledger keeps. Package ledger/file is the engine that keeps one in an SQLite file, and
// ledger/postgres the one that keeps it on a PostgreSQL server. Both pass the suite of
// package ledger/ledgertest. It imports budget. Start at Ledger and Charge.
//
// An account is the person or thing that a secret is about. Its budget of one unit is an amount of epsilon.
// Every release is charged to the account before it leaves. Losses of one unit add up: n
// releases at epsilon are private at n*epsilon (Bordenabe, Measuring Privacy with
// Distinguishability Metrics (2014), section 5.1.2, for locations). So a balance is a sum of
// charges, and the ledger is the list of them.
//
// # Guarantees of an engine
//
// A charge that returns without an error is stored durably. A crash may waste budget and never
// refunds it. No transaction of the data that the ledger protects can roll a charge back.
//
// Limit and balance are read under a lock that excludes every other charge until the charge is
// stored. So any number of processes stop exactly at a limit.
//
// Storing a charge takes as long as the disk does, so a [Spender] reserves ahead of use, and so does a
// [Statement] that charges groups with the same accounts. Reserved and spent amounts
// both count against the limit, in the store, and at every moment
//
//	answers granted <= spent + reserved <= limit
//
// unless the limit was lowered afterwards. A statement that ends returns its unused reservation.
// One that crashes leaves it reserved for ever. The reservations double with use, so a crash
// wastes at most about as much as was used before it, and the amounts that [Charger.Reserve] had set aside.
// [Hold] has the arithmetic.
//
// A limit that is lowered takes back the unused reservations under it: see
// [Limits.SetLimit].
//
// # Data sets
//
// The accounts of a data set that is released as a file are charged in their order, many in a
// transaction that stores how far it is. After a process was killed, the next one charges only
// the rest: see [Release].
//
// # Questions
//
// An answer over the secrets of many accounts is drawn once and remembered. It is drawn inside the
// transaction that charges for it, after everything that could refuse it, and leaves when both
// are stored: so an answer that was seen was paid for, and the same question asked again gives
// nothing new away and costs nobody anything. See [Question] for the identity of questions,
// [Choose] for which answer it gets, and [Member] for answers that cost less beside others.
//
// A role that asks has a budget of its own for each account ([RoleBudget]), which is charged
// beside the account. That bounds how much one analyst uses of everybody's budget. It is no loss
// of the account's, so no balance shows it.
//
// Nothing is forgotten: erasing a person changes the rows that a question is about, and with them
// its Key.
//
// # Entries
//
// An [Entry] changes the spent and reserved amounts of an account, or sets its limit. A balance is the
// sum of its entries: both are stored in one transaction. The entries form a chain of hashes,
// which [Head.Next] continues. The chain is evidence of later changes and no more than that: see
// [Chain.Verify]. Old entries can be moved to an archive: see [Chain.Archive].
//
// # Rules for engines
//
// The common part of engines is in package ledger/internal/engine: statements that reserve ahead,
// traces, releases and questions, over a store that has transactions.
//
// An engine checks its arguments with [CheckCharge], [CheckLimit], [MergeItems],
// [CheckOrdered] and [Question.Normalize]. In a transaction it reads a [Standing], which knows the remaining budget of the
// account
// and how its window goes on. It writes the Entry and the balance that follow. For a role budget it
// writes an Entry with the account that [RoleBudget.EntryAccount] returns. Times are in
// microseconds since 1970.
package ledger
