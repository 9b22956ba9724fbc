"""Releases until it is killed: alone and in scans. Writes a line for every answer."""
from host import *

c = connect(sys.argv[1])
while True:
    for n in (1, 5, 1000):
        for (wkt,) in c.execute(numbers(n) + "SELECT geoind_laplace('ana', 39.9, 116.3, 0.25) FROM s"):
            os.write(1, wkt.encode() + b"\n")
