// Package postgres keeps ledgers on PostgreSQL servers, for processes on many machines. A ledger
// is the schema geosql of a database. It imports ledger, its common engine and pgx. Start at Open
// and, for a charge, transaction.go.
//
// # Transactions
//
// A transaction takes two round trips. The first makes the commit durable, locks the row of this
// process as a writer, and locks and reads the balances of the accounts that will be charged, in
// ascending order of their keys, and their limits. The second writes entries and balances, and
// commits. In between the work runs on the data read. Nothing of it depends on the session, so that
// PgBouncer may stand in between and hand out its connections for a transaction at a time.
//
// # Writers
//
// Each process is a writer with a chain of entries of its own: entries are named by their writer
// and their number in its chain. It also keeps its last entry in a file. In every
// transaction the server has to know exactly that entry as its last: a server that lacks an entry that it
// has acknowledged, because it was restored from an older copy or because a replica that was behind
// took over, is refused until the owner accepts the loss. The number also tells whether a
// COMMIT with a lost answer was stored.
//
// # Durability
//
// Each transaction checks that its commit waits for the disk: synchronous_commit is set for the
// transaction where a role or a database has switched it off, and a server without fsync or
// full_page_writes is refused, as is one in recovery. A standby that commits wait for must be named in
// the server's synchronous_standby_names; a commit that was told to wait no more grants nothing.
//
// # Roles
//
// A role that makes ledgers needs CREATE on the database. One that reads a ledger needs USAGE on
// schema geosql and SELECT on its tables; one that charges needs INSERT, UPDATE and DELETE too, and
// USAGE on its sequences. CREATE on the schema is for its owner alone. Functions of other schemas are never
// called: see pinSQL.
//
// # Files on this machine
//
// The files of writers are in the folder that GEOSQL_STATE_DIR names, else in $XDG_STATE_HOME/geosql,
// else in ~/.local/state/geosql (on Windows %LOCALAPPDATA%\geosql, which does not roam), below the
// ledger's ID. They are not for copying: two machines with the same files would write under one
// name. A machine without them, such as a container that has just been made, cannot check for earlier
// acknowledged entries, so the folder should outlive the container. After the end of a
// machine's power a file may say an earlier entry than the last; then the loss of the entries in
// between would not be noticed from that file alone.
//
// # Heads and archives
//
// A head stands for the last entries of all writers. The server keeps which they were, for every
// head that somebody was told. An archive is a file of JSON lines: the first names the ledger, each
// other is an entry with its writer, its number in the writer's chain and its hash.
package postgres
