'use strict';

const { optionalDependencies } = require('./package.json');

// Returns the path of the extension, which a package for this platform holds.
function getLoadablePath() {
  const platform = `${process.platform}-${process.arch}`;
  const name = `@geosql/${platform}`;
  if (!(name in optionalDependencies)) {
    const all = Object.keys(optionalDependencies).map((name) => name.replace('@geosql/', ''));
    throw new Error(`geosql: there is no extension for ${platform}, only for ${all.join(', ')}`);
  }
  try {
    return require.resolve(name);
  } catch {
    throw new Error(`geosql: the extension for ${platform} is not installed: npm installs ${name} unless it omits ` +
      'optional dependencies, or the C library of this Linux is not glibc');
  }
}

// Loads the functions into a database of better-sqlite3 or node:sqlite (opened with
// allowExtension).
function load(database) {
  database.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
