// Package pgcatalog is PostgreSQL's catalogue of a database of SQLite. It
// imports pgfunc, internal/sqltext and internal/sqlite. Start at Install.
//
// [Install] gives a connection the relations and functions with which psql, drivers and tools
// inspect a database. [Named] and [Returns] know PostgreSQL's types and those of its functions, for package dialect.
//
// Nothing here protects anything. A session sees everything that its connection may read, and the functions
// open nothing.
package pgcatalog
