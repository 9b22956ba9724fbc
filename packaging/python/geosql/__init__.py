"""Private answers inside SQL: the functions of geosql, for Python's sqlite3."""

import os

__version__ = "{{.Version}}"
__all__ = ["load", "loadable_path"]


def loadable_path():
    """Return the path of the extension, without the suffix that SQLite adds."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "geosql")


def load(connection):
    """Give a sqlite3.Connection the functions.

    Loading of extensions is switched on for this and off afterwards. In a process that
    forks (multiprocessing does, up to Python 3.13) load in the children, or choose the
    start method "spawn": in a child that was forked later every function refuses.
    """
    if not hasattr(connection, "enable_load_extension"):
        raise RuntimeError("geosql: the sqlite3 module of this Python cannot load extensions")
    connection.enable_load_extension(True)
    try:
        connection.load_extension(loadable_path())
    finally:
        connection.enable_load_extension(False)
