-- The readings of winter.csv.gz, made up: 120 households, two weeks of hours.
--
--   geosql -csv made.db < examples/data/winter.sql | gzip -9n > examples/data/winter.csv.gz

WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 120 * 24 * 14 - 1)
SELECT 1001 + i % 120 AS meter,
       iif(i % 2, 'flat', 'night') AS tariff,
       strftime('%Y-%m-%dT%H:%M', '2026-01-05', (i / 120) || ' hours') AS t,
       round(0.1 + (i * 7919 % 1000) / 2000.0 + 0.4 * (i / 120 % 24 IN (18, 19, 20, 21) AND i % 2), 3) AS kwh
FROM n;
