'use strict';

const path = require('node:path');

// The path of the extension.
function getLoadablePath() {
  return path.join(__dirname, 'geosql.so');
}

// Gives a database of better-sqlite3 or node:sqlite (opened with allowExtension)
// the functions.
function load(database) {
  database.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
