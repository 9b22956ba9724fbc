"""Connects as Datasette does and releases from three threads."""

import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor

import geosql


def connect():
    connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, check_same_thread=False)
    connection.enable_load_extension(True)
    connection.execute("SELECT load_extension(?)", [geosql.loadable_path()])
    return connection


def release(_):
    connection = connect()
    try:
        return len(connection.execute("SELECT geoind_laplace('ana', 48.86, 2.34, 0.01)").fetchall())
    finally:
        connection.close()


with ThreadPoolExecutor(3) as threads:
    released = sum(threads.map(release, range(12)))

connection = connect()
(spent,) = connection.execute("SELECT budget_spent('ana', 'm')").fetchone()
connection.set_progress_handler(lambda: 1, 1000)
try:
    connection.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(geosql_version()) FROM n").fetchall()
    ended = "not interrupted"
except sqlite3.OperationalError as error:
    ended = str(error)
print(f"{released} released, {spent} spent, {ended}")
