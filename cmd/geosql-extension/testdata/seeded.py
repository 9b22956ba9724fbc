"""Predictable answers of the build for tests, over new databases, arguments 1 and 2, and argument 3, which a real one has charged."""
from host import *


def answers(path):
    """Some answers on a new connection, which is closed."""
    c = connect(path)
    declare(c)
    list = [value(c, RELEASE) for _ in range(3)] + [value(c, numbers(100) + f"SELECT {f}") for f in (
        "dx_sum('a' || (i % 7), i, 0.01, 'u') FROM s", "dx_median('a' || i, i, 0.001, 'u') FROM s")]
    c.close()
    return list


one, two, real, version = sys.argv[1:]
assert value(connect(), "SELECT geosql_version()") == version + " for tests: answers can be predicted and are not private"
first = answers(one)
assert len(set(first)) == len(first), first
assert answers(":memory:") == answers(two) == first  # also in a later connection
os.environ["GEOSQL_TEST_SEED"] = "2"
assert all(a != b for a, b in zip(answers(":memory:")[:3], first))
os.environ["GEOSQL_TEST_SEED"] = "1"  # as without
assert answers(":memory:") == first

# Charges add up over connections and processes, in a file beside the database.
c = connect(one)
assert spent(c) == 0.75 and os.path.exists(one + "-ledger")
fails(connect(real), RELEASE, "no test made that ledger")
fails(connect(real), "SELECT budget_limit('ana', 'm', 100)", "no test made that ledger")
fails(connect(), f"SELECT geosql_ledger('{real}-ledger')", "no test made that ledger")
fails(connect(), "SELECT geosql_ledger('postgres://db.example/x')", "a test charges no ledger on a server, such as postgres://db.example/x")
print(first)
