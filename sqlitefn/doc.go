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
// The functions stand in one table (functions.go), from which registration,
// geosql_help and docs/reference.md come. The package decodes arguments, charges
// the ledger, and hands the draw to a mechanism; it holds no mathematics.
//
// The order within a released value is always the same: decode and check every
// argument, pay, draw with the hand that the payment returns. A value that is not
// charged durably is not drawn.
package sqlitefn
