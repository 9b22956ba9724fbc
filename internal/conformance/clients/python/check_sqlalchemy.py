import sqlalchemy
from sqlalchemy import Column, MetaData, Table, bindparam, cast, create_engine, func, inspect, literal, select, text, types
from sqlalchemy.dialects import postgresql

from checks import check, done, fails

engine = create_engine("postgresql+psycopg2://", pool_pre_ping=True)
see = inspect(engine)


def ask(statement, **arguments):
    with engine.connect() as db:
        return [tuple(r) for r in db.execute(statement, arguments)]


def kinds(table):
    return {c["name"]: str(c["type"]) for c in see.get_columns(table)}


def streamed():
    with engine.connect().execution_options(stream_results=True, max_row_buffer=5000) as db:
        return sum(1 for _ in db.execute(select(series.c.n)))


def with_epsilon():
    with engine.connect() as db:
        db.execute(text("SET geosql.epsilon = 100"))
        return db.execute(select(func.sum(reading.c.kwh, type_=types.Float), func.avg(reading.c.kwh, type_=types.Float))).fetchone()


def mapped():
    from sqlalchemy.ext.automap import automap_base
    from sqlalchemy.orm import Session
    base = automap_base()
    base.prepare(engine, reflect=True)
    with Session(engine) as session:
        return session.query(base.classes.place).filter_by(id=2).one().name


check("version", (15, 0), lambda: (engine.connect().close(), engine.dialect.server_version_info)[1])
check("schemas", ["geosql", "information_schema", "public"], lambda: sorted(see.get_schema_names()))
check("the default schema", "public", lambda: see.default_schema_name)
check("tables", ["place", "reading", "sample", "series"], lambda: sorted(see.get_table_names()))
check("views", ["warm"], lambda: see.get_view_names())
check("the definition of a view", lambda sql: "SELECT home, hour, kwh" in str(sql), lambda: see.get_view_definition("warm"))
check("has_table", (True, False), lambda: (see.has_table("reading"), see.has_table("nowhere")))
check("columns and types", {"n": "BIGINT", "x": "DOUBLE_PRECISION", "s": "TEXT", "b": "BYTEA", "place_id": "BIGINT"}, lambda: kinds("series"))
check("sealed columns", {"home": "TEXT", "kwh": "BYTEA", "location": "BYTEA", "hour": "TEXT", "temperature": "DOUBLE_PRECISION", "day": "BIGINT"},
      lambda: kinds("reading"))
check("nullable", {"n": False, "x": False, "s": True, "b": True, "place_id": True}, lambda: {c["name"]: c["nullable"] for c in see.get_columns("series")})
check("columns of a view", ["home", "hour", "kwh", "temperature"], lambda: list(kinds("warm")))
check("comments of sealed columns", "sealed; universe energy, account in column home", lambda: [
    c["comment"] for c in see.get_columns("reading") if c["name"] == "kwh"][0])
check("primary key", ["n"], lambda: see.get_pk_constraint("series")["constrained_columns"])
check("no primary key", [], lambda: see.get_pk_constraint("reading")["constrained_columns"])
check("foreign keys", [(["place_id"], "place", ["id"])], lambda: [
    (k["constrained_columns"], k["referred_table"], k["referred_columns"]) for k in see.get_foreign_keys("series")])
check("indexes", [("series_by_place", ["place_id", "x"], False)], lambda: [(i["name"], i["column_names"], i["unique"]) for i in see.get_indexes("series")])
check("unique constraints", [["name"]], lambda: [u["column_names"] for u in see.get_unique_constraints("place")])
check("check constraints", [], lambda: see.get_check_constraints("series"))
check("comment of a table", {"text": None}, lambda: see.get_table_comment("series"))
check("sequences", [], lambda: see.get_sequence_names())
check("enumerations", [], lambda: see.get_enums())
meta = MetaData()
check("reflection of everything", ["place", "reading", "sample", "series", "warm"], lambda: (meta.reflect(engine, views=True), sorted(meta.tables))[1])
reading, series, place = (meta.tables.get(n, sqlalchemy.table(n)) for n in ("reading", "series", "place"))
check("a sum is private", [(4995,)], lambda: ask(select(func.dx_sum(reading.c.kwh, 100))))
check("groups", [(0, 480), (1, 480), (2, 40)], lambda: ask(
    select(reading.c.day, func.count()).group_by(reading.c.day).order_by(reading.c.day)))
check("a sum for each day", 4995, lambda: sum(r[1] for r in ask(select(reading.c.day, func.dx_sum(reading.c.kwh, 100)).group_by(reading.c.day))))
check("a join along the foreign key", [("Montréal", 1)], lambda: ask(select(place.c.name, series.c.n).join_from(series, place).where(series.c.n == 1)))
check("parameters", [(4, 0.5, "text 4")], lambda: ask(
    select(series.c.n, series.c.x, series.c.s).where(series.c.x == bindparam("x"), series.c.s.like("text%")), x=0.5))
check("IN", [(1,), (2,)], lambda: ask(select(place.c.id).where(place.c.id.in_([1, 2])).order_by(place.c.id)))
check("LIMIT and OFFSET", [(11,), (12,)], lambda: ask(select(series.c.n).order_by(series.c.n).limit(2).offset(10)))
check("ILIKE", [("Paris",)], lambda: ask(select(place.c.name).where(place.c.name.ilike("pAR%"))))
check("CAST", [("1", 2.0, 3)], lambda: ask(select(cast(literal(1), types.Text), cast(literal("2"), types.Float), cast(literal(3.0), types.BigInteger))))
check("a window", [(1, 1), (2, 3)], lambda: ask(select(place.c.id, func.sum(place.c.id).over(order_by=place.c.id)).limit(2)))
check("a common table expression", [(3,)], lambda: ask(select(func.count()).select_from(select(place).cte("p"))))
check("EXISTS, CASE and COALESCE", [("few",)], lambda: ask(
    select(sqlalchemy.case([(select(place.c.id).where(place.c.id > 5).exists(), "many")], else_=func.coalesce(None, "few")))))
check("a UNION", [(1,), (2,)], lambda: ask(select(literal(1)).union(select(literal(2)))))
check("server-side rows", 100000, lambda: streamed())
check("SET geosql.epsilon", (4995, 4.995), lambda: tuple(with_epsilon()))
check("a sum over a sealed column", fails("42804", "sealed"), lambda: ask(select(func.sum(reading.c.kwh))))
check("an INSERT", fails("25006"), lambda: ask(place.insert().values(id=4, name="x")))
check("the level of isolation", "REPEATABLE READ", lambda: engine.connect().get_isolation_level())
check("objects that are mapped", "Montréal", mapped)
engine.dispose()
done()
