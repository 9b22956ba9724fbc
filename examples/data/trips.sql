-- The trips of trips.csv, made up: 300 people, 16 trips each in a month, around three places of Lisbon.
--
--   geosql -csv made.db < examples/data/trips.sql > examples/data/trips.csv

WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4799)
SELECT printf('p%03d', i % 300) AS person,
       strftime('%Y-%m-%dT%H:%M', '2026-03-01', (i * 9) || ' minutes') AS t,
       round(38.70 + 0.03 * (i % 3) + (i * 7919 % 1000 - 500) / 60000.0, 5) AS lat,
       round(-9.20 + 0.05 * (i % 3) + (i * 6007 % 1000 - 500) / 50000.0, 5) AS lon
FROM n;
