"""A forked child refuses, whoever forks and whatever was under way; a new process does not."""
import ctypes
import gc
import multiprocessing

from host import *

LOAD = "error during initialization: " + FORKED
DRAWS = numbers(20) + "SELECT dx_value('ana', 500000 + 0 * i, 0.00001, 'u') FROM s"


def draws(path):
    """What a process of multiprocessing draws on a connection of its own."""
    try:
        c = connect(path)
        answer = [v for (v,) in c.execute(DRAWS)]
        c.close()
        return answer
    except sqlite3.Error as e:
        return str(e)


def check_child(c, open_rows):
    assert str(error(connect)) == LOAD
    for sql in (
        "SELECT geosql_version()",
        RELEASE,
        "SELECT * FROM geoind_laplace('ana', 39.9, 116.3, 0.25)",
        "SELECT dx_sum('ana', 3, 1, 'u')",
        "SELECT predictive_step('tour', 1, 39.9, 116.3)",
        "SELECT predictive_step('tour', 1, 39.9, 116.3) OVER (ROWS UNBOUNDED PRECEDING)",
        "SELECT * FROM ledger_balance",
        "SELECT budget_spent('ana', 'm')",
    ):
        assert str(error(lambda: c.execute(sql).fetchall())) == FORKED, sql
    for rows in open_rows:
        assert str(error(rows.fetchall)) == FORKED
    rows = None
    open_rows.clear()
    gc.collect()  # a statement keeps its connection open
    c.close()


def check_fork(c, fork, *statements):
    """Forks while statements are under way, and finishes them in the parent."""
    under_way = [c.execute(sql) for sql in statements]
    for rows in under_way:
        assert len(rows.fetchmany(2)) == 2
    pid = fork()
    if pid == 0:
        status = 1
        try:
            check_child(c, under_way)
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    for rows in under_way:
        assert len(rows.fetchall()) == 7


def check_forks(path, fork):
    c = connect(path)
    declare(c)
    c.execute("SELECT budget_limit('*', 'record', 1000)").fetchall()
    c.execute("""SELECT trace_policy('*', 'ana', 'predictive', '{"epsilon": 0.5, "steps": 5}')""").fetchall()
    c.execute("SELECT budget_reserve('ben', 'm', 50)").fetchall()
    for i in range(9):
        c.execute("SELECT geoind_laplace('eve', 39.9, 116.3, 0.25)").fetchall()
    check_fork(c, fork)
    for _ in range(3):
        check_fork(
            c,
            fork,
            numbers(9) + "SELECT geoind_laplace('ana', 39.9, 116.3, 0.25) FROM s",
            numbers(9) + "SELECT g.* FROM s CROSS JOIN geoind_laplace('ana', 39.9, 116.3, 0.25 + 0 * i) g",
            numbers(9) + "SELECT dx_value('ana', i, 1, 'u'), dx_count('ana', 1) FROM s GROUP BY i",
            "SELECT * FROM ledger_charges LIMIT 9",
        )
    assert spent(c) == 3 * 18 * 0.25
    assert spent(c, "ana", "kWh") == spent(c, "ana", "record") == 3 * 9
    assert spent(c, "ben") == 50  # no child has given it back


def check_processes(path):
    c = connect(path)
    declare(c)
    seen = [draws(path)]
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            answers = pool.map(draws, [path] * 4, 1)
        if method == "fork":
            assert answers == [LOAD] * 4, answers
        else:
            seen += answers
    seen.append(draws(path))
    # Two values are the same with a probability below epsilon: two of the 10 lists
    # anywhere below 1e-2, in half of their places below 1e-40.
    assert len(seen) == 10
    for i, a in enumerate(seen):
        for b in seen[:i]:
            assert sum(x == y for x, y in zip(a, b)) < 10, (a, b)
    assert spent(c, "ana", "kWh") == 0.002


if __name__ == "__main__":
    check_forks(sys.argv[1], os.fork)
    if hasattr(ctypes.CDLL(None), "_Fork"):  # runs no handlers
        check_forks(sys.argv[1] + "2", ctypes.CDLL(None)._Fork)
    check_processes(sys.argv[1] + "3")
