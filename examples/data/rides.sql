-- The rides of rides.csv, made up: 60 riders, ten rides each in a week, most of them near one of
-- four places of Lisbon.
--
--   geosql -csv made.db < examples/data/rides.sql > examples/data/rides.csv

WITH RECURSIVE
  place(i, lat, lon) AS (VALUES (0, 38.7115, -9.1371), (1, 38.7369, -9.1427), (2, 38.7678, -9.0990), (3, 38.6979, -9.2066)),
  ride(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM ride WHERE n < 599)
SELECT printf('rider %02d', n % 60 + 1) AS rider,
       strftime('%Y-%m-%dT%H:%M:00Z', '2026-05-04', '+' || (n / 60 * 16 + 7 + n % 3) || ' hours', '+' || (n * 37 % 60) || ' minutes') AS t,
       round(lat + 0.00003 * ((n * 7919) % 401 - 200), 5) AS lat,
       round(lon + 0.00004 * ((n * 5347) % 397 - 198), 5) AS lon
FROM ride JOIN place ON place.i = (n * 13 % 7) % 4
ORDER BY t, rider;
