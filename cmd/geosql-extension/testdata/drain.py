"""Releases until it is refused, alone and in scans, and prints how many answers it got."""
from host import *

c = connect(sys.argv[1])
answers = 0
try:
    while True:
        for n in (1, 7):
            for _ in c.execute(numbers(n) + "SELECT geoind_laplace('ana', 39.9, 116.3, 0.25) FROM s"):
                answers += 1
except sqlite3.Error as e:
    assert e.sqlite_errorname == "SQLITE_AUTH_USER", e
print(answers, end="")
