// Package file keeps a ledger of privacy budgets in an SQLite file, or in memory. Package
// ledger defines the guarantees of a ledger; this package keeps them in a file. It imports ledger,
// its common engine and internal/sqlite. Start at Open and, for a charge, transaction.go.
//
// # Why a charge is safe
//
// The ledger is a file of its own, written through a connection of its own, so that no
// transaction of the data it protects can roll a charge back. The file is in WAL mode with
// synchronous=FULL, set and read back: COMMIT returns when the charge has reached the disk.
// Only then is anything granted. Limit and balance are read inside the transaction that
// charges, which holds the write lock from its start (BEGIN IMMEDIATE). So any number of
// processes stop exactly at a limit.
//
// The amounts that [Ledger.Reserve] sets aside are kept in a pool for each account, in the memory of the
// process and as reserved on disk. Spenders take from the pool first, then from the limit. Their
// use is noted and written later, with other transactions: without the note the balance
// on disk is too high, never too low.
//
// # Waiting
//
// Callers of one process that wait at the same time share a transaction and its wait for the
// disk, so each waits for two transactions at most. Processes take turns in the order in which
// they asked (package turns), so a process waits for one transaction of every process that was
// waiting before it. Both hold while nobody keeps the write lock for longer than five seconds,
// such as another program in a transaction of its own. If somebody does, a charge fails after
// ten seconds at most, and nothing is granted.
//
// SQLite moves the write-ahead log into the file as it goes. The log grows beyond its usual
// four megabytes by the largest transaction, and for as long as another program keeps a read
// transaction open.
//
// # The file
//
// Table entry holds the entries, table balance their sums, table budget the limits that
// hold. Ledgers of questions also have the tables answer, seen (which role has seen which) and purse
// (the spending of roles, from the entries without a unit). The file and the files beside it are for their owner alone,
// unless [WithMode] says
// otherwise. The file has one name: see place.go. Nothing else in the process may open it:
// closing any descriptor of a file drops the POSIX locks that SQLite holds on it. While it is
// open, SQLite's -wal and -shm lie beside it, and the queue of processes, -queue, which is
// empty.
//
// Anybody who can write the file can change it. Restoring an old copy refunds later
// charges. [Ledger.Copy] makes copies that are marked, so that nobody charges one by mistake: see
// copy.go.
package file
