"""What psycopg 2 and 3, SQLAlchemy and pandas do with a session, as lines of text."""
import datetime, decimal, os, sys

where = dict(host="127.0.0.1", port=os.environ["PGPORT"], user="ann", password=os.environ["PGPASSWORD"], dbname="homes")


def show(*values):
    print(*[bytes(v) if isinstance(v, memoryview) else v for v in values])


def psycopg2():
    import psycopg2
    c = psycopg2.connect(**where)
    cur = c.cursor()
    cur.execute("SELECT home, dx_sum(kwh, %s) FROM reading WHERE id > %s GROUP BY home", (0.1, 2))
    show(cur.fetchall(), [d.name for d in cur.description])
    cur.execute("SELECT id, temperature, price, kwh FROM reading WHERE home = %s", ("bo",))
    show(*cur.fetchone())
    show(c.notices)
    try:
        cur.execute("SELECT sum(kwh) FROM reading")
    except psycopg2.Error as e:
        show(e.pgcode, e.diag.message_hint)
    c.rollback()
    named = c.cursor("named")
    named.itersize = 2
    named.execute("SELECT id FROM reading")
    show(list(named))
    c.commit()
    cur.copy_expert("COPY (SELECT id, home FROM reading LIMIT 1) TO STDOUT CSV HEADER", sys.stdout)
    c.commit()
    c.set_session(readonly=True, isolation_level="SERIALIZABLE", autocommit=True)
    cur.execute("SELECT id FROM reading WHERE id IN %s AND %s", ((1, 2), True))
    show(cur.fetchall())


def psycopg():
    import psycopg
    c = psycopg.connect(**where)
    c.prepared_max = 2
    for i in range(12):
        show(c.execute("SELECT id + %d FROM reading WHERE id = %%s" % (i % 4), (3,), prepare=True).fetchone())
    for sql, args in (
        ("SELECT dx_sum(kwh, %s) FROM reading WHERE home = %s", (decimal.Decimal("0.1"), "ana")),
        ("SELECT id FROM reading WHERE id = %s AND temperature > %s", ("3", "2")),
        ("SELECT count(*) FROM reading WHERE hour > %s", (datetime.datetime(2024, 3, 1, 2, 30),)),
        ("SELECT home FROM reading GROUP BY home HAVING count(*) > %s LIMIT %s", ("1", 5)),
        ("SELECT id FROM reading WHERE id = ANY(%s)", ([1, 2],)),
        ("SELECT %s, %s, %s, %s", (1, 2.5, "a", None)),
    ):
        show(c.execute(sql, args).fetchall())
    with c.cursor(name="server") as server:
        server.execute("SELECT id FROM reading WHERE id > %s", (1,))
        show(server.fetchmany(2), server.fetchall())
    with c.cursor(binary=True) as binary:
        show(*binary.execute("SELECT id, home, temperature, id = 1, price FROM reading WHERE id = 1").fetchone())
    with c.cursor().copy("COPY (SELECT id, home FROM reading LIMIT 1) TO STDOUT") as copy:
        show(b"".join(bytes(b) for b in copy))
    with c.pipeline():
        one, two = c.execute("SELECT 1"), c.execute("SELECT id FROM reading WHERE id = %s", (2,))
        show(one.fetchall(), two.fetchall())


def sqlalchemy():
    import sqlalchemy as sa
    engine = sa.create_engine("postgresql+psycopg2://ann:%s@127.0.0.1:%s/homes" % (os.environ["PGPASSWORD"], os.environ["PGPORT"]))
    about = sa.inspect(engine)
    show(about.get_table_names(), about.get_view_names(), about.get_pk_constraint("reading")["constrained_columns"])
    show([(c["name"], str(c["type"])) for c in about.get_columns("reading")])
    plain = sa.Table("plain", sa.MetaData(), autoload_with=engine)
    with engine.connect() as c:
        show(c.execute(sa.select(sa.func.sum(plain.c.n), sa.func.avg(plain.c.x)).where(plain.c.n < 4)).fetchall())
    return engine


def pandas(engine):
    import pandas
    frame = pandas.read_sql("SELECT home, temperature, temperature * 2 AS twice, id + 1 AS next, dx_value(kwh, 0.1) AS v FROM reading", engine)
    show(dict(frame.dtypes.astype(str)), frame["v"].sum())


psycopg2()
psycopg()
pandas(sqlalchemy())
