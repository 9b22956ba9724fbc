// Package declaration has the tables of a database in which its owner's declarations about locations
// and readings are, and the id of the ledger that the database is charged to. It also looks at tables of
// geosql's, these and others, before they are used: somebody may have edited the file. It imports
// internal/sqlite. Start at Use and Named.
package declaration

// Schema creates the tables in the main database, unless they are there. Their names include main,
// so that a temporary table cannot take their place.
const Schema = `
CREATE TABLE IF NOT EXISTS main.geosql_domain(
  name TEXT PRIMARY KEY, south REAL NOT NULL, west REAL NOT NULL,
  north REAL NOT NULL, east REAL NOT NULL, step_m REAL NOT NULL, region TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.geosql_region(domain TEXT PRIMARY KEY NOT NULL, rows BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS main.geosql_universe(
  name TEXT PRIMARY KEY, lo REAL NOT NULL, hi REAL NOT NULL,
  step REAL NOT NULL, unit TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.geosql_ledger(id TEXT PRIMARY KEY) WITHOUT ROWID;`

// Tables are the names of the tables that have declarations. Each may be missing.
var Tables = []string{"geosql_domain", "geosql_region", "geosql_universe"}
