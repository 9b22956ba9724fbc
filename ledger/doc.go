// Package ledger keeps the privacy budgets of accounts on disk.
//
// An account is whoever a secret is about; its budget of one unit is an amount
// of epsilon. Every release is charged to the account before it leaves: a charge
// that returns without an error is on disk, so a crash may waste budget and
// never refunds it. Losses of one unit add: n releases at epsilon are private at
// n*epsilon (Bordenabe, Measuring Privacy with Distinguishability Metrics (2014),
// section 5.1.2, for locations). So a balance is a sum of charges, and the ledger
// is the list of them.
//
// # What makes a charge safe
//
// The ledger is a file of its own, written through a connection of its own, so
// that no transaction of the data it protects can roll a charge back. The file
// is in WAL mode with synchronous=FULL, set and read back: COMMIT returns when
// the charge has reached the disk. Only then is anything granted. Limit and
// balance are read inside the transaction that charges, which holds the write
// lock from its start (BEGIN IMMEDIATE), so any number of processes stop exactly
// at a limit.
//
// A commit takes as long as the disk does, so a [Spender] reserves ahead of use:
// what it has reserved and what it has spent both count against the limit, on
// disk, and at every moment
//
//	answers granted <= spent + reserved <= limit
//
// unless the limit was lowered afterwards. A statement that ends returns what it
// did not use; one that crashes leaves it reserved for ever. The reservations
// double with use, so a crash wastes at most about what was used before it, and
// what [Ledger.Reserve] had set aside.
//
// # Who waits for whom
//
// Callers of one process that wait at the same time share a transaction and its
// wait for the disk, so each waits for two transactions at most. Processes take
// turns in the order in which they asked (package turns), so a process waits for
// one transaction of every process that was waiting before it. Both hold while
// nobody keeps the write lock for longer than five seconds, such as another
// program in a transaction of its own; then, after ten seconds at most, a charge
// fails and nothing is granted.
//
// The write-ahead log is moved into the file as it goes. It grows beyond its usual
// four megabytes by the largest transaction, and for as long as another program
// keeps a read transaction open.
//
// # Data sets
//
// The accounts of a data set that is released as a file are charged in their order, many in
// a transaction that notes how far it is, so that a process that was killed is followed by
// one that charges only the rest: see [Release].
//
// # The file
//
// The entries are signed changes of an account's spent and reserved amounts, and
// a balance is the sum of its entries: both are written in one transaction. A
// limit is an entry too. The entries form a chain of hashes, which is evidence of
// later changes, and no more than that: see [Ledger.Verify]. Old entries can be
// moved to an archive: see [Ledger.Archive].
//
// The file and what lies beside it are for their owner alone, unless [WithMode] says
// otherwise. The file has one name: see place.go. Nothing else in the process may open
// it: closing any descriptor of a file drops the POSIX locks that SQLite holds on it.
// Beside it, while it is open, lie SQLite's -wal and -shm and the queue of processes,
// -queue, which is empty.
//
// Whoever can write the file can change it; restoring an old copy refunds what
// was charged since.
package ledger
