"""Checks what the package geosql promises, and prints its version."""

import os
import sqlite3

import geosql

connection = sqlite3.connect(":memory:")
geosql.load(connection)
geosql.load(connection)  # harmless
assert os.path.exists(geosql.loadable_path() + (".dll" if os.name == "nt" else ".so"))

# The loading of extensions is off again.
for load in (
    lambda: connection.load_extension(geosql.loadable_path()),
    lambda: connection.execute("SELECT load_extension(?)", [geosql.loadable_path()]),
):
    try:
        load()
    except sqlite3.OperationalError as error:
        assert str(error) == "not authorized", error
    else:
        raise AssertionError("extensions can still be loaded")


class Without:
    """A connection of a Python that was built to load no extensions."""


try:
    geosql.load(Without())
except RuntimeError as error:
    assert str(error) == "geosql: the sqlite3 module of this Python cannot load extensions"
else:
    raise AssertionError("nothing was loaded")

(version,) = connection.execute("SELECT geosql_version()").fetchone()
assert version == geosql.__version__
print(version)
