import threading
import time

import psycopg2
import psycopg2.errors
import psycopg2.extras

from checks import check, done, fails

db = psycopg2.connect("")
cursor = db.cursor()


def ask(sql, arguments=None):
    cursor.execute(sql, arguments)
    return cursor.fetchall()


def types(sql):
    cursor.execute(sql)
    return [psycopg2.extensions.string_types[c.type_code].name if c.type_code in psycopg2.extensions.string_types else c.type_code
            for c in cursor.description]


def failing(sql):
    try:
        return ask(sql)
    finally:
        db.rollback()


def rows_as_dictionaries():
    with db.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as c:
        c.execute("SELECT id, name FROM place WHERE id = 1")
        return c.fetchall()


def named(**options):
    with db.cursor("walk", **options) as c:
        c.itersize = 7000
        c.execute("SELECT n FROM series WHERE n > %s ORDER BY n", (0,))
        return sum(r[0] for r in c)


def backward():
    with db.cursor("back", scrollable=True) as c:
        c.execute("SELECT id FROM place")
        c.fetchall()
        c.scroll(-1)
        return c.fetchall()


def copied(sql):
    import io
    out = io.StringIO()
    cursor.copy_expert(sql, out)
    return out.getvalue()


def position(sql):
    try:
        failing(sql)
    except psycopg2.Error as error:
        return error.diag.statement_position


def swallow(sql):
    try:
        cursor.execute(sql)
    except psycopg2.Error:
        pass


def noticed(sql):
    db.notices.clear()
    ask(sql)
    return db.notices


def canceled():
    threading.Timer(0.5, db.cancel).start()
    return ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")


def refused():
    poor = psycopg2.connect("user=poor")
    c = poor.cursor()
    c.execute("SELECT dx_sum(kwh, 0.3) FROM reading WHERE day = 0")
    poor.commit()
    c.execute("SELECT dx_sum(kwh, 0.25) FROM reading WHERE day = 0")
    return c.fetchall()


def refusal(error):
    return fails("53400")(error) and error.diag.message_detail and error.diag.message_hint and "home " not in str(error)


check("server version", 150000, lambda: db.server_version)
check("a sum is private", [(4995,)], lambda: ask("SELECT dx_sum(kwh, 100) FROM reading"))
check("parameters of all types", [(1, 2.5, "it's", None, 1, 0)], lambda: ask(
    "SELECT %s + 0, %s, %s, %s, %s, %s", (1, 2.5, "it's", None, True, False)))
check("a parameter in an IN list", [(1, "Paris"), (2, "Montréal")], lambda: ask("SELECT id, name FROM place WHERE id IN %s ORDER BY 1", ((1, 2),)))
check("a list as ANY", [(1,), (3,)], lambda: ask("SELECT id FROM place WHERE id = ANY(%s) ORDER BY id", ([1, 3],)))
check("a text with quotes", [('a "quoted" one',)], lambda: ask("SELECT name FROM place WHERE name = %s", ('a "quoted" one',)))
check("bytea", [b"\x00\xff\n"], lambda: [bytes(ask("SELECT b FROM series WHERE n = 1")[0][0])])
check("bytea as a parameter", [(1,)], lambda: ask("SELECT n FROM series WHERE b = %s ORDER BY n LIMIT 1", (psycopg2.Binary(b"\x00\xff\n"),)))
check("NULL", [(None,)], lambda: ask("SELECT s FROM series WHERE n = 10"))
check("types of columns", ["LONGINTEGER", "FLOAT", "STRING", "BINARY"], lambda: types("SELECT n, x, s, b FROM series LIMIT 0"))
check("an epsilon as a parameter", [(4995,)], lambda: ask("SELECT dx_sum(kwh, %s) FROM reading", (100,)))
check("groups", [(0, 24), (1, 24), (2, 2)], lambda: ask(
    "SELECT day, count(DISTINCT hour) FROM reading GROUP BY day ORDER BY day"))
check("executemany", 3, lambda: (cursor.executemany("SELECT %s", [(1,), (2,), (3,)]), 3)[1])
check("execute_values", [("1", "a"), ("2", "b")], lambda: psycopg2.extras.execute_values(
    cursor, "SELECT * FROM (VALUES %s) AS t", [(1, "a"), (2, "b")], fetch=True))
check("a dictionary for each row", [{"id": 1, "name": "Paris"}], lambda: [dict(r) for r in rows_as_dictionaries()])
check("a server-side cursor reads 100,000 rows", 5000050000, named)
check("a cursor goes forward only", fails("0A000"), backward)
db.rollback()
check("COPY (query) TO STDOUT", "1\tParis\n2\tMontréal\n", lambda: copied("COPY (SELECT id, name FROM place WHERE id < 3 ORDER BY id) TO STDOUT"))
check("COPY .. WITH CSV HEADER", 'id,name\n3,"a ""quoted"" one"\n', lambda: copied(
    "COPY (SELECT id, name FROM place WHERE id = 3) TO STDOUT WITH CSV HEADER"))
check("COPY of a table", 3, lambda: copied("COPY place TO STDOUT").count("\n"))
check("COPY FROM STDIN", fails("25006"), lambda: copied("COPY place FROM STDIN"))
db.rollback()
check("no such column", fails("42703", "nope"), lambda: failing("SELECT nope FROM place"))
check("the position of an error", "8", lambda: position("SELECT nope FROM place"))
check("an INSERT", fails("25006"), lambda: failing("INSERT INTO place VALUES (4, 'x')"))
check("is a ReadOnlySqlTransaction", lambda e: isinstance(e, psycopg2.errors.ReadOnlySqlTransaction), lambda: failing("DELETE FROM place"))
check("a failed transaction", fails("25P02"), lambda: (swallow("SELECT nope"), ask("SELECT 1"))[1])
db.rollback()
check("a sum over a sealed column", fails("42804", "sealed"), lambda: failing("SELECT sum(kwh) FROM reading"))
check("a sealed column read bare", lambda n: any("kwh is sealed" in x for x in n), lambda: noticed("SELECT kwh FROM reading LIMIT 1"))
check("SET geosql.epsilon", [(4995, 4.995, 0, 10)], lambda: (cursor.execute("SET geosql.epsilon = 100"), ask(
    "SELECT sum(kwh), avg(kwh), min(kwh), max(kwh) FROM reading"))[1])
db.rollback()
check("the setting ends with ROLLBACK", [("",)], lambda: ask("SHOW geosql.epsilon"))
check("readonly, isolation and autocommit", True, lambda: (db.rollback(), db.set_session(
    readonly=True, isolation_level="REPEATABLE READ", autocommit=True), db.readonly)[2])
check("a transaction with READ WRITE", fails("25006"), lambda: (db.set_session(readonly=False, autocommit=False), ask("SELECT 1"))[1])
db.rollback()
db.set_session(readonly=None, isolation_level="DEFAULT", autocommit=True)
check("cancel", fails("57014"), canceled)
check("after cancel", [(1,)], lambda: ask("SELECT 1"))
check("statement_timeout", fails("57014", "timeout"), lambda: (cursor.execute("SET statement_timeout = 200"), ask(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"))[1])
cursor.execute("RESET ALL")
check("a wrong password", lambda e: "password authentication failed" in str(e), lambda: psycopg2.connect("password=wrong"))
check("a role that is not there", lambda e: "password authentication failed" in str(e), lambda: psycopg2.connect("user=nobody"))
check("a database that is not there", lambda e: "nowhere" in str(e), lambda: psycopg2.connect("dbname=nowhere"))
check("a refusal has detail and hint, and names nobody", refusal, refused)
check("an epsilon above the role's", fails("42501"), lambda: psycopg2.connect("user=poor").cursor().execute("SELECT dx_sum(kwh, 0.45) FROM reading"))
db.close()
done()
