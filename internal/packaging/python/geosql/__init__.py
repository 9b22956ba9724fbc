"""Private answers inside SQL: the functions of geosql, for Python's sqlite3."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

__version__ = "{{.Version}}"
__all__ = ["load", "loadable_path"]


def loadable_path() -> str:
    """Return the path of the extension, without the suffix that SQLite adds."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "geosql")


def load(connection: sqlite3.Connection) -> None:
    """Load the functions into a sqlite3.Connection.

    Loading of extensions is enabled for this and disabled afterwards. In a process that
    forks, as multiprocessing does up to Python 3.13, load the functions in the children, or
    choose the start method "spawn": in a child forked after loading, every function fails.
    """
    if not hasattr(connection, "enable_load_extension"):
        raise RuntimeError("geosql: the sqlite3 module of this Python cannot load extensions")
    connection.enable_load_extension(True)
    try:
        connection.load_extension(loadable_path())
    finally:
        connection.enable_load_extension(False)
