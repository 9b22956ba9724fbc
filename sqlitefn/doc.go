// Package sqlitefn gives SQLite the functions of geosql: released values that
// charge the person they are about, declarations of the owner, and the views of
// the ledger. It imports its own frame and families. Start at functions.go.
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
// Each function is a row of one table, which registration, geosql_help and docs/reference use:
// functions.go makes it of the rows of the families. The families release (internal/location, reading
// and trace), declare (declare), or are for the owner (owner). They import internal/frame, which decodes
// the arguments of a call, remembers plans that were built from the public ones, and charges or counts; and two packages
// that several of them need: internal/declared reads declarations, internal/unseal opens sealed values. No
// family imports another one, and none of these packages holds mathematics. This package gives connections the
// functions, and names the types that other programs need of the packages below it (api.go).
//
// A release always takes the same steps: decode and check every argument, pay, and draw
// with the receipt that the payment returns. A value that is not charged durably is not
// drawn.
package sqlitefn
