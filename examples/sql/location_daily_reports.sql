-- A year of a walker: somebody shares where they are, once a day for a year, and
-- whoever sees all 365 reports shall hardly tell the house they live in from the
-- one next door, 20 m away. Concentrated noise makes such a series last.
--
--   geosql year.db < examples/sql/location_daily_reports.sql

SELECT geo_domain('paris', 48.80, 2.22, 48.91, 2.48, 1);

-- The promise for the year: epsilon 1 and delta 1e-6 at 20 m and a cell's diagonal.
-- All are Gaussian and of one domain, the step of which is 1 m. Each report gets a 365th of what keeps it, rounded down to what can be charged.
CREATE TABLE plan AS
  SELECT total, round(total / 365 - 0.0000000000005, 12) AS rho, round(1 / 21.4143 / 365 - 0.0000000000005, 12) AS epsilon
  FROM (SELECT geoind_rho(1, 0.000001, 21.4143, 'gauss', 1) AS total);
SELECT budget_limit('ana', 'm2', total), budget_limit('bo', 'm', 1 / 21.4143) FROM plan;

-- The same promise by epsilon alone, which adds up report by report, takes far
-- more noise. In one report of two the location is within:
SELECT round(geoind_radius(rho, 0.5, 'paris', 'gauss')) AS gauss_m,
       round(geoind_radius(epsilon, 0.5, 'paris')) AS laplace_m,
       round(geoind_radius(epsilon, 0.5, 'paris') / geoind_radius(rho, 0.5, 'paris', 'gauss'), 1) AS times_less
FROM plan;

-- True positions: around home, and on a fifth of the days elsewhere.
CREATE TABLE fix(day INTEGER PRIMARY KEY, lat REAL, lon REAL);
INSERT INTO fix WITH RECURSIVE n(day) AS (SELECT 1 UNION ALL SELECT day + 1 FROM n WHERE day < 365)
SELECT day, 48.8540 + 0.0002 * (day % 7) + 0.02 * (day % 5 = 0), 2.3331 + 0.0003 * (day % 6) - 0.04 * (day % 5 = 0) FROM n;

-- A year of reports, for ana by rho and for bo, who walks along, by epsilon.
CREATE TABLE shared AS
  SELECT f.day, g.lat AS gauss_lat, g.lon AS gauss_lon, l.lat AS laplace_lat, l.lon AS laplace_lon
  FROM plan AS p, fix AS f, geoind_gauss('ana', f.lat, f.lon, p.rho, 'paris') AS g,
       geoind_laplace('bo', f.lat, f.lon, p.epsilon, 'paris') AS l;

-- For the owner: how far north or south of the truth they are on average, in metres.
SELECT count(*) AS days, round(avg(abs(gauss_lat - lat)) * 111200) AS gauss_m, round(avg(abs(laplace_lat - lat)) * 111200) AS laplace_m,
       round(avg(abs(laplace_lat - lat)) / avg(abs(gauss_lat - lat)), 1) AS times_less
FROM shared JOIN fix USING (day);

-- What was spent, in two units that never mix, and what ana's sum means at 20 m, at 100 m
-- and at 1 km, each with the diagonal: delta, for an epsilon of 1, 5 and 50. If ana had released something in m as well, e of
-- it would count as e*e/2, and without 'gauss' the bound is that of such a mixture.
SELECT account, unit, round(spent, 9) AS spent FROM ledger_balance WHERE spent > 0 ORDER BY account;
SELECT geoind_delta(spent, 21.4143, 1, 'gauss', 1) <= 0.000001 AS kept,
       round(geoind_delta(spent, 101.4143, 5, 'gauss', 1), 6) AS at_100_m, round(geoind_delta(spent, 1001.4143, 50, 'gauss', 1), 3) AS at_1_km
FROM ledger_balance WHERE account = 'ana';
