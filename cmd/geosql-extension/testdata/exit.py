"""Ends with connections open, a statement under way and a thread at work: argument 2 says how."""
from threading import Thread

from host import *

c = connect(sys.argv[1])
declare(c)
rows = c.execute(numbers(100) + "SELECT geoind_laplace('ana', 39.9, 116.3, 0.25) FROM s")
rows.fetchone()
other = connect(sys.argv[1])
Thread(target=lambda: other.execute(numbers(10**9) + "SELECT count(i) FROM s").fetchall(), daemon=True).start()
if sys.argv[2] == "end":
    pass
elif sys.argv[2] == "exit":
    sys.exit(0)
elif sys.argv[2] == "_exit":
    os._exit(0)
