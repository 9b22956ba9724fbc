'use strict';

const path = require('node:path');

// Returns the path of the extension.
function getLoadablePath() {
  return path.join(__dirname, 'geosql.so');
}

// Loads the functions into a database of better-sqlite3 or node:sqlite (opened with
// allowExtension).
function load(database) {
  database.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
