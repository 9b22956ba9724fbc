-- The readings of meters.csv, made up: 20 households, two days of half hours.
--
--   geosql -csv made.db < examples/data/meters.sql > examples/data/meters.csv

WITH RECURSIVE
  meter(m) AS (SELECT 1 UNION ALL SELECT m + 1 FROM meter WHERE m < 20),
  slot(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM slot WHERE i < 95)
SELECT 100 + m AS meter, CASE WHEN m % 3 = 0 THEN 'night' ELSE 'flat' END AS tariff,
       strftime('%Y-%m-%dT%H:%M', '2026-01-12', '+' || (30 * i) || ' minutes') AS t,
       round(0.08 + 0.01 * m
         + CASE WHEN i % 48 BETWEEN 34 AND 43 THEN 0.45 WHEN i % 48 BETWEEN 13 AND 17 THEN 0.2 ELSE 0 END
         + CASE WHEN m % 3 = 0 AND i % 48 BETWEEN 2 AND 9 THEN 0.6 ELSE 0 END
         + 0.001 * ((i * 7919 + m * 104729) % 199), 3) AS kwh
FROM meter, slot
ORDER BY t, meter;
