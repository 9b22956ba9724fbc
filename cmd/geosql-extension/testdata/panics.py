"""Whatever panics becomes an error of the statement, and the host lives on."""
from host import *

c = connect()
for sql in (
    "SELECT panics()",
    "SELECT panics_step(1)",
    numbers(2000) + "SELECT panics_step(i) FROM s",
    "SELECT panics_final(1)",
    "SELECT panics_row(1) OVER (ROWS UNBOUNDED PRECEDING)",
    "SELECT panics_row(1)",
    "SELECT * FROM panics_filter(1)",
    "SELECT * FROM panics_next(1)",
):
    for _ in range(3):
        e = fails(c, sql, "geosql internal error: oh no")
        assert type(e) is sqlite3.OperationalError
    assert value(c, "SELECT 1") == 1
c.close()
assert str(error(connect)) == "error during initialization: geosql internal error: oh no"  # the second load
