import datetime
import threading
from decimal import Decimal

import psycopg

from checks import check, done, fails

db = psycopg.connect("", autocommit=True)


def ask(sql, arguments=None, **options):
    return db.execute(sql, arguments, **options).fetchall()


def types(sql):
    return [c.type_code for c in db.execute(sql).description]


def walk(**options):
    with db.transaction(), db.cursor("walk", **options) as c:
        c.itersize = 7000
        c.execute("SELECT n FROM series WHERE n > %s ORDER BY n", (0,))
        return sum(r[0] for r in c)


def fetch():
    with db.transaction(), db.cursor("fetch") as c:
        c.execute("SELECT n, s FROM series ORDER BY n")
        return [c.fetchone(), len(c.fetchmany(100)), c.fetchone(), len(c.description)]


def held():
    with db.cursor("kept", withhold=True) as c:
        c.execute("SELECT id FROM place")
        return len(c.fetchall())


def binary_cursor():
    with db.transaction():
        c = db.cursor("walk")
        c.format = 1
        with c:
            c.execute("SELECT n, x FROM series ORDER BY n LIMIT 2")
            return c.fetchall()


def backward():
    with db.transaction(), db.cursor("back", scrollable=True) as c:
        c.execute("SELECT id FROM place")
        c.fetchall()
        c.scroll(-1)
        return c.fetchall()


def copied(sql, arguments=None):
    with db.cursor() as c, c.copy(sql, arguments) as copy:
        return b"".join(bytes(b) for b in copy).decode()


def copied_rows():
    with db.cursor() as c, c.copy("COPY (SELECT id, name FROM place ORDER BY id) TO STDOUT") as copy:
        copy.set_types(["int8", "text"])
        return list(copy.rows())


def pipelined():
    with db.pipeline():
        cursors = [db.execute("SELECT %s::bigint", (i,)) for i in range(200)]
        cursors.append(db.execute("SELECT dx_sum(kwh, 100) FROM reading"))
        return sum(c.fetchone()[0] for c in cursors)


def pipeline_error():
    with psycopg.connect("", autocommit=True) as other:
        try:
            with other.pipeline():
                first = other.execute("SELECT 1")
                other.execute("SELECT nope")
                other.execute("SELECT 3")
                first.fetchone()
        except psycopg.Error as error:
            other_answer = other.execute("SELECT 4").fetchone()
            assert other_answer == (4,)
            raise error


def noticed(sql):
    heard = []
    db.add_notice_handler(lambda d: heard.append(d.message_primary))
    ask(sql)
    return heard


def nested():
    with db.transaction():
        with db.transaction():
            db.execute("SET LOCAL geosql.epsilon = 100")
            inside = ask("SELECT sum(kwh) FROM reading")
        try:
            with db.transaction():
                db.execute("SELECT nope")
        except psycopg.Error:
            pass
        return inside + ask("SELECT 1")


def canceled():
    threading.Timer(0.5, db.cancel).start()
    return ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")


def asynchronous():
    import asyncio

    async def go():
        async with await psycopg.AsyncConnection.connect("") as other:
            return await (await other.execute("SELECT count(*) FROM place")).fetchone()

    return asyncio.run(go())


check("a sum is private", [(4995,)], lambda: ask("SELECT dx_sum(kwh, 100) FROM reading"))
check("parameters of all types", [(1, 2.5, "it's", None, True, False)], lambda: ask(
    "SELECT %s::bigint, %s::float8, %s, %s::text, %s::boolean, %s::boolean", (1, 2.5, "it's", None, True, False)))
check("parameters in binary", [(1, 2.5, "it's", b"\x00\xff", True)], lambda: ask(
    "SELECT %b::bigint, %b::float8, %b, %b::bytea, %b::boolean", (1, 2.5, "it's", b"\x00\xff", True)))
check("results in binary", [(1, 0.125, "text 1", b"\x00\xff\n")], lambda: ask("SELECT n, x, s, b FROM series WHERE n = 1", binary=True))
check("a private answer in binary", [(4995, 20)], lambda: ask("SELECT dx_sum(kwh, 100), count(DISTINCT home) FROM reading", binary=True))
check("a comparison with a parameter", [(5,)], lambda: ask("SELECT n FROM series WHERE n = %s", (5,)))
check("a decimal as a parameter", [(8,)], lambda: ask("SELECT n FROM series WHERE x = %s", (Decimal("1.0"),)))
check("a date as a parameter", [(960,)], lambda: ask("SELECT count(*) FROM reading WHERE hour < %s", (datetime.date(2024, 3, 3),)))
check("a list as ANY", [(1,), (3,)], lambda: ask("SELECT id FROM place WHERE id = ANY(%s) ORDER BY id", ([1, 3],)))
check("an array", [([1],)], lambda: ask("SELECT conkey FROM pg_constraint WHERE conname = 'place_pkey'"))
check("an array in binary", [([1],)], lambda: ask("SELECT conkey FROM pg_constraint WHERE conname = 'place_pkey'", binary=True))
check("types of columns", [20, 701, 25, 17], lambda: types("SELECT n, x, s, b FROM series LIMIT 0"))
check("a statement that is prepared", [(3,)] * 10, lambda: [ask("SELECT id FROM place WHERE id = %s", (3,), prepare=True)[0] for _ in range(10)])
check("an epsilon as a parameter", [(4995,)], lambda: ask("SELECT dx_sum(kwh, %s) FROM reading", (100,)))
check("a server-side cursor reads 100,000 rows", 5000050000, walk)
check("a server-side cursor by FETCH", [(1, "text 1"), 100, (102, "text 102"), 2], fetch)
check("a server-side cursor WITH HOLD", 3, lambda: held())
check("a server-side cursor in binary", [(1, 0.125), (2, 0.25)], binary_cursor)
check("a cursor goes forward only", fails("0A000"), backward)
check("COPY (query) TO STDOUT", "1\tParis\n2\tMontréal\n", lambda: copied("COPY (SELECT id, name FROM place WHERE id < 3 ORDER BY id) TO STDOUT"))
check("COPY as rows", [(1, "Paris"), (2, "Montréal"), (3, 'a "quoted" one')], copied_rows)
check("COPY of a private answer", "4995\n", lambda: copied("COPY (SELECT dx_sum(kwh, 100) FROM reading) TO STDOUT"))
check("COPY in binary", fails("0A000"), lambda: copied("COPY (SELECT 1) TO STDOUT (FORMAT BINARY)"))
check("pipeline mode", 19900 + 4995, pipelined)
check("an error in a pipeline", fails("42703", "nope"), pipeline_error)
check("a sealed column read bare", lambda n: any("kwh is sealed" in x for x in n), lambda: noticed("SELECT kwh FROM reading LIMIT 1"))
check("transactions within transactions", [(4995,), (1,)], nested)
check("SET LOCAL ends with its transaction", [("",)], lambda: ask("SHOW geosql.epsilon"))
check("an UPDATE", fails("25006"), lambda: ask("UPDATE place SET name = 'x'"))
check("no such table", fails("42P01", "nowhere"), lambda: ask("SELECT 1 FROM nowhere"))
check("PostgreSQL's own syntax", fails("0A000", "SQLite"), lambda: ask("SELECT 1 FROM place GROUP BY GROUPING SETS (id)"))
check("cancel", fails("57014"), canceled)
check("after cancel", [(1,)], lambda: ask("SELECT 1"))
check("rows as they come", 100000, lambda: sum(1 for _ in db.cursor().stream("SELECT n FROM series")))
check("asyncio", (3,), asynchronous)
check("info", ("ann", "open", "UTF8", "UTC", 150000), lambda: (
    db.info.user, db.info.dbname, db.info.parameter_status("client_encoding"), str(db.info.timezone), db.info.server_version))
db.close()
done()
