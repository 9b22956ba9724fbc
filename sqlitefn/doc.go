// Package sqlitefn gives SQLite the functions of geosql: released values that
// charge the person they are about, declarations of the owner, and the views of
// the ledger.
//
// Three ways lead to a connection that has them:
//
//	db := sql.OpenDB(sqlitefn.Connector("data.db"))        // database/sql
//	driver.ConnectHook = func(c *sqlite3.SQLiteConn) error { // one's own driver
//		return sqlitefn.Register(c)
//	}
//	sqlitefn.Auto()                                        // every connection of the process
//
// On connections of the first, a statement that an account cannot pay for fails with a
// [*RefusedError]. On the others it fails with the driver's error, and SELECT
// geosql_last_refusal() on the same connection says why.
//
// # The frame and the families
//
// All functions are rows of one table (table.go), which registration, geosql_help and
// docs/reference.md use. Each family has its rows of the table beside its code, in files
// that begin with its name: location_, reading_ and trace_ release, declare_ declares,
// owner_ is for the owner. All other files are the frame. It decodes the arguments of a call
// by their kinds (argument.go, call.go), remembers what was built from the public ones
// (statement.go, session.go), and charges or counts (payer.go, binding.go, dryrun.go). The
// package holds no mathematics.
//
// A release always takes the same steps: decode and check every argument, pay, and draw
// with the receipt that the payment returns. A value that is not charged durably is not
// drawn.
package sqlitefn
