"""Runs statements on Python's sqlite3 with the installed package geosql.

Reads {"database": PATH, "statements": [SQL, ..]} and writes the list of outcomes. A
copy of the database that lives in memory is called deserialize:PATH.
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
        error, refused = str(e), e.sqlite_errorcode == sqlite3.SQLITE_AUTH_USER
    return {"Rows": rows, "Error": error, "Refused": refused}


def connect(name):
    path = name.removeprefix("deserialize:")
    if path == name:
        return sqlite3.connect(path, isolation_level=None)
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with open(path, "rb") as file:
        connection.deserialize(file.read())
    return connection


request = json.load(sys.stdin.buffer)  # in UTF-8, whatever is usual on the platform
connection = connect(request["database"])
geosql.load(connection)
json.dump([run(connection, sql) for sql in request["statements"]], sys.stdout)
