import asyncio

import asyncpg

from checks import check, done, fails

loop = asyncio.new_event_loop()

def wait(coroutine):
    return loop.run_until_complete(coroutine)


db = wait(asyncpg.connect(ssl="prefer"))


def ask(sql, *arguments):
    return [tuple(r) for r in wait(db.fetch(sql, *arguments))]


async def walk():
    async with db.transaction(readonly=True):
        return sum([r["n"] async for r in db.cursor("SELECT n FROM series", prefetch=7000)])


async def prepared():
    s = await db.prepare("SELECT id, name FROM place WHERE id = $1")
    return [[a.name for a in s.get_attributes()], [p.name for p in s.get_parameters()], [(await s.fetchrow(i))["name"] for i in (1, 2)]]


async def copied():
    import io
    out = io.BytesIO()
    await db.copy_from_query("SELECT id, name FROM place WHERE id < $1", 3, output=out, format="csv", header=True)
    return out.getvalue().decode()


async def pooled():
    async with asyncpg.create_pool(min_size=2, max_size=4) as pool:
        return sum(await asyncio.gather(*[pool.fetchval("SELECT $1::bigint", i) for i in range(50)]))


check("a sum is private", [(4995,)], lambda: [(float(r[0]),) for r in ask("SELECT dx_sum(kwh, 100) FROM reading")])
check("parameters of all types", [(1, 2.5, "it's", None, True, b"\x00")], lambda: ask(
    "SELECT $1::bigint, $2::float8, $3::text, $4::text, $5::boolean, $6::bytea", 1, 2.5, "it's", None, True, b"\x00"))
check("types in binary", [(1, 0.125, "text 1", b"\x00\xff\n")], lambda: ask("SELECT n, x, s, b FROM series WHERE n = $1", 1))
check("arrays", [([1], [1, 2, 3])], lambda: ask(
    "SELECT conkey, (SELECT array_agg(id) FROM place) FROM pg_constraint WHERE conname = 'place_pkey'"))
check("a list as ANY", [(1,), (3,)], lambda: ask("SELECT id FROM place WHERE id = ANY($1) ORDER BY id", [1, 3]))
check("many rows", 100000, lambda: len(ask("SELECT n, x, s FROM series")))
check("a cursor by a portal", 5000050000, lambda: wait(walk()))
check("a statement that is prepared", [["id", "name"], ["int8"], ["Paris", "Montréal"]], lambda: wait(prepared()))
check("COPY", "id,name\n1,Paris\n2,Montréal\n", lambda: wait(copied()))
check("no such column", fails("42703", "nope"), lambda: ask("SELECT nope FROM place"))
check("an INSERT", fails("25006"), lambda: ask("INSERT INTO place VALUES (9, 'x')"))
check("a timeout of the client", lambda e: isinstance(e, asyncio.TimeoutError), lambda: wait(db.fetch(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n", timeout=0.5)))
check("after the timeout", [(1,)], lambda: ask("SELECT 1::bigint"))
check("reset, as pools do", None, lambda: wait(db.reset()))
check("a pool", 1225, lambda: wait(pooled()))
wait(db.close())
done()
