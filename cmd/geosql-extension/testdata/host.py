"""What the scripts beside it share: a Python program as a host of the extension."""
import os
import sqlite3
import sys

LIBRARY = os.environ["GEOSQL_SO"]
RELEASE = "SELECT geoind_laplace('ana', 39.9, 116.3, 0.25)"
FORKED = "geosql: cannot be used in a forked child process (start a new process instead)"

# Another SQLite than the test asked for would make it prove nothing.
assert sqlite3.sqlite_version == os.environ["GEOSQL_SQLITE"], sqlite3.sqlite_version


def plain(path=":memory:"):
    """A connection without the functions, in autocommit mode, that is closed when it says so."""
    c = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=60, cached_statements=0)
    c.enable_load_extension(True)
    return c


def connect(path=":memory:"):
    c = plain(path)
    c.load_extension(LIBRARY)
    return c


def declare(c):
    for sql in (
        "SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)",
        "SELECT dx_universe('u', 0, 1000000, 1, 'kWh')",
        "SELECT budget_limit('*', 'm', 9000000), budget_limit('*', 'kWh', 9000000)",
    ):
        c.execute(sql).fetchall()


def value(c, sql):
    """The only value of the only row."""
    ((v,),) = c.execute(sql).fetchall()
    return v


def spent(c, account="ana", unit="m"):
    return c.execute("SELECT budget_spent(?, ?)", (account, unit)).fetchone()[0]


def numbers(n):
    """A table s of one column i, 1 to n."""
    return f"WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s WHERE i < {n}) "


def error(call, *args):
    """The error that a call ends with."""
    try:
        answer = call(*args)
    except sqlite3.Error as e:
        return e
    raise AssertionError(f"answers {answer}, want an error")


def fails(c, sql, part):
    e = error(lambda: c.execute(sql).fetchall())
    assert part in str(e) and "\n" not in str(e), e
    return e
