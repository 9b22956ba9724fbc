// Reads a GeoParquet file with DuckDB, without extensions that would have to be downloaded:
//
//	node duckdb_reads.js FILE
//
// Writes {"types": {NAME: TYPE, ..}, "rows": [[n, WKT], ..], "geo": TEXT} as JSON.
'use strict';

const { DuckDBInstance } = require('@duckdb/node-api');

async function main(file) {
  const db = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' });
  const connection = await db.connect();
  const rows = async (sql) => (await connection.runAndReadAll(sql, { file })).getRowsJson();
  const described = await rows('DESCRIBE SELECT * FROM read_parquet($file)');
  return {
    types: Object.fromEntries(described.map(([name, type]) => [name, type])),
    rows: await rows('SELECT n, ST_AsText(geometry) FROM read_parquet($file) ORDER BY n'),
    geo: (await rows("SELECT decode(value) FROM parquet_kv_metadata($file) WHERE decode(key) = 'geo'"))[0][0],
  };
}

main(process.argv[2]).then((read) => console.log(JSON.stringify(read)));
