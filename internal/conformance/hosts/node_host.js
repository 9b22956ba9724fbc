// Runs statements on better-sqlite3, or on node:sqlite, with the installed package
// geosql:
//
//	node node_host.js better-sqlite3 < REQUEST
//
// Reads {"database": PATH, "statements": [SQL, ..]} and writes the list of outcomes. A copy
// of the database that lives in memory is called deserialize:PATH.
'use strict';

const { readFileSync } = require('node:fs');
const geosql = require('geosql');

// What differs between the two: how to open a database, to go through the rows of a
// statement as arrays with integers as BigInt, and to tell a refusal.
const libraries = {
  'better-sqlite3': {
    open: (path) => new (require('better-sqlite3'))(copied(path)),
    rows: (statement) => {
      if (!statement.reader) return statement.run() && [];
      return statement.raw(true).safeIntegers(true).iterate();
    },
    refused: (error) => error.code === 'SQLITE_AUTH_USER',
  },
  'node:sqlite': {
    open: (path) => new (require('node:sqlite').DatabaseSync)(path, { allowExtension: true }),
    rows: (statement) => {
      statement.setReadBigInts(true);
      statement.setReturnArrays(true);
      return statement.iterate();
    },
    refused: (error) => error.errcode === 279, // SQLITE_AUTH_USER
  },
};

// What better-sqlite3 opens: a name, or the bytes of a database.
function copied(name) {
  const prefix = 'deserialize:';
  return name.startsWith(prefix) ? readFileSync(name.slice(prefix.length)) : name;
}

// A value as SQL writes it.
function literal(value) {
  if (value === null) return 'NULL';
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isInteger(value) ? value.toExponential() : String(value);
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  return `X'${Buffer.from(value).toString('hex')}'`;
}

function run(library, database, sql) {
  const outcome = { Rows: [], Error: '', Refused: false };
  try {
    for (const row of library.rows(database.prepare(sql))) outcome.Rows.push(row.map(literal));
  } catch (error) {
    outcome.Error = error.message;
    outcome.Refused = library.refused(error);
  }
  return outcome;
}

const library = libraries[process.argv[2]];
const request = JSON.parse(readFileSync(0, 'utf8'));
const database = library.open(request.database);
geosql.load(database);
process.stdout.write(JSON.stringify(request.statements.map((sql) => run(library, database, sql))));
