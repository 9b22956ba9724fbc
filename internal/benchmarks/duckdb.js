// Copies the columns that a release keeps from one file to another with DuckDB, without noise:
//
//	node duckdb.js IN OUT
//
// Both are CSV or both Parquet, by their names. Writes {"seconds": N}, without the start of node.
'use strict';

const { DuckDBInstance } = require('@duckdb/node-api');

async function main(from, to) {
  const db = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' });
  const connection = await db.connect();
  const quoted = (text) => "'" + text.replaceAll("'", "''") + "'";
  const format = to.endsWith('.parquet') ? 'FORMAT parquet, COMPRESSION zstd' : 'FORMAT csv, HEADER';
  const start = process.hrtime.bigint();
  await connection.run(`COPY (SELECT id, "user", lat, lon FROM ${quoted(from)}) TO ${quoted(to)} (${format})`);
  return { seconds: Number(process.hrtime.bigint() - start) / 1e9 };
}

main(process.argv[2], process.argv[3]).then((took) => console.log(JSON.stringify(took)), (err) => {
  console.error(String(err));
  process.exitCode = 1;
});
