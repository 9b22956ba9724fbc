// Package frame has the common part of all SQL functions: arguments, calls, statements and sessions, the ledger that a
// database is charged to, and payers. It imports the ledger, the mechanisms' interfaces and internal/sqlite, and no family
// of functions. Start with [Function], a row of the function table, and [Call]; a [Payer] stands between each release
// and its draw.
package frame
