-- A cafe near me: a phone asks a provider for what is near a reported place, with a
-- radius that nearly always holds what is near the true one, and throws the rest away.
--
--   geosql cafe.db < examples/sql/location_search_radius.sql

SELECT geo_domain('town', 47.35, 8.49, 47.40, 8.58, 1);
SELECT budget_limit('phone', 'm', 0.02);

-- The provider's table (made up): a cafe every 100 metres or so.
CREATE TABLE cafe(id INTEGER PRIMARY KEY, lat REAL, lon REAL);
INSERT INTO cafe(lat, lon)
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999)
SELECT 47.355 + 0.04 * ((i * 7919) % 2000) / 2000.0, 8.50 + 0.07 * ((i * 104729) % 1999) / 1999.0 FROM n;

-- A factor of 4 within 200 m (and of 2 within 100 m); 300 m around the true place are of interest. The radius
-- that is asked for is a constant: 95 times in 100 it holds them all.
CREATE TABLE setting AS
  SELECT e AS epsilon, 300.0 AS interest_m, lbs_radius(e, 0.95, 300, 'town') AS radius_m
  FROM (SELECT geoind_epsilon(1.386, 200) AS e);
SELECT epsilon, round(radius_m) AS radius_m, round(radius_m * radius_m / (interest_m * interest_m), 1) AS area_times,
  round(geoind_factor(epsilon, 100), 2) AS factor_100_m FROM setting;

-- One report, kept: asking again with the same one costs nothing and tells nothing new.
CREATE TABLE report AS
  SELECT g.lat, g.lon, g.wkt FROM setting, geoind_laplace('phone', 47.3769, 8.5417, setting.epsilon, 'town') g;

-- The provider answers all that is within the radius of the report (a degree of
-- latitude is 111.2 km, one of longitude here 75.4 km) ...
CREATE TABLE answer AS
  SELECT c.* FROM cafe c, report r, setting s
  WHERE 111200 * 111200 * (c.lat - r.lat) * (c.lat - r.lat) + 75400 * 75400 * (c.lon - r.lon) * (c.lon - r.lon) < s.radius_m * s.radius_m;

-- ... and the phone, which knows where it is, keeps what is near.
SELECT count(*) AS fetched, count(*) FILTER (WHERE
  111200 * 111200 * (lat - 47.3769) * (lat - 47.3769) + 75400 * 75400 * (lon - 8.5417) * (lon - 8.5417) < 300 * 300) AS of_interest
FROM answer;

SELECT account, spent, remaining FROM ledger_balance WHERE unit = 'm';
