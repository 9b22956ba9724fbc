"""Runs statements on Python's sqlite3 with the installed package geosql.

Reads {"database": PATH, "statements": [SQL, ..]} and writes the list of outcomes.
"""

import json
import sqlite3
import sys

import geosql


def literal(value):
    """A value as SQL writes it."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return "X'" + value.hex() + "'"
    return repr(value)


def run(connection, sql):
    rows, error, refused = [], "", False
    try:
        for row in connection.execute(sql):
            rows.append([literal(value) for value in row])
    except sqlite3.Error as e:
        error, refused = str(e), e.sqlite_errorcode & 0xFF == sqlite3.SQLITE_AUTH
    return {"Rows": rows, "Error": error, "Refused": refused}


request = json.load(sys.stdin)
connection = sqlite3.connect(request["database"], isolation_level=None)
geosql.load(connection)
json.dump([run(connection, sql) for sql in request["statements"]], sys.stdout)
