"""Releases, charges and the ledger beside the database, argument 1."""
import json

from host import *

path = sys.argv[1]
c = connect(path)
assert value(c, "SELECT geosql_version()") == sys.argv[2]
assert f"SQLite {sqlite3.sqlite_version}," in value(c, "SELECT geosql_debug()")
fails(c, RELEASE, "geoind_laplace: domain is missing")
c.execute("SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)").fetchall()
e = fails(c, RELEASE, "geoind_laplace: account 'ana' has no budget in unit 'm'; set one: SELECT budget_limit(")
assert (e.sqlite_errorcode, e.sqlite_errorname) == (279, "SQLITE_AUTH_USER"), e.sqlite_errorname
assert value(c, "SELECT geosql_last_refusal()") == (
    '{"account":"ana","unit":"m","asked":0.25,"left":0,"short":0.25,"reopens":null,"function":"geoind_laplace"}')
assert not os.path.exists(path + "-ledger")
declare(c)

# Every kind of function, each with its charge.
assert value(c, RELEASE).startswith("POINT(")
lat, lon = c.execute("SELECT lat, lon FROM geoind_laplace('ana', 39.9, 116.3, 0.25)").fetchone()
assert 39.4 <= lat <= 41.1 and 115.4 <= lon <= 117.6
assert value(c, numbers(10) + "SELECT count(g.lat) FROM s CROSS JOIN geoind_laplace('ana', 39.9 + 0 * i, 116.3, 0.25) g") == 10
assert spent(c) == 12 * 0.25
assert 0 <= value(c, numbers(1000) + "SELECT dx_sum('a' || (i % 7), i, 0.5, 'u') FROM s")
assert spent(c, "a3", "kWh") == 0.5
c.execute("""SELECT trace_policy('*', 'ana', 'predictive', '{"epsilon": 0.5, "steps": 5}')""").fetchall()
steps = c.execute(numbers(3) + """SELECT predictive_step('tour', i, 39.9, 116.3)
    OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM s""").fetchall()
assert len(steps) == 3 and all(s.startswith("POINT(") for (s,) in steps)
c.execute("CREATE VIEW released AS SELECT geoind_laplace('ben', 39.9, 116.3, 0.25) AS wkt").fetchall()
assert value(c, "SELECT wkt FROM released").startswith("POINT(") and spent(c, "ben") == 0.25
c.execute("CREATE VIEW spending AS SELECT budget_spent('ben', 'm')")
fails(c, "SELECT * FROM spending", "unsafe use of budget_spent()")

# What was charged stays charged.
for undo in ("ROLLBACK", "ROLLBACK TO p"):
    before = spent(c, "eve")
    c.execute("BEGIN" if undo == "ROLLBACK" else "SAVEPOINT p")
    c.execute("SELECT geoind_laplace('eve', 39.9, 116.3, 0.25)").fetchall()
    c.execute("CREATE TABLE t(a)")
    c.execute(undo)
    if c.in_transaction:
        c.execute("RELEASE p")
    fails(c, "SELECT * FROM t", "no such table")
    assert spent(c, "eve") == before + 0.25
c.execute("SELECT budget_limit('eve', 'm', 0.75)").fetchall()
fails(c, "SELECT geoind_laplace('eve', 39.9, 116.3, 0.5)", "account 'eve' has 0.25/m left of 0.75/m, 0.50/m asked")
fails(c, "SELECT nobody()", "no such function")
assert json.loads(value(c, "SELECT geosql_last_refusal()"))["short"] == 0.25
other = connect(path)
assert value(other, "SELECT geosql_last_refusal()") is None
other.close()
c.close()
assert sorted(os.listdir(os.path.dirname(path))) == [os.path.basename(path), os.path.basename(path) + "-ledger"]

# The ledger is on disk, and another connection finds it.
book = plain(path + "-ledger")
assert book.execute("SELECT spent FROM balance WHERE account = 'eve'").fetchone() == (500_000_000_000,)
book.close()
assert spent(connect(path), "eve") == 0.5
