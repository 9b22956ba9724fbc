"""Loading, again and under whatever circumstances."""
import shutil

from host import *

path = sys.argv[1]
c = connect(path)
declare(c)
c.execute(RELEASE).fetchall()
c.load_extension(LIBRARY)
rows = c.execute("SELECT geoind_laplace('ana', 39.9, 116.3, 0.25) FROM (VALUES (1), (2), (3))")
rows.fetchone()
load = "SELECT load_extension(?)"
c.execute(load, (LIBRARY,)).fetchall()  # while a statement of its functions runs
c.execute(load + " FROM (VALUES (1), (2))", (LIBRARY,)).fetchall()
assert len(rows.fetchall()) == 2
assert spent(c) == 1

fresh = plain(path)
running = fresh.execute("VALUES (1), (2)")
running.fetchone()
fresh.execute(load, (LIBRARY,)).fetchall()
assert spent(fresh) == 1
assert running.fetchall() == [(2,)]

# The ledger of a database in memory is in memory too.
memory = connect()
declare(memory)
assert value(memory, RELEASE).startswith("POINT(") and spent(memory) == 0.25 and spent(c) == 1

# A function of the host's that is in use cannot be replaced.
own = plain()
own.create_function("geo_region", 2, lambda *a: None)
running = own.execute("VALUES (1), (2)")
running.fetchone()
fails(own, f"SELECT load_extension('{LIBRARY}')", "geosql: cannot register geo_region: unable to delete/modify user-function due to active statements")
running.close()
own.load_extension(LIBRARY)
assert value(own, "SELECT geosql_version()")

# The generic entry serves a file of any name, in a process of its own.
if len(sys.argv) == 2:
    other = path + "-linux-x64.so"
    shutil.copy(LIBRARY, other)
    os.environ["GEOSQL_SO"] = other
    os.execv(sys.executable, [sys.executable, __file__, path + "2", "renamed"])
