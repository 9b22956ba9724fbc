// Package dialect reads the statements of clients of PostgreSQL. It imports pgcatalog, pgfunc and internal/sqltext. Start at
// Parse and Description.Rewrite.
//
// [Parse] finds the statements that the server itself has to answer, such as SET and FETCH. [Describe] tells the types of a query's
// columns and parameters, and [Rewrite] turns it into SQLite's SQL. The dialect stays SQLite's: a feature of PostgreSQL that SQLite
// lacks is an error that says so.
package dialect
