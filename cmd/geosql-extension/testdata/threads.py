"""Eight threads with connections of their own, and many short-lived ones."""
from threading import Barrier, Thread

from host import *

THREADS, STATEMENTS = 8, 25
path = sys.argv[1]
failed = []


def run(n, work):
    """Runs work(0) to work(n - 1) in threads."""

    def kept(i):
        try:
            work(i)
        except BaseException as e:
            failed.append(e)

    threads = [Thread(target=kept, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed, failed


barrier = Barrier(THREADS)


def load_first(i):
    c = plain(path)
    barrier.wait()
    c.load_extension(LIBRARY)
    c.close()


run(THREADS, load_first)
c = connect(path)
declare(c)


def release(i):
    c = connect(path)
    for _ in range(STATEMENTS):
        assert len(c.execute(numbers(20) + "SELECT geoind_laplace('all', 39.9, 116.3, 0.25) FROM s").fetchall()) == 20
        c.execute(numbers(20) + f"SELECT dx_sum(CASE i % 2 WHEN 0 THEN 'all' ELSE 'a{i}' END, i, 0.5, 'u') FROM s").fetchall()
    c.close()


run(THREADS, release)
assert spent(c, "all", "m") == THREADS * STATEMENTS * 20 * 0.25
assert spent(c, "all", "kWh") == THREADS * STATEMENTS * 0.5
assert spent(c, "a0", "kWh") == STATEMENTS * 0.5
assert value(c, "SELECT sum(reserved) FROM ledger_balance") == 0

before = len(os.listdir("/proc/self/task"))
for _ in range(100):
    run(1, lambda i: value(c, RELEASE))
assert len(os.listdir("/proc/self/task")) <= before + 30  # Go's runtime starts one when it needs one; a leak would be 100
assert spent(c) == 100 * 0.25
