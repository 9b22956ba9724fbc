-- Couriers on a grid: a company publishes how its couriers are spread from north to south,
-- with noise that is independent on the two axes.
--
--   geosql couriers.db < examples/sql/location_independent_axes.sql

-- The company's own table: true positions (made up).
CREATE TABLE courier(name TEXT, lat REAL, lon REAL);
INSERT INTO courier
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 399)
SELECT 'courier ' || i, 40.70 + 0.10 * ((i * 7919) % 400) / 400.0, -74.02 + 0.08 * ((i * 104729) % 397) / 397.0 FROM n;

SELECT geo_domain('manhattan', 40.68, -74.05, 40.90, -73.88, 1);
SELECT budget_limit('*', 'm', 0.01);

-- Both mechanisms keep the same promise at the same epsilon. The noise of the planar
-- Laplace mechanism is the smaller one; under the L1 norm the axes are independent.
SELECT round(geoind_radius(0.01, 0.5, 'manhattan')) AS half_within_m,
       round(geoind_radius(0.01, 0.5, 'manhattan', 'laplace_l1')) AS half_within_m_l1;

-- One release for each courier, kept.
CREATE TABLE release AS
  SELECT g.lat, g.lon FROM courier c, geoind_laplace_l1(c.name, c.lat, c.lon, 0.01, 'manhattan') g;

-- How many are where, by hundredths of a degree of latitude.
SELECT round(lat - 0.005, 2) AS south, count(*) AS couriers FROM release
WHERE lat BETWEEN 40.70 AND 40.80 GROUP BY 1 ORDER BY 1;

-- Everybody has paid once.
SELECT count(*) AS accounts, min(spent), max(spent) FROM ledger_balance WHERE spent > 0;
