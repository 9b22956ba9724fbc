"""Opens, loads, uses and closes, over and over: nothing is left behind."""
from host import *


def resident():
    """Memory in use, bytes."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def cycle(path):
    c = connect(path)
    c.execute(RELEASE).fetchall()
    unfinished = c.execute(numbers(3) + "SELECT geoind_laplace('ana', 39.9, 116.3, 0.25) FROM s")
    unfinished.fetchone()
    unfinished.close()
    return c


path = sys.argv[1]
c = connect(path)
declare(c)
c.close()
for _ in range(300):
    cycle(path).close()
before, files, threads = resident(), len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
for _ in range(300):
    cycle(path).close()
grown = resident() - before
assert len(os.listdir("/proc/self/fd")) == files
assert len(os.listdir("/proc/self/task")) <= threads + 30  # Go's runtime starts one when it needs one; a leak would be 300
kept = [cycle(path) for _ in range(300)]
held = resident() - before - grown
print(f"300 connections held {held >> 10} kB, 300 that were closed {grown >> 10} kB")
# Had those that were closed been kept, in part or in whole, it would be seen.
assert held > 20 << 20
assert grown < 6 << 20
