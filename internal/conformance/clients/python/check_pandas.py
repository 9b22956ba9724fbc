import pandas
import psycopg2
from sqlalchemy import create_engine, text

from checks import check, done, fails

engine = create_engine("postgresql+psycopg2://")


def kinds(frame):
    return {name: str(kind) for name, kind in frame.dtypes.items()}


def large():
    frame = pandas.read_sql("SELECT n, x, s FROM series", engine)
    return len(frame), int(frame.n.sum()), float(frame.x.sum()), kinds(frame)


check("read_sql of 100,000 rows", (100000, 5000050000, 625006250.0, {"n": "int64", "x": "float64", "s": "object"}), large)
check("read_sql in chunks", 100000, lambda: sum(len(c) for c in pandas.read_sql("SELECT n FROM series", engine, chunksize=9000)))
check("read_sql with parameters", [[5, 0.625]], lambda: pandas.read_sql(
    text("SELECT n, x FROM series WHERE n = :n AND x > :x"), engine, params={"n": 5, "x": 0.5}).values.tolist())
check("read_sql on a connection of psycopg2", [[1]], lambda: pandas.read_sql(
    "SELECT n FROM series WHERE n = %s", psycopg2.connect(""), params=(1,)).values.tolist())
check("read_sql_table", (1000, {"home": "object", "hour": "object", "temperature": "float64", "day": "int64"}), lambda: (
    lambda f: (len(f), kinds(f)))(pandas.read_sql_table("reading", engine, columns=["home", "hour", "temperature", "day"])))
check("read_sql_table with an index", ["Montréal"], lambda: pandas.read_sql_table("place", engine, index_col="id").loc[[2], "name"].tolist())
check("read_sql_table of a view", 297, lambda: len(pandas.read_sql_table("warm", engine)))
check("a private answer for each day", ({"day": "int64", "kwh": "float64"}, 4995.0), lambda: (
    lambda f: (kinds(f), float(f.kwh.sum())))(pandas.read_sql("SELECT day, dx_sum(kwh, 100) AS kwh FROM reading GROUP BY day", engine)))
check("dates", "datetime64[ns]", lambda: str(pandas.read_sql("SELECT hour FROM reading LIMIT 5", engine, parse_dates=["hour"]).hour.dtype))
check("missing values", (10000, "object"), lambda: (lambda s: (int(s.isna().sum()), str(s.dtype)))(pandas.read_sql("SELECT s FROM series", engine).s))
check("a mean of public numbers", 7.2, lambda: round(float(pandas.read_sql("SELECT avg(temperature) AS t FROM reading", engine).t[0]), 6))
check("an error", fails("42703", "nope"), lambda: pandas.read_sql("SELECT nope FROM reading", engine))
check("to_sql", fails("25006"), lambda: pandas.DataFrame({"a": [1]}).to_sql("new", engine))
done()
