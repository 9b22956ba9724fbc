"""Interrupts stop what runs, in SQLite and in the extension, and what was released is charged."""
from threading import Event, Thread
from time import sleep

from host import *

c = connect(sys.argv[1])
declare(c)


def interrupted(sql, started, wait):
    """Runs sql and interrupts it some time after it has started; returns how many rows it gave."""
    done, rows = Event(), 0

    def interrupt():
        started.wait()
        sleep(wait)
        while not done.is_set():
            c.interrupt()

    t = Thread(target=interrupt)
    t.start()
    try:
        for _ in c.execute(sql):
            rows += 1
            if rows == 1000:
                started.set()
        raise AssertionError("came to its end")
    except sqlite3.OperationalError as e:
        assert str(e).endswith("interrupted"), e
    finally:
        done.set()
        t.join()
    return rows


rows = interrupted(numbers(10**9) + "SELECT geoind_laplace('ana', 39.9, 116.3, 0.25) FROM s", Event(), 0)
assert 0.25 * rows <= spent(c) <= 0.25 * (rows + 1), (rows, spent(c))

# Within one call of the extension, which would take minutes.
read = Event()
c.create_function("last", 0, read.set)
interrupted(numbers(250) + """SELECT optql_build(39.5 + i * 0.005, 116 + (i * 37 % 250) * 0.004, 1, 0.001, 1, 'beijing') FROM s
    WHERE i < 250 OR last() IS NULL""", read, 0.5)
before = spent(c)
assert value(c, RELEASE).startswith("POINT(") and spent(c) == before + 0.25
